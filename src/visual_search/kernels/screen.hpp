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
};

struct ScreenOptions {
    std::size_t k;
    bool euclidean;
    double ratio;   // at least |e_q| / |s_q i_q| of every query
    double growth;  // as in packing
    std::size_t room;
};

class QueryScreen {
  public:
    QueryScreen(const Question& question, const ScreenOptions& options) : question_(question), options_(options) {}

    bool full() const { return full_; }
    const std::uint8_t* codes() const { return question_.codes; }
    const std::vector<Candidate>& candidates() const { return candidates_; }

    // What counts for the rows that come: the value above which none is wanted, and how far exact and true values may be
    // apart. Neither falls while rows come, so that what was left out before would be left out now.
    void allow(double limit, double slack) {
        slack_ = slack;
        limit_ = std::min(limit, kth_ + slack);
    }

    void thresholds(float& alpha, float& beta, float& gamma) const {
        constexpr double lowered = 0x1p-20;
        const double parts = options_.euclidean ? 2 : 1;
        const double least = options_.euclidean ? question_.least_square : 0;
        const double free = -(limit_ - least) / (parts * question_.scale);
        alpha = options_.euclidean ? static_cast<float>((1 - lowered) / question_.scale) : 0;
        beta = full_ ? std::numeric_limits<float>::infinity() : static_cast<float>(free - lowered * std::fabs(free));
        gamma = static_cast<float>(-(1 + lowered) * question_.size / question_.scale);
    }

    // A row that may belong, to be called `number`; true where the limit fell.
    bool see(const PackedRows& rows, std::size_t row, std::int32_t product, std::int64_t number) {
        const double half = rows.half_square[row], b = rows.inverse[row];
        const double reach = rows.error[row] + options_.ratio * rows.length[row];
        const double dot = question_.scale * product, error = question_.size * reach;
        Candidate found{number, (-dot - error) / b, (-dot + error) / b};
        if (options_.euclidean) {
            found.lower = question_.least_square + 2 * ((half - dot - error) / b);
            found.upper = question_.most_square + 2 * ((half * (1 + 3 * options_.growth) - dot + error) / b);
        }
        if (!(found.lower <= limit_)) return false;
        candidates_.push_back(found);
        const bool fell = lower_limit(found.upper);
        if (candidates_.size() >= enough_) make_room();
        return fell || full_;
    }

    void finish() {
        part_uppers();
        drop();
        std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& one, const Candidate& other) {
            return one.upper != other.upper ? one.upper < other.upper : one.row < other.row;
        });
    }

  private:
    // The k least upper bounds and some more, parted now and then, which costs less than to keep them in order.
    bool lower_limit(double upper) {
        if (!(upper < kth_)) return false;
        uppers_.push_back(upper);
        return uppers_.size() >= options_.k + std::max<std::size_t>(8, options_.k / 2) && part_uppers();
    }

    bool part_uppers() {
        if (uppers_.size() < options_.k) return false;
        std::nth_element(uppers_.begin(), uppers_.begin() + std::ptrdiff_t(options_.k - 1), uppers_.end());
        uppers_.resize(options_.k);
        kth_ = uppers_.back();
        const double most = kth_ + slack_;
        if (!(most < limit_)) return false;
        limit_ = most;
        return true;
    }

    void drop() {
        const auto beyond = [this](const Candidate& one) { return !(one.lower <= limit_); };
        candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), beyond), candidates_.end());
    }

    // Often enough that memory stays small. More than half of the room still taken: another way is better for this query.
    void make_room() {
        drop();
        full_ = candidates_.size() > options_.room / 2;
        if (full_) candidates_ = {};
        enough_ = std::min(options_.room, std::max(enough_, 2 * candidates_.size()));
    }

    Question question_;
    const ScreenOptions& options_;
    std::vector<Candidate> candidates_;
    std::vector<double> uppers_;
    double kth_ = std::numeric_limits<double>::infinity();
    double limit_ = std::numeric_limits<double>::infinity(), slack_ = 0;
    std::size_t enough_ = std::min(options_.room, 4 * options_.k + 64);
    bool full_ = false;
};

// All rows, the first of them called `first`, against the questions. Rows are taken in portions that stay in the second cache while every query sees them.
inline void screen_rows(const PackedRows& rows, std::int64_t first, std::vector<QueryScreen>& screens, double ratio,
                        Processor wanted) {
    constexpr std::size_t portion_bytes = 1 << 18;
    const TileKernel kernel = tile_kernel(wanted);
    const std::size_t panels = (rows.count + panel_rows - 1) / panel_rows;
    const std::size_t portion = std::max<std::size_t>(1, portion_bytes / (rows.groups * 4 * panel_rows));
    Reached reached;
    for (std::size_t begin = 0; begin < panels; begin += portion) {
        const std::size_t end = std::min(begin + portion, panels);
        for (std::size_t q = 0; q < screens.size(); q += tile_queries) {
            const std::size_t some = std::min(tile_queries, screens.size() - q);
            Tile tile;
            tile.ratio = static_cast<float>(ratio);
            for (std::size_t i = 0; i < tile_queries; ++i) {
                const QueryScreen& screen = screens[q + std::min(i, some - 1)];
                tile.codes[i] = screen.codes();
                screen.thresholds(tile.alpha[i], tile.beta[i], tile.gamma[i]);
                if (i >= some) tile.beta[i] = std::numeric_limits<float>::infinity();
            }
            for (std::size_t panel = begin; panel < end; ++panel) {
                if (!kernel(rows, panel, tile, reached)) continue;
                for (std::size_t i = 0; i < some; ++i) {
                    QueryScreen& screen = screens[q + i];
                    bool fell = false;
                    for (std::uint32_t left = reached.rows[i]; left != 0 && !screen.full(); left &= left - 1) {
                        const auto r = static_cast<std::size_t>(__builtin_ctz(left));
                        const std::size_t row = panel * panel_rows + r;
                        if (row < rows.count) fell |= screen.see(rows, row, reached.products[i][r], first + std::int64_t(row));
                    }
                    if (fell) screen.thresholds(tile.alpha[i], tile.beta[i], tile.gamma[i]);
                }
            }
        }
    }
}

}  // namespace kernels
