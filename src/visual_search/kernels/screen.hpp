// All rows against all queries: tiles of products, and what becomes of the rows that reach their thresholds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#if defined(__unix__)
#include <unistd.h>
#endif

#include "opening.hpp"
#include "query_screen.hpp"
#include "reaching.hpp"
#include "tiles.hpp"

namespace kernels {

// Up to eight queries, and the rows that reached their thresholds and have not been looked at more closely.
class QueryTile {
  public:
    QueryTile(QueryScreen* screens, std::size_t count, const PackedRows& rows, std::uint32_t number, Processor processor)
        : screens_(screens), count_(count), rows_(rows), number_(number), gather_(gatherer(processor)) {
        tile_.half = screens_[0].question().half;
        for (std::size_t i = 0; i < tile_queries; ++i) {
            const QueryScreen& screen = screens_[std::min(i, count_ - 1)];
            tile_.codes[i] = screen.question().codes;
            screen.set_thresholds(tile_, i);
            if (i >= count_) tile_.beta[i] = std::numeric_limits<float>::infinity();
        }
    }

    const Tile& tile() const { return tile_; }

    // Rows with the least upper bounds give each query a first limit.
    void open(const std::vector<Reaching>* least) {
        for (std::size_t i = 0; i < count_; ++i) {
            screens_[i].open(rows_, least[i]);
            screens_[i].set_thresholds(tile_, i);
        }
    }

    // The rows of a panel that reached the thresholds.
    void keep(std::size_t panel, const Reached& reached) {
        gather_(reached, panel, kept_);
        for (std::size_t i = 0; i < tile_queries; ++i) {
            if (kept_[i].filled()) see(i);
        }
    }

    void expect() const {
        for (std::size_t i = 0; i < count_; ++i) screens_[i].expect();
    }

    void see_kept() {
        for (std::size_t i = 0; i < tile_queries; ++i) see(i);
    }

  private:
    void see(std::size_t i) {
        Reaching& mine = kept_[i];
        if (i >= count_) mine.count = 0;
        // What fills up the last panel is no row.
        while (mine.count > 0 && mine.rows[mine.count - 1] >= rows_.count) --mine.count;
        if (mine.count == 0) return;
        screens_[i].see(rows_, mine, number_);
        screens_[i].set_thresholds(tile_, i);
        mine.count = 0;
    }

    QueryScreen* screens_;
    std::size_t count_;
    const PackedRows& rows_;
    std::uint32_t number_;
    Tile tile_;
    Gatherer gather_;
    Reaching kept_[tile_queries];
};

// Panels whose products are kept until they have given a first limit: some of the second cache; none where that is too
// few rows for one.
inline std::size_t opening_panels(const PackedRows& rows, const std::vector<QueryScreen>& screens, std::size_t k) {
    constexpr std::size_t least_rows = 1 << 10, most_rows = 1 << 12, most_bytes = 1 << 20;
    const std::size_t wanted = std::clamp(40 * k, least_rows, most_rows);
    const std::size_t some = std::min({rows.count, wanted, most_bytes / (rows.groups * 4)}) / panel_rows;
    const bool new_to_all =
        std::all_of(screens.begin(), screens.end(), [](const QueryScreen& screen) { return screen.seen_none(); });
    return new_to_all && some * panel_rows >= 8 * k && some >= 8 ? some : 0;
}

// A limit for each query of a tile from rows whose products are known.
inline void limit_by_first(const PackedRows& rows, const std::vector<float>& units, QueryTile& queries,
                           std::vector<Reached>& known, const ScreenOptions& options) {
    const auto supposed = static_cast<float>(options.supposed);
    std::vector<float> values;
    float most[tile_queries];
    std::vector<Reaching> least[tile_queries];
    for (std::size_t i = 0; i < tile_queries; ++i) {
        most[i] = least_finder(options.processor)({rows, units, queries.tile(), known, supposed}, i, options.k, values);
    }
    const Tile tile = least_tile(queries.tile(), most, supposed);
    for (std::size_t panel = 0; panel < known.size(); ++panel) {
        if (!tile_kernels(options.processor).marks(rows, panel, tile, known[panel])) continue;
        each_reached(known[panel], [&](std::size_t i, std::size_t r) {
            if (least[i].empty() || least[i].back().count == most_reaching) least[i].emplace_back();
            least[i].back().add(static_cast<std::uint32_t>(panel * panel_rows + r), known[panel].products[i][r]);
        });
    }
    queries.open(least);
}

// The first rows, for queries that have seen none: what limit they give, and then which of them are within it.
inline void open_screens(const PackedRows& rows, std::uint32_t first, std::vector<QueryScreen>& screens,
                         const ScreenOptions& options, std::size_t panels) {
    const TileKernels kernels = tile_kernels(options.processor);
    std::vector<Reached> known(panels);
    std::vector<float> units(panels * panel_rows);
    for (std::size_t row = 0; row < units.size(); ++row) units[row] = 1 / rows.inverse[row];
    for (std::size_t q = 0; q < screens.size(); q += tile_queries) {
        QueryTile queries(&screens[q], std::min(tile_queries, screens.size() - q), rows, first, options.processor);
        Tile all = queries.tile();
        std::fill(all.beta, all.beta + tile_queries, -std::numeric_limits<float>::infinity());
        for (std::size_t panel = 0; panel < panels; ++panel) kernels.products(rows, panel, all, known[panel]);
        limit_by_first(rows, units, queries, known, options);
        for (std::size_t panel = 0; panel < panels; ++panel) {
            if (kernels.marks(rows, panel, queries.tile(), known[panel])) queries.keep(panel, known[panel]);
        }
        queries.see_kept();
    }
}

// Codes that half of the second cache holds, beside the queries that pass by.
inline std::size_t portion_bytes() {
    constexpr long least = 1 << 17, usual = 1 << 18, most = 1 << 20;
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::size_t(cache > 0 ? std::clamp(cache / 2, least, most) : usual);
#else
    return std::size_t(usual);
#endif
}

// All rows, the first of them called `first`, against the questions. Rows are taken in portions that stay in the second
// cache while every query sees them.
inline void screen_rows(const PackedRows& rows, std::uint32_t first, std::vector<QueryScreen>& screens,
                        const ScreenOptions& options) {
    const TileKernels kernels = tile_kernels(options.processor);
    const std::size_t panels = (rows.count + panel_rows - 1) / panel_rows;
    const std::size_t portion = std::max<std::size_t>(1, portion_bytes() / (rows.groups * 4 * panel_rows));
    const std::size_t opened = opening_panels(rows, screens, options.k);
    if (opened > 0) open_screens(rows, first, screens, options, opened);
    Reached reached;
    for (std::size_t begin = opened; begin < panels; begin += portion) {
        const std::size_t end = std::min(begin + portion, panels);
        for (std::size_t q = 0; q < screens.size(); q += tile_queries) {
            QueryTile queries(&screens[q], std::min(tile_queries, screens.size() - q), rows, first, options.processor);
            queries.expect();
            for (std::size_t panel = begin; panel < end; ++panel) {
                if (kernels.products(rows, panel, queries.tile(), reached)) queries.keep(panel, reached);
            }
            queries.see_kept();
        }
    }
}

}  // namespace kernels
