// Which rows may be among the k nearest of a query, from products of int8 codes and the Cauchy-Schwarz inequality.
//
//   |<q, z> - s_q s_z <i_q, i_z>|  <=  |s_q i_q| |e_z| + |e_q| |z|
//
// so that the screened value, squared distance or minus the product, lies between a lower and an upper bound. The
// k least upper bounds limit what the k-th can be; rows whose lower bound is within the limit are kept.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "opening.hpp"
#include "tiles.hpp"

namespace kernels {

struct Candidate {
    std::int64_t row;
    double lower, upper;
};

// What is known of one query; see `int8_codes.CodedQueries`.
struct Question {
    const std::uint8_t* codes;
    double scale, size, least_square, most_square;
    double ratio;  // at least |e_q| / |s_q i_q|
};

// A row whose product with a query reached its threshold.
struct Reaching {
    std::uint32_t row;
    std::int32_t product;
};

struct ScreenOptions {
    std::size_t k;
    bool euclidean;
    double growth;  // as in packing
    std::size_t room;
};

class QueryScreen {
  public:
    QueryScreen(const Question& question, const ScreenOptions& options) : question_(question), options_(options) {
        candidates_.reserve(enough_ + spare);
        uppers_.reserve(many_ + spare);
    }

    bool full() const { return full_; }
    const std::uint8_t* codes() const { return question_.codes; }
    const std::vector<Candidate>& candidates() const { return candidates_; }

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

    bool seen_none() const { return uppers_.empty() && kth_ == std::numeric_limits<double>::infinity(); }

    // A limit from rows that are still to be seen, before any is: places in an opening of which this is query `q`.
    void open(const Opening& opening, std::size_t q, const std::vector<std::uint32_t>& places) {
        for (const std::uint32_t row : places) {
            const std::int32_t product = opening.known[row / panel_rows].products[q][row % panel_rows];
            uppers_.push_back(bounds(opening.rows, row, product, 0).upper);
        }
        order_uppers();
        // The same rows come again, and those within the limit are counted then.
        uppers_.clear();
    }

    // Rows that may belong, the first of all called `number`. Which of them do cannot be foreseen, so nothing branches.
    void see(const PackedRows& rows, const Reaching* some, std::size_t count, std::int64_t number) {
        if (full_) return;
        std::size_t found = candidates_.size(), least = uppers_.size();
        candidates_.resize(found + count);
        uppers_.resize(least + count);
        for (std::size_t i = 0; i < count; ++i) {
            const Candidate one = bounds(rows, some[i].row, some[i].product, number + some[i].row);
            candidates_[found] = one;
            found += one.lower <= limit_;
            uppers_[least] = one.upper;
            least += one.upper <= kth_;
        }
        candidates_.resize(found);
        uppers_.resize(least);
        if (least >= many_) part_uppers();
        if (found >= enough_) make_room();
    }

    // The k with the least upper bounds come first; they and the others are each in the order of rows.
    void finish() {
        order_uppers();
        drop();
        if (candidates_.size() <= options_.k) return;
        const auto nearer = [](const Candidate& one, const Candidate& other) {
            return one.upper != other.upper ? one.upper < other.upper : one.row < other.row;
        };
        Candidate kth{std::numeric_limits<std::int64_t>::max(), 0, kth_};
        std::vector<Candidate> parted = candidates_;
        const auto within = [&](const Candidate& one) { return !nearer(kth, one); };
        // Not so where some tie with the k-th, or a limit from elsewhere has dropped some of the k.
        if (std::size_t(std::count_if(parted.begin(), parted.end(), within)) != options_.k) {
            const auto last = parted.begin() + std::ptrdiff_t(options_.k - 1);
            std::nth_element(parted.begin(), last, parted.end(), nearer);
            kth = *last;
        }
        std::size_t near = 0, far = options_.k;
        for (const Candidate& one : candidates_) {
            const bool first = within(one);
            parted[first ? near : far] = one;
            near += first;
            far += !first;
        }
        candidates_.swap(parted);
    }

  private:
    Candidate bounds(const PackedRows& rows, std::size_t row, std::int32_t product, std::int64_t number) const {
        const double half = rows.half_square[row], b = rows.inverse[row];
        const double reach = rows.error[row] + question_.ratio * rows.length[row];
        const double dot = question_.scale * product, error = question_.size * reach;
        if (!options_.euclidean) return {number, (-dot - error) / b, (-dot + error) / b};
        return {number, question_.least_square + 2 * ((half - dot - error) / b),
                question_.most_square + 2 * ((half * (1 + 3 * options_.growth) - dot + error) / b)};
    }

    // The k least upper bounds and some more. Halving the range of values and counting finds a limit for them with less
    // than it costs to order them.
    void part_uppers() {
        if (uppers_.size() < options_.k) return;
        constexpr int halvings = 12;
        const auto [least, most] = std::minmax_element(uppers_.begin(), uppers_.end());
        double below = *least, above = *most;
        for (int i = 0; i < halvings; ++i) {
            const double middle = below + (above - below) / 2;
            std::int64_t count = 0;
            for (const double upper : uppers_) count += upper <= middle;
            const bool enough = count >= static_cast<std::int64_t>(options_.k);
            (enough ? above : below) = middle;
            if (enough && count <= static_cast<std::int64_t>(options_.k + options_.k / 16)) break;
        }
        lower_kth(above);
        keep_within(uppers_, [this](double upper) { return upper <= kth_; });
        many_ = uppers_.size() + std::max<std::size_t>(8, options_.k / 4);
    }

    // The same to the last bit.
    void order_uppers() {
        if (uppers_.size() < options_.k) return;
        const auto last = uppers_.begin() + std::ptrdiff_t(options_.k - 1);
        std::nth_element(uppers_.begin(), last, uppers_.end());
        lower_kth(*last);
    }

    void lower_kth(double kth) {
        kth_ = std::min(kth_, kth);
        limit_ = std::min(limit_, kth_ + slack_);
    }

    template <class T, class Wanted>
    static void keep_within(std::vector<T>& all, Wanted wanted) {
        std::size_t count = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const T one = all[i];
            all[count] = one;
            count += wanted(one);
        }
        all.resize(count);
    }

    void drop() {
        keep_within(candidates_, [this](const Candidate& one) { return one.lower <= limit_; });
    }

    // Often enough that memory stays small. More than half of the room still taken: another way is better for this query.
    void make_room() {
        part_uppers();
        drop();
        full_ = candidates_.size() > options_.room / 2;
        if (full_) candidates_ = {};
        enough_ = std::min(options_.room, std::max(enough_, 2 * candidates_.size()));
    }

    static constexpr std::size_t spare = 128;

    Question question_;
    const ScreenOptions& options_;
    std::vector<Candidate> candidates_;
    std::vector<double> uppers_;
    double kth_ = std::numeric_limits<double>::infinity();
    double limit_ = std::numeric_limits<double>::infinity(), slack_ = 0;
    std::size_t many_ = options_.k + std::max<std::size_t>(8, options_.k / 4);
    std::size_t enough_ = std::min(options_.room, 4 * options_.k + 64);
    bool full_ = false;
};

}  // namespace kernels
