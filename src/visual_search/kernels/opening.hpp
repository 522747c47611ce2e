// A first limit for queries that have seen no row: from the products of all of the first rows, without an order of them.
//
// About k rows with the least upper bounds are found; float32 is enough to choose rows, since the limit is then made of
// their own bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compact.hpp"
#include "halving.hpp"
#include "pack.hpp"
#include "processors.hpp"
#include "registers.hpp"
#include "tiles.hpp"

namespace kernels {

// The first panels of some rows, of each row 1 / b, their products with the queries of a tile, and the share of the reach
// that upper bounds have.
struct Opening {
    const PackedRows& rows;
    const std::vector<float>& units;
    const Tile& tile;
    const std::vector<Reached>& known;
    float supposed;
};

// Upper bounds of a panel's rows for query `q` of a tile, but for rounding and a constant; in units of the query's scale.
template <std::size_t Bytes>
VISUAL_SEARCH_INLINE void rough_uppers(const Opening& opening, std::size_t panel, std::size_t q, float* values) {
    const auto& [rows, units, tile, known, supposed] = opening;
    const float gamma = supposed * tile.gamma[q], delta = supposed * tile.delta[q];
    using Floats = Register<float, Bytes>;
    for (std::size_t r = 0; r < panel_rows; r += Bytes / sizeof(float)) {
        const std::size_t at = panel * panel_rows + r;
        Floats half, unit, error, length;
        Register<std::int32_t, Bytes> product;
        load(half, rows.half_square + at);
        load(unit, units.data() + at);
        load(error, rows.error + at);
        load(length, rows.length + at);
        load(product, known[panel].products[q] + r);
        const Floats above =
            (tile.alpha[q] * half - __builtin_convertvector(product, Floats) - gamma * error - delta * length) *
            unit;
        std::memcpy(values + r, &above, sizeof above);
    }
}

// A rough upper bound that at least k of them and not many more are not above, by some to spare for rounding.
template <std::size_t Bytes, class Leave>
VISUAL_SEARCH_INLINE float find_least(const Opening& opening, std::size_t q, std::size_t k, std::vector<float>& values,
                                      Leave leave) {
    const std::size_t panels = opening.known.size();
    values.resize(panels * panel_rows);
    for (std::size_t panel = 0; panel < panels; ++panel) {
        rough_uppers<Bytes>(opening, panel, q, values.data() + panel * panel_rows);
    }
    return within_which<Bytes>(values.data(), values.size(), k + k / 16 + 1, k / 8, leave);
}

using LeastFinder = float (*)(const Opening&, std::size_t q, std::size_t k, std::vector<float>& values);

inline float find_least_anywhere(const Opening& opening, std::size_t q, std::size_t k, std::vector<float>& values) {
    return find_least<any_register>(opening, q, k, values, compact_numbers);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline float find_least_by_avx2(const Opening& opening, std::size_t q, std::size_t k,
                                                                std::vector<float>& values) {
    return find_least<avx2_register>(opening, q, k, values, compact_numbers);
}

VISUAL_SEARCH_AVX512 inline float find_least_by_avx512(const Opening& opening, std::size_t q, std::size_t k,
                                                       std::vector<float>& values) {
    return find_least<avx512_register>(opening, q, k, values, compact_numbers_by_avx512);
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

// Thresholds that rows reach whose rough upper bounds are not above `most[q]`.
inline Tile least_tile(const Tile& tile, const float* most, float supposed) {
    Tile least = tile;
    for (std::size_t q = 0; q < tile_queries; ++q) {
        least.beta[q] = -most[q];
        least.gamma[q] = -supposed * tile.gamma[q];
        least.delta[q] = -supposed * tile.delta[q];
    }
    return least;
}

}  // namespace kernels
