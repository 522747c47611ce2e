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
#include "compact.hpp"
#include "growing.hpp"
#include "halving.hpp"
#include "tiles.hpp"

namespace kernels {

struct Candidate {
    std::int64_t row;
    float lower, upper;
};

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
        Bounds bounds;
        for (const Reaching& some : least) {
            bounds_maker(options_.processor)(rows, question_, options_, some, bounds);
            std::copy(bounds.upper, bounds.upper + some.count, uppers_.room_for(some.count));
            uppers_.add(some.count);
        }
        part_uppers();
        uppers_.keep(0);
    }

    // What rows that come soon will be put beside or behind: it has not been looked at since other queries were.
    void expect() const {
        constexpr std::size_t line = 64, some = 12 * line;
        const char* const behind = reinterpret_cast<const char*>(candidates_.end());
        for (std::size_t at = 0; at < some; at += line) __builtin_prefetch(behind + at, 1);
        const char* const beside = reinterpret_cast<const char*>(uppers_.begin());
        for (std::size_t at = 0; at < uppers_.size() * sizeof(float); at += line) __builtin_prefetch(beside + at, 1);
    }

    // Rows that may belong, the first of all called `number`.
    void see(const PackedRows& rows, const Reaching& some, std::int64_t number) {
        if (full_) return;
        Bounds bounds;
        bounds_maker(options_.processor)(rows, question_, options_, some, bounds);
        if (candidates_.size() == 0) candidates_.room_for(enough_ + most_reaching);
        Candidate* const more = candidates_.room_for(some.count);
        for (std::size_t i = 0; i < some.count; ++i) {
            more[i] = {number + some.rows[i], bounds.lower[i], bounds.upper[i]};
        }
        candidates_.add(some.count);
        float* const close = uppers_.room_for(some.count);
        std::copy(bounds.upper, bounds.upper + some.count, close);
        uppers_.add(compacter(options_.processor)(close, some.count, static_cast<float>(kth_)));
        if (uppers_.size() >= many_) part_uppers();
        if (candidates_.size() + most_reaching / 4 >= enough_) make_room();
    }

    // Of the candidates the rows of the k with the least upper bounds, ties by row, are put behind others; the rest stays.
    // Both are in the order of rows.
    void take_likely(std::vector<std::int64_t>& likely) {
        order_uppers();
        drop();
        const Candidate last = kth_candidate();
        std::size_t rest = 0, count = likely.size();
        likely.resize(count + candidates_.size());
        for (const Candidate one : candidates_) {
            const bool other = nearer(last, one);
            candidates_.begin()[rest] = one;
            likely[count] = one.row;
            rest += other;
            count += !other;
        }
        candidates_.keep(rest);
        likely.resize(count);
    }

    const Growing<Candidate>& candidates() const { return candidates_; }

  private:
    static bool nearer(const Candidate& one, const Candidate& other) {
        return one.upper != other.upper ? one.upper < other.upper : one.row < other.row;
    }

    // The last of the likely ones.
    Candidate kth_candidate() const {
        constexpr std::int64_t last_row = std::numeric_limits<std::int64_t>::max();
        if (candidates_.size() <= options_.k) return {last_row, 0, std::numeric_limits<float>::infinity()};
        const Candidate kth{last_row, 0, static_cast<float>(kth_)};
        const auto within = [&kth](const Candidate& one) { return one.upper <= kth.upper; };
        // Not so where some tie with the k-th, or a limit from elsewhere has dropped some of the k.
        if (std::size_t(std::count_if(candidates_.begin(), candidates_.end(), within)) == options_.k) return kth;
        std::vector<Candidate> all(candidates_.begin(), candidates_.end());
        const auto last = all.begin() + std::ptrdiff_t(options_.k - 1);
        std::nth_element(all.begin(), last, all.end(), nearer);
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
        uppers_.keep(compacter(options_.processor)(uppers_.begin(), uppers_.size(), static_cast<float>(kth_)));
    }

    void lower_kth(double kth) {
        kth_ = std::min(kth_, kth);
        limit_ = std::min(limit_, kth_ + slack_);
    }

    // Which candidates stay cannot be foreseen, so nothing branches.
    void drop() {
        Candidate* to = candidates_.begin();
        for (const Candidate one : candidates_) {
            *to = one;
            to += double(one.lower) <= limit_;
        }
        candidates_.keep(static_cast<std::size_t>(to - candidates_.begin()));
    }

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
    Growing<Candidate> candidates_;
    Growing<float> uppers_;
    double kth_ = std::numeric_limits<double>::infinity();
    double limit_ = std::numeric_limits<double>::infinity(), slack_ = 0;
    std::size_t many_ = options_.k + std::max<std::size_t>(8, options_.k / 2);
    std::size_t enough_ = std::min(options_.room, 4 * options_.k + 64);
    bool full_ = false;
};

}  // namespace kernels
