// Which rows may be among the k nearest of a query: the screened value of each is not below a bound and supposed not to be
// above another, the k least of the latter limit what the k-th is supposed to be, and rows whose lower bound is within the
// limit are kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bounds.hpp"
#include "candidates.hpp"
#include "compact.hpp"
#include "growing.hpp"
#include "halving.hpp"
#include "tiles.hpp"

namespace kernels {

class QueryScreen {
  public:
    // `spare` is room beside that of each query, for all queries of a thread: who takes of it, lowers it.
    QueryScreen(const Question& question, const ScreenOptions& options, std::size_t& spare)
        : question_(question), options_(options), spare_(&spare) {}

    bool full() const { return full_; }
    const Question& question() const { return question_; }

    // What counts for the rows that come: the value above which none is wanted, and how far exact and true values may be
    // apart. Neither falls while rows come, so that what was left out before would be left out now.
    void allow(double limit, double slack) {
        slack_ = slack;
        allowed_ = limit;
        limit_ = std::min(limit, kth_ + slack);
    }

    void set_thresholds(Tile& tile, std::size_t q) const {
        constexpr double lowered = 0x1p-20;
        const double parts = options_.euclidean ? 2 : 1;
        const double least = options_.euclidean ? question_.least_square : 0;
        const double free = -(limit_ - least) / (parts * question_.scale);
        tile.alpha[q] = options_.euclidean ? static_cast<float>((1 - lowered) / question_.scale) : 0;
        tile.beta[q] = full_ ? std::numeric_limits<float>::infinity() : static_cast<float>(free - lowered * std::fabs(free));
        const double gamma = -(1 + lowered) * question_.size / question_.scale;
        tile.gamma[q] = static_cast<float>(gamma);
        tile.delta[q] = static_cast<float>(gamma * question_.ratio);
    }

    bool seen_none() const { return uppers_.size() == 0 && kth_ == std::numeric_limits<double>::infinity(); }

    // A limit from rows that are seen, with all others, only later.
    void open(const PackedRows& rows, const std::vector<Reaching>& least) {
        float lower[most_reaching];
        for (const Reaching& some : least) {
            bounds_maker(options_.processor)(rows, question_, options_, some, lower, uppers_.room_for(some.count));
            uppers_.add(some.count);
        }
        part_uppers();
        uppers_.keep(0);
    }

    // What rows that come soon will be put beside or behind: it has not been looked at since other queries were.
    void expect() const {
        constexpr std::size_t line = 64;
        candidates_.expect();
        const char* const beside = reinterpret_cast<const char*>(uppers_.begin());
        for (std::size_t at = 0; at < uppers_.size() * sizeof(float); at += line) __builtin_prefetch(beside + at, 1);
    }

    // Rows that may belong, the first of all called `number`.
    void see(const PackedRows& rows, const Reaching& some, std::uint32_t number) {
        if (full_) return;
        if (candidates_.size() == 0) candidates_.room_for(enough_ + most_reaching);
        const BoundedRows more = candidates_.room_for(some.count);
        float* const close = uppers_.room_for(some.count);
        bounds_maker(options_.processor)(rows, question_, options_, some, more.lower, close);
        for (std::size_t i = 0; i < some.count; ++i) more.rows[i] = number + some.rows[i];
        candidates_.add(some.count);
        uppers_.add(compacters(options_.processor).numbers(close, some.count, static_cast<float>(kth_)));
        if (uppers_.size() >= many_) part_uppers();
        if (candidates_.size() + most_reaching / 4 >= enough_) make_room();
    }

    // How many rows are left, now that all have been seen.
    std::size_t left() {
        order_uppers();
        drop();
        return candidates_.size();
    }

    const Candidates& candidates() const { return candidates_; }

    // What the k-th is supposed not to be above: the least that has been relied on. Infinite where what was allowed left out
    // more.
    double supposed() const { return supposed_ < allowed_ ? supposed_ : std::numeric_limits<double>::infinity(); }

  private:
    // The k least of what is supposed and some more.
    void part_uppers() {
        if (uppers_.size() < options_.k) return;
        keep_least(options_.k / 16);
        many_ = uppers_.size() + std::max<std::size_t>(8, options_.k / 2);
    }

    // The same to the last bit.
    void order_uppers() {
        if (uppers_.size() < options_.k) return;
        keep_least(0);
        float* const last = uppers_.begin() + (options_.k - 1);
        if (uppers_.size() > options_.k) std::nth_element(uppers_.begin(), last, uppers_.end());
        lower_kth(*std::max_element(uppers_.begin(), last + 1));
    }

    void keep_least(std::size_t more) {
        lower_kth(value_finder(options_.processor)(uppers_.begin(), uppers_.size(), options_.k, more));
        uppers_.keep(compacters(options_.processor).numbers(uppers_.begin(), uppers_.size(), static_cast<float>(kth_)));
    }

    void lower_kth(double kth) {
        kth_ = std::min(kth_, kth);
        limit_ = std::min(limit_, kth_ + slack_);
        supposed_ = std::min(supposed_, kth_ + slack_);
    }

    void drop() { candidates_.drop(limit_, options_.processor); }

    // Often enough that memory stays small. More than half of the room still taken, and no other to be had: another way is
    // better for this query.
    void make_room() {
        part_uppers();
        drop();
        if (candidates_.size() > room_ / 2 && room_ <= *spare_) {
            *spare_ -= room_;
            room_ *= 2;
        }
        full_ = candidates_.size() > room_ / 2;
        if (full_) candidates_.forget();
        enough_ = std::min(room_, std::max(enough_, 2 * candidates_.size()));
    }

    Question question_;
    const ScreenOptions& options_;
    std::size_t* spare_;
    std::size_t room_ = options_.room;
    Candidates candidates_;
    Growing<float> uppers_;  // what is supposed
    double kth_ = std::numeric_limits<double>::infinity();
    double limit_ = std::numeric_limits<double>::infinity(), slack_ = 0;
    double supposed_ = std::numeric_limits<double>::infinity(), allowed_ = std::numeric_limits<double>::infinity();
    std::size_t many_ = options_.k + std::max<std::size_t>(8, options_.k / 2);
    std::size_t enough_ = std::min(options_.room, 4 * options_.k + 64);
    bool full_ = false;
};

}  // namespace kernels
