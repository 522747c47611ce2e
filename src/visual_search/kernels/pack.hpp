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
#include "registers.hpp"

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

// The rows first .. last.
struct Span {
    std::size_t first, last;
};

inline std::size_t whole_lanes(std::size_t d) { return (d + lanes - 1) / lanes * lanes; }

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
    std::int32_t sum;
};

// Room for one row: the numbers less the centre, and their codes before they are narrowed; whole lanes, zeros behind d.
struct CodedRow {
    explicit CodedRow(std::size_t wide) : z(wide), wide_codes(wide) {}
    std::vector<float> z;
    std::vector<std::int32_t> wide_codes;
};

// Codes of one row x, less the centre, which is filled up with zeros. Sums go into sixteen lanes, whatever the registers.
template <std::size_t Bytes>
VISUAL_SEARCH_INLINE Sums code_row(const Unpacked& from, const float* x, CodedRow& row, std::int8_t* codes) {
    using Floats = Register<float, Bytes>;
    using Ints = Register<std::int32_t, Bytes>;
    constexpr bool narrows = Bytes == avx512_register;  // in one instruction
    constexpr std::size_t width = Bytes / sizeof(float), parts = lanes / width;
    const std::size_t wide = whole_lanes(from.d), full = from.d / lanes * lanes;
    float* const z = row.z.data();
    float last[lanes] = {};
    std::copy(x + full, x + from.d, last);
    Floats largest[parts] = {}, squares[parts] = {}, rest[parts] = {};
    for (std::size_t j = 0; j < wide; j += lanes) {
        const float* const sixteen = j < full ? x + j : last;
#pragma GCC unroll 4
        for (std::size_t p = 0; p < parts; ++p) {
            Floats some, centre;
            load(some, sixteen + p * width);
            load(centre, from.centre + j + p * width);
            some -= centre;
            std::memcpy(z + j + p * width, &some, sizeof some);
            const Floats size = some < 0 ? -some : some;
            largest[p] = size > largest[p] ? size : largest[p];
            squares[p] += some * some;
        }
    }
    float most = 0, lane[lanes];
    std::memcpy(lane, &largest, sizeof lane);
    for (std::size_t l = 0; l < lanes / 2; ++l) lane[l] = lane[l + lanes / 2] > lane[l] ? lane[l + lanes / 2] : lane[l];
    for (std::size_t l = 0; l < lanes / 2; ++l) most = lane[l] > most ? lane[l] : most;
    Sums found{most > 0 ? std::min(127.0F / most, 1e30F) : 1.0F, 0, 0, 0};
    Ints sum[parts] = {};
    for (std::size_t j = 0; j < wide; j += lanes) {
#pragma GCC unroll 4
        for (std::size_t p = 0; p < parts; ++p) {
            Floats t;
            load(t, z + j + p * width);
            t *= found.b;
            const Floats whole = (t + 12582912.0F) - 12582912.0F;  // 1.5 x 2^23: to the nearest, ties to even
            rest[p] += (t - whole) * (t - whole);
            const Ints code = __builtin_convertvector(whole, Ints);
            sum[p] += code;
            if constexpr (narrows) {
                const auto narrow = __builtin_convertvector(code, Register<std::int8_t, width>);
                std::memcpy(codes + j + p * width, &narrow, sizeof narrow);
            } else {
                std::memcpy(row.wide_codes.data() + j + p * width, &code, sizeof code);
            }
        }
    }
    if constexpr (!narrows) {
        for (std::size_t j = 0; j < wide; ++j) codes[j] = static_cast<std::int8_t>(row.wide_codes[j]);
    }
    std::memcpy(lane, &squares, sizeof lane);
    found.square = folded_lanes(lane);
    std::memcpy(lane, &rest, sizeof lane);
    found.rest = folded_lanes(lane);
    std::int32_t whole_lane[lanes];
    std::memcpy(whole_lane, &sum, sizeof whole_lane);
    found.sum = folded_lanes(whole_lane);
    return found;
}

// Four codes of each row of a panel, whose codes lie row by row, then the next four; rows begin .. end of it.
inline void interleave(const std::int8_t* codes, std::size_t wide, std::size_t groups, std::size_t begin, std::size_t end,
                       std::int8_t* place) {
    for (std::size_t g = 0; g < groups; ++g, place += 4 * panel_rows) {
        for (std::size_t r = begin; r < end; ++r) std::memcpy(place + 4 * r, codes + r * wide + 4 * g, 4);
    }
}

// Rows first .. last. `growth` bounds the relative error of a float32 sum of d squares, several times over. The codes of a
// panel are gathered before they are interleaved, so that a panel is written from its beginning to its end.
template <std::size_t Bytes, class Interleave>
VISUAL_SEARCH_INLINE void pack_some(const Unpacked& from, const PackedRows& to, double growth, Span span,
                                    Interleave interleave_panel) {
    const std::size_t wide = whole_lanes(from.d);
    CodedRow coded(wide);
    std::vector<std::int8_t> panel(panel_rows * wide);
    for (std::size_t row = span.first; row < span.last; ++row) {
        const Sums found =
            code_row<Bytes>(from, from.rows + row * from.d, coded, panel.data() + row % panel_rows * wide);
        const double b = found.b, square = found.square, left = std::sqrt(double(found.rest));
        const double length = std::sqrt(square) * b * (1 + growth);
        const double roundings = 0x1p-21 * (length + 1 + 2 * left);  // |i| is not above length + left
        to.half_square[row] = static_cast<float>(square * b / 2 * (1 - growth));
        to.inverse[row] = found.b;
        to.error[row] = static_cast<float>(left * (1 + growth) + roundings);
        to.length[row] = static_cast<float>(length);
        to.bias[row] = -128 * found.sum;
        if ((row + 1) % panel_rows != 0 && row + 1 != span.last) continue;
        const std::size_t begin = std::max(span.first, row / panel_rows * panel_rows) % panel_rows;
        interleave_panel(panel.data(), wide, to.groups, begin, row % panel_rows + 1,
                         to.codes + row / panel_rows * to.groups * 4 * panel_rows);
    }
}

inline void pack_anywhere(const Unpacked& from, const PackedRows& to, double growth, Span span) {
    pack_some<any_register>(from, to, growth, span, interleave);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH

// As `interleave`: 16 rows and 16 groups are a square of words that is turned in four steps.
VISUAL_SEARCH_AVX512 inline void interleave_by_avx512(const std::int8_t* codes, std::size_t wide, std::size_t groups,
                                                      std::size_t begin, std::size_t end, std::int8_t* place) {
    if (begin != 0 || end != panel_rows) return interleave(codes, wide, groups, begin, end, place);
    for (std::size_t half = 0; half < panel_rows; half += 16) {
        for (std::size_t g = 0; g < groups; g += 16) {
            const std::size_t some = std::min<std::size_t>(16, groups - g);
            const __mmask16 there = static_cast<__mmask16>((1U << some) - 1);
            __m512i one[16], other[16];
#pragma GCC unroll 16
            for (std::size_t r = 0; r < 16; ++r) {
                one[r] = _mm512_maskz_loadu_epi32(there, codes + (half + r) * wide + 4 * g);
            }
#pragma GCC unroll 8
            for (std::size_t r = 0; r < 16; r += 2) {
                other[r] = _mm512_unpacklo_epi32(one[r], one[r + 1]);
                other[r + 1] = _mm512_unpackhi_epi32(one[r], one[r + 1]);
            }
#pragma GCC unroll 4
            for (std::size_t r = 0; r < 16; r += 4) {
                one[r] = _mm512_unpacklo_epi64(other[r], other[r + 2]);
                one[r + 1] = _mm512_unpackhi_epi64(other[r], other[r + 2]);
                one[r + 2] = _mm512_unpacklo_epi64(other[r + 1], other[r + 3]);
                one[r + 3] = _mm512_unpackhi_epi64(other[r + 1], other[r + 3]);
            }
            // Now one[4 i + c] holds, of the rows 4 i to 4 i + 3, the groups c, 4 + c, 8 + c and 12 + c.
#pragma GCC unroll 4
            for (std::size_t c = 0; c < 4; ++c) {
                other[c] = _mm512_shuffle_i32x4(one[c], one[4 + c], 0x88);
                other[4 + c] = _mm512_shuffle_i32x4(one[c], one[4 + c], 0xdd);
                other[8 + c] = _mm512_shuffle_i32x4(one[8 + c], one[12 + c], 0x88);
                other[12 + c] = _mm512_shuffle_i32x4(one[8 + c], one[12 + c], 0xdd);
            }
#pragma GCC unroll 4
            for (std::size_t c = 0; c < 4; ++c) {
                one[c] = _mm512_shuffle_i32x4(other[c], other[8 + c], 0x88);
                one[8 + c] = _mm512_shuffle_i32x4(other[c], other[8 + c], 0xdd);
                one[4 + c] = _mm512_shuffle_i32x4(other[4 + c], other[12 + c], 0x88);
                one[12 + c] = _mm512_shuffle_i32x4(other[4 + c], other[12 + c], 0xdd);
            }
#pragma GCC unroll 16
            for (std::size_t i = 0; i < 16; ++i) {
                if (i < some) _mm512_storeu_si512(place + (g + i) * 4 * panel_rows + 4 * half, one[i]);
            }
        }
    }
}

// As `interleave`: 8 rows and 8 groups at a time, turned in three steps.
__attribute__((target("avx2"))) inline void interleave_by_avx2(const std::int8_t* codes, std::size_t wide,
                                                               std::size_t groups, std::size_t begin, std::size_t end,
                                                               std::int8_t* place) {
    if (begin != 0 || end != panel_rows) return interleave(codes, wide, groups, begin, end, place);
    constexpr std::size_t eight = 8;
    const std::size_t turned = groups / eight * eight;
    for (std::size_t part = 0; part < panel_rows; part += eight) {
        for (std::size_t g = 0; g < turned; g += eight) {
            __m256i one[eight], other[eight];
#pragma GCC unroll 8
            for (std::size_t r = 0; r < eight; ++r) {
                one[r] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + (part + r) * wide + 4 * g));
            }
#pragma GCC unroll 4
            for (std::size_t r = 0; r < eight; r += 2) {
                other[r] = _mm256_unpacklo_epi32(one[r], one[r + 1]);
                other[r + 1] = _mm256_unpackhi_epi32(one[r], one[r + 1]);
            }
#pragma GCC unroll 2
            for (std::size_t r = 0; r < eight; r += 4) {
                one[r] = _mm256_unpacklo_epi64(other[r], other[r + 2]);
                one[r + 1] = _mm256_unpackhi_epi64(other[r], other[r + 2]);
                one[r + 2] = _mm256_unpacklo_epi64(other[r + 1], other[r + 3]);
                one[r + 3] = _mm256_unpackhi_epi64(other[r + 1], other[r + 3]);
            }
            // Now one[4 i + c] holds, of the rows 4 i to 4 i + 3, the groups c and 4 + c.
#pragma GCC unroll 4
            for (std::size_t c = 0; c < 4; ++c) {
                other[c] = _mm256_permute2x128_si256(one[c], one[4 + c], 0x20);
                other[4 + c] = _mm256_permute2x128_si256(one[c], one[4 + c], 0x31);
            }
#pragma GCC unroll 8
            for (std::size_t i = 0; i < eight; ++i) {
                std::int8_t* const to = place + (g + i) * 4 * panel_rows + 4 * part;
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), other[i]);
            }
        }
    }
    interleave(codes + 4 * turned, wide, groups - turned, 0, panel_rows, place + turned * 4 * panel_rows);
}

__attribute__((target("avx2"))) inline void pack_by_avx2(const Unpacked& from, const PackedRows& to, double growth,
                                                         Span span) {
    pack_some<avx2_register>(from, to, growth, span, interleave_by_avx2);
}

VISUAL_SEARCH_AVX512 inline void pack_by_avx512(const Unpacked& from, const PackedRows& to, double growth, Span span) {
    pack_some<avx512_register>(from, to, growth, span, interleave_by_avx512);
}

#endif

inline void pack_rows(const Unpacked& unpacked, const PackedRows& to, double growth, Span span, Processor wanted) {
    std::vector<float> centre(whole_lanes(unpacked.d), 0.0F);
    std::copy(unpacked.centre, unpacked.centre + unpacked.d, centre.begin());
    const Unpacked from{unpacked.rows, centre.data(), unpacked.d};
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return pack_by_avx512(from, to, growth, span);
    if (wanted == Processor::avx2) return pack_by_avx2(from, to, growth, span);
#endif
    (void)wanted;
    pack_anywhere(from, to, growth, span);
}

}  // namespace kernels
