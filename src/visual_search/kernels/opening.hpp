// A first limit for queries that have seen no row: from the products of all of the first rows, without an order of them.
//
// About k rows with the least upper bounds are found by halving a range of values and counting; float32 is enough to
// choose rows, since the limit is then made of their own bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "pack.hpp"
#include "processors.hpp"
#include "tiles.hpp"

namespace kernels {

// Upper bounds of a panel's rows for query `q` of a tile, but for rounding and a constant; in units of the query's scale.
VISUAL_SEARCH_INLINE void rough_uppers(const PackedRows& rows, std::size_t panel, const Tile& tile, const Reached& reached,
                                       std::size_t q, float* values) {
    for (std::size_t r = 0; r < panel_rows; r += lanes) {
        const std::size_t at = panel * panel_rows + r;
        Floats16 half, inverse, error, length;
        Ints16 product;
        std::memcpy(&half, rows.half_square + at, sizeof half);
        std::memcpy(&inverse, rows.inverse + at, sizeof inverse);
        std::memcpy(&error, rows.error + at, sizeof error);
        std::memcpy(&length, rows.length + at, sizeof length);
        std::memcpy(&product, reached.products[q] + r, sizeof product);
        const Floats16 above =
            (tile.alpha[q] * half - __builtin_convertvector(product, Floats16) - tile.gamma[q] * error - tile.delta[q] * length) /
            inverse;
        std::memcpy(values + r, &above, sizeof above);
    }
}

// How many of some values, whole lanes of them, are not above one.
VISUAL_SEARCH_INLINE std::size_t count_within(const std::vector<float>& values, float most) {
    Ints16 counts = {};
    for (std::size_t i = 0; i < values.size(); i += lanes) {
        Floats16 some;
        std::memcpy(&some, values.data() + i, sizeof some);
        counts -= some <= most;
    }
    std::int32_t lane[lanes];
    std::memcpy(lane, &counts, sizeof lane);
    return static_cast<std::size_t>(folded_lanes(lane));
}

// A value that at least k and not many more are not above; infinity where halving does not find one.
VISUAL_SEARCH_INLINE float within_which(const std::vector<float>& values, std::size_t k) {
    constexpr int halvings = 20;
    constexpr float far = 1e30F;
    Floats16 least = {}, most = {};
    std::memcpy(&least, values.data(), sizeof least);
    most = least;
    for (std::size_t i = lanes; i < values.size(); i += lanes) {
        Floats16 some;
        std::memcpy(&some, values.data() + i, sizeof some);
        least = some < least ? some : least;
        most = some > most ? some : most;
    }
    float lane[2 * lanes];
    std::memcpy(lane, &least, sizeof least);
    std::memcpy(lane + lanes, &most, sizeof most);
    const auto [first, last] = std::minmax_element(lane, lane + 2 * lanes);
    float below = *first, above = *last;
    if (!(below > -far && above < far && count_within(values, above) >= k)) return std::numeric_limits<float>::infinity();
    for (int i = 0; i < halvings; ++i) {
        const float middle = below + (above - below) / 2;
        const std::size_t count = count_within(values, middle);
        (count >= k ? above : below) = middle;
        if (count >= k && count <= k + k / 8) break;
    }
    return above;
}

// The first panels of some rows and their products with the queries of a tile.
struct Opening {
    const PackedRows& rows;
    const Tile& tile;
    const std::vector<Reached>& known;
};

// Places of the first rows, whose products with a tile's queries are known, that may have the k least upper bounds.
VISUAL_SEARCH_INLINE void find_least(const Opening& opening, std::size_t q, std::size_t k, std::vector<float>& values,
                                     std::vector<std::uint32_t>& places) {
    const auto& [rows, tile, known] = opening;
    values.resize(known.size() * panel_rows);
    places.resize(values.size());
    for (std::size_t panel = 0; panel < known.size(); ++panel) {
        rough_uppers(rows, panel, tile, known[panel], q, values.data() + panel * panel_rows);
    }
    const float most = within_which(values, k);
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        places[count] = static_cast<std::uint32_t>(i);
        count += values[i] <= most;
    }
    places.resize(count);
}

using LeastFinder = void (*)(const Opening&, std::size_t q, std::size_t k, std::vector<float>& values,
                             std::vector<std::uint32_t>& places);

inline void find_least_anywhere(const Opening& opening, std::size_t q, std::size_t k, std::vector<float>& values,
                                std::vector<std::uint32_t>& places) {
    find_least(opening, q, k, values, places);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline void find_least_by_avx2(const Opening& opening, std::size_t q, std::size_t k,
                                                               std::vector<float>& values,
                                                               std::vector<std::uint32_t>& places) {
    find_least(opening, q, k, values, places);
}

VISUAL_SEARCH_AVX512 inline void find_least_by_avx512(const Opening& opening, std::size_t q, std::size_t k,
                                                      std::vector<float>& values, std::vector<std::uint32_t>& places) {
    find_least(opening, q, k, values, places);
}
#endif

inline LeastFinder least_finder(Processor wanted) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return find_least_by_avx512;
    if (wanted == Processor::avx2) return find_least_by_avx2;
#endif
    (void)wanted;
    return find_least_anywhere;
}

}  // namespace kernels
