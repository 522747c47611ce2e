// Which rows may be among the k nearest of a query: the screened value of each lies between a lower and an upper bound,
// the k least upper bounds limit what the k-th can be, and rows whose lower bound is within the limit are kept.
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
    void see(const PackedRows& rows, const Reaching& some, std::int64_t number) {
        if (full_) return;
        if (candidates_.size() == 0) candidates_.room_for(enough_ + most_reaching);
        const BoundedRows more = candidates_.room_for(some.count);
        bounds_maker(options_.processor)(rows, question_, options_, some, more.lower, more.upper);
        for (std::size_t i = 0; i < some.count; ++i) more.rows[i] = number + some.rows[i];
        candidates_.add(some.count);
        float* const close = uppers_.room_for(some.count);
        std::copy(more.upper, more.upper + some.count, close);
        uppers_.add(compacters(options_.processor).numbers(close, some.count, static_cast<float>(kth_)));
        if (uppers_.size() >= many_) part_uppers();
        if (candidates_.size() + most_reaching / 4 >= enough_) make_room();
    }

    // Of the candidates the rows of the k with the least upper bounds, ties by row, are put behind others; the rest stays.
    // Both are in the order of rows.
    void take_likely(std::vector<std::int64_t>& likely) {
        order_uppers();
        drop();
        const Last last = last_likely();
        candidates_.part(likely, [&last](std::int64_t row, float upper) {
            return upper < last.upper || (upper == last.upper && row <= last.row);
        });
    }

    const Candidates& candidates() const { return candidates_; }

  private:
    struct Last {
        float upper;
        std::int64_t row;
    };

    // The last of the likely ones.
    Last last_likely() const {
        constexpr std::int64_t last_row = std::numeric_limits<std::int64_t>::max();
        const std::size_t size = candidates_.size();
        if (size <= options_.k) return {std::numeric_limits<float>::infinity(), last_row};
        const float kth = static_cast<float>(kth_);
        const auto within = [kth](float upper) { return upper <= kth; };
        // Not so where some tie with the k-th, or a limit from elsewhere has dropped some of the k.
        const auto count = std::count_if(candidates_.upper(), candidates_.upper() + size, within);
        if (std::size_t(count) == options_.k) return {kth, last_row};
        std::vector<Last> all(size);
        for (std::size_t i = 0; i < size; ++i) all[i] = {candidates_.upper()[i], candidates_.rows()[i]};
        const auto last = all.begin() + std::ptrdiff_t(options_.k - 1);
        std::nth_element(all.begin(), last, all.end(), [](const Last& one, const Last& other) {
            return one.upper != other.upper ? one.upper < other.upper : one.row < other.row;
        });
        return *last;
    }

    // The k least upper bounds and some more.
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
    Growing<float> uppers_;
    double kth_ = std::numeric_limits<double>::infinity();
    double limit_ = std::numeric_limits<double>::infinity(), slack_ = 0;
    std::size_t many_ = options_.k + std::max<std::size_t>(8, options_.k / 2);
    std::size_t enough_ = std::min(options_.room, 4 * options_.k + 64);
    bool full_ = false;
};

}  // namespace kernels
