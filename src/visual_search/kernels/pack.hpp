// Rows of float32 become int8 codes and what is needed to bound their products.
//
//   z = x - centre,  b = 127 / max|z|,  t = z b,  i = round(t),  z = i / b + e
//
// Codes lie in panels of 32 rows; in a panel, four numbers of row 0, four of row 1, ..., then the next four of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "processors.hpp"

namespace kernels {

constexpr std::size_t panel_rows = 32;
constexpr std::size_t lanes = 16;

struct PackedRows {
    std::int8_t* codes;      // panels x groups x 32 x 4
    float* half_square;      // b |z|^2 / 2, not above
    float* inverse;          // b
    float* error;            // b |e| and all roundings, not below
    float* length;           // b |z|, not below
    std::int32_t* bias;      // - 128 sum i
    std::size_t count, groups;
};

struct Unpacked {
    const float* rows;
    const float* centre;
    std::size_t d;
};

// Sixteen numbers at once, in whatever registers the processor has.
using Floats16 = float __attribute__((vector_size(64)));
using Ints16 = std::int32_t __attribute__((vector_size(64)));

// The upper half of the lanes onto the lower half until one is left.
template <class T>
VISUAL_SEARCH_INLINE T folded_lanes(T* sums) {
    for (std::size_t l = 0; l < 8; ++l) sums[l] += sums[l + 8];
    for (std::size_t l = 0; l < 4; ++l) sums[l] += sums[l + 4];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// What is summed over a row before its bounds are made of it.
struct Sums {
    float b, square, rest;
    std::int32_t sum, sum_of_squares;
};

// Codes of one row, the numbers z of which lie in `z`, filled up with zeros to whole vectors.
VISUAL_SEARCH_INLINE Sums code_row(const float* z, std::size_t wide, std::int32_t* codes) {
    Floats16 largest = {}, squares = {}, rest = {};
    for (std::size_t j = 0; j < wide; j += lanes) {
        Floats16 some;
        std::memcpy(&some, z + j, sizeof some);
        const Floats16 size = some < 0 ? -some : some;
        largest = size > largest ? size : largest;
        squares += some * some;
    }
    float most = 0, lane[lanes];
    std::memcpy(lane, &largest, sizeof lane);
    for (const float one : lane) most = one > most ? one : most;
    Sums found{most > 0 ? std::min(127.0F / most, 1e30F) : 1.0F, 0, 0, 0, 0};
    Ints16 sum = {}, sum_of_squares = {};
    for (std::size_t j = 0; j < wide; j += lanes) {
        Floats16 t;
        std::memcpy(&t, z + j, sizeof t);
        t *= found.b;
        const Floats16 whole = (t + 12582912.0F) - 12582912.0F;  // 1.5 x 2^23: to the nearest, ties to even
        rest += (t - whole) * (t - whole);
        const Ints16 code = __builtin_convertvector(whole, Ints16);
        sum += code;
        sum_of_squares += code * code;
        std::memcpy(codes + j, &code, sizeof code);
    }
    std::memcpy(lane, &squares, sizeof lane);
    found.square = folded_lanes(lane);
    std::memcpy(lane, &rest, sizeof lane);
    found.rest = folded_lanes(lane);
    std::int32_t whole_lane[lanes];
    std::memcpy(whole_lane, &sum, sizeof whole_lane);
    found.sum = folded_lanes(whole_lane);
    std::memcpy(whole_lane, &sum_of_squares, sizeof whole_lane);
    found.sum_of_squares = folded_lanes(whole_lane);
    return found;
}

// Rows first .. last. `growth` bounds the relative error of a float32 sum of d squares, several times over. The codes of a
// panel are gathered before they are interleaved, so that a panel is written from its beginning to its end.
VISUAL_SEARCH_INLINE void pack_some(const Unpacked& from, const PackedRows& to, double growth, std::size_t first,
                                    std::size_t last) {
    const std::size_t wide = (from.d + lanes - 1) / lanes * lanes, groups = to.groups;
    std::vector<float> z(wide, 0.0F), centre(wide, 0.0F);
    std::vector<std::int32_t> codes(wide, 0);
    std::vector<std::int8_t> panel(panel_rows * wide, 0);
    std::copy(from.centre, from.centre + from.d, centre.begin());
    for (std::size_t row = first; row < last; ++row) {
        const float* const x = from.rows + row * from.d;
        for (std::size_t j = 0; j < from.d; ++j) z[j] = x[j] - centre[j];
        const Sums found = code_row(z.data(), wide, codes.data());
        std::int8_t* const narrow = panel.data() + row % panel_rows * wide;
        for (std::size_t j = 0; j < wide; ++j) narrow[j] = static_cast<std::int8_t>(codes[j]);
        const double b = found.b, square = found.square, left = std::sqrt(double(found.rest));
        const double roundings = 0x1p-21 * (std::sqrt(double(found.sum_of_squares)) + 1 + left);
        to.half_square[row] = static_cast<float>(square * b / 2 * (1 - growth));
        to.inverse[row] = found.b;
        to.error[row] = static_cast<float>(left * (1 + growth) + roundings);
        to.length[row] = static_cast<float>(std::sqrt(square) * b * (1 + growth));
        to.bias[row] = -128 * found.sum;
        if ((row + 1) % panel_rows != 0 && row + 1 != last) continue;
        const std::size_t begin = std::max(first, row / panel_rows * panel_rows) % panel_rows;
        std::int8_t* place = to.codes + row / panel_rows * groups * 4 * panel_rows;
        for (std::size_t g = 0; g < groups; ++g, place += 4 * panel_rows) {
            for (std::size_t r = begin; r <= row % panel_rows; ++r) {
                std::memcpy(place + 4 * r, panel.data() + r * wide + 4 * g, 4);
            }
        }
    }
}

inline void pack_anywhere(const Unpacked& from, const PackedRows& to, double growth, std::size_t first,
                          std::size_t last) {
    pack_some(from, to, growth, first, last);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline void pack_by_avx2(const Unpacked& from, const PackedRows& to, double growth,
                                                         std::size_t first, std::size_t last) {
    pack_some(from, to, growth, first, last);
}
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512"))) inline void pack_by_avx512(
    const Unpacked& from, const PackedRows& to, double growth, std::size_t first, std::size_t last) {
    pack_some(from, to, growth, first, last);
}
#endif

inline void pack_rows(const Unpacked& from, const PackedRows& to, double growth, std::size_t first, std::size_t last) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (processor() == Processor::avx512vnni) return pack_by_avx512(from, to, growth, first, last);
    if (processor() == Processor::avx2) return pack_by_avx2(from, to, growth, first, last);
#endif
    pack_anywhere(from, to, growth, first, last);
}

}  // namespace kernels
