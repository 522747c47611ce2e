// Products of 32 packed rows with 8 queries, and which of them reach their thresholds; one function a processor.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "pack.hpp"
#include "processors.hpp"

namespace kernels {

constexpr std::size_t tile_queries = 8;

// A row may belong to the answer of a query when  <i_q, i_x> >= alpha half_square + beta inverse + gamma error
// + delta length. Each is lowered beforehand by more than float32 can err.
struct Tile {
    const std::uint8_t* codes[tile_queries];  // i_q + 128, or i_q + 64 where `half`
    bool half;
    float alpha[tile_queries], beta[tile_queries], gamma[tile_queries], delta[tile_queries];
};

struct Reached {
    std::int32_t products[tile_queries][panel_rows];
    std::uint32_t rows[tile_queries];  // a bit for each row
};

// Calls `put(q, r)` for each row r of the panel that reached the threshold of query q.
template <class Put>
inline void each_reached(const Reached& reached, Put put) {
    for (std::size_t two = 0; two < tile_queries; two += 2) {
        const std::uint64_t rows = reached.rows[two] | std::uint64_t(reached.rows[two + 1]) << panel_rows;
        for (std::uint64_t left = rows; left != 0; left &= left - 1) {
            const auto bit = static_cast<std::size_t>(__builtin_ctzll(left));
            put(two + bit / panel_rows, bit % panel_rows);
        }
    }
}

using TileKernel = bool (*)(const PackedRows&, std::size_t panel, const Tile&, Reached&);

// Which rows reach their thresholds, from products that are known.
inline bool mark_anywhere(const PackedRows& rows, std::size_t panel, const Tile& tile, Reached& reached) {
    const std::size_t first = panel * panel_rows;
    std::uint32_t any = 0;
    for (std::size_t q = 0; q < tile_queries; ++q) {
        std::uint32_t mask = 0;
        for (std::size_t r = 0; r < panel_rows; ++r) {
            const float reach = tile.gamma[q] * rows.error[first + r] + tile.delta[q] * rows.length[first + r];
            const float threshold =
                tile.alpha[q] * rows.half_square[first + r] + (tile.beta[q] * rows.inverse[first + r] + reach);
            // Not "reaches": a threshold that left the range of float32 and is no number must not exclude anything.
            mask |= std::uint32_t(!(float(reached.products[q][r]) < threshold)) << r;
        }
        reached.rows[q] = mask;
        any |= mask;
    }
    return any != 0;
}

inline bool tile_anywhere(const PackedRows& rows, std::size_t panel, const Tile& tile, Reached& reached) {
    const std::int8_t* const codes = rows.codes + panel * rows.groups * 4 * panel_rows;
    const std::size_t first = panel * panel_rows;
    for (std::size_t q = 0; q < tile_queries; ++q) {
        std::int32_t* const products = reached.products[q];
        for (std::size_t r = 0; r < panel_rows; ++r) products[r] = rows.bias[first + r] >> int(tile.half);
        for (std::size_t g = 0; g < rows.groups; ++g) {
            const std::uint8_t* const mine = tile.codes[q] + 4 * g;
            const std::int8_t* const four = codes + g * 4 * panel_rows;
            for (std::size_t r = 0; r < panel_rows; ++r) {
                products[r] += four[4 * r] * mine[0] + four[4 * r + 1] * mine[1] + four[4 * r + 2] * mine[2] +
                               four[4 * r + 3] * mine[3];
            }
        }
    }
    return mark_anywhere(rows, panel, tile, reached);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH

__attribute__((always_inline, target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"))) inline bool mark_by_avx512(
    const PackedRows& rows, std::size_t first, const Tile& tile, const __m512i* low, const __m512i* high,
    std::uint32_t* marks) {
    const __m512 low_half = _mm512_loadu_ps(rows.half_square + first);
    const __m512 high_half = _mm512_loadu_ps(rows.half_square + first + 16);
    const __m512 low_inverse = _mm512_loadu_ps(rows.inverse + first);
    const __m512 high_inverse = _mm512_loadu_ps(rows.inverse + first + 16);
    const __m512 low_error = _mm512_loadu_ps(rows.error + first);
    const __m512 high_error = _mm512_loadu_ps(rows.error + first + 16);
    const __m512 low_length = _mm512_loadu_ps(rows.length + first);
    const __m512 high_length = _mm512_loadu_ps(rows.length + first + 16);
    std::uint32_t any = 0;
#pragma GCC unroll 8
    for (std::size_t q = 0; q < tile_queries; ++q) {
        const __m512 alpha = _mm512_set1_ps(tile.alpha[q]);
        const __m512 beta = _mm512_set1_ps(tile.beta[q]);
        const __m512 gamma = _mm512_set1_ps(tile.gamma[q]);
        const __m512 delta = _mm512_set1_ps(tile.delta[q]);
        const __m512 low_reach = _mm512_fmadd_ps(gamma, low_error, _mm512_mul_ps(delta, low_length));
        const __m512 high_reach = _mm512_fmadd_ps(gamma, high_error, _mm512_mul_ps(delta, high_length));
        const __m512 low_threshold =
            _mm512_fmadd_ps(alpha, low_half, _mm512_fmadd_ps(beta, low_inverse, low_reach));
        const __m512 high_threshold =
            _mm512_fmadd_ps(alpha, high_half, _mm512_fmadd_ps(beta, high_inverse, high_reach));
        const std::uint32_t low_mask = _mm512_cmp_ps_mask(_mm512_cvtepi32_ps(low[q]), low_threshold, _CMP_NLT_UQ);
        const std::uint32_t high_mask = _mm512_cmp_ps_mask(_mm512_cvtepi32_ps(high[q]), high_threshold, _CMP_NLT_UQ);
        marks[q] = low_mask | high_mask << 16;
        any |= marks[q];
    }
    return any != 0;
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"))) inline bool mark_by_vnni(
    const PackedRows& rows, std::size_t panel, const Tile& tile, Reached& reached) {
    __m512i low[tile_queries], high[tile_queries];
#pragma GCC unroll 8
    for (std::size_t q = 0; q < tile_queries; ++q) {
        low[q] = _mm512_loadu_si512(reached.products[q]);
        high[q] = _mm512_loadu_si512(reached.products[q] + 16);
    }
    return mark_by_avx512(rows, panel * panel_rows, tile, low, high, reached.rows);
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"))) inline bool tile_by_vnni(
    const PackedRows& rows, std::size_t panel, const Tile& tile, Reached& reached) {
    const std::int8_t* four = rows.codes + panel * rows.groups * 4 * panel_rows;
    const std::size_t first = panel * panel_rows;
    __m512i low[tile_queries], high[tile_queries];
    const __m128i half = _mm_cvtsi32_si128(int(tile.half));
    const __m512i low_bias = _mm512_sra_epi32(_mm512_loadu_si512(rows.bias + first), half);
    const __m512i high_bias = _mm512_sra_epi32(_mm512_loadu_si512(rows.bias + first + 16), half);
#pragma GCC unroll 8
    for (std::size_t q = 0; q < tile_queries; ++q) {
        low[q] = low_bias;
        high[q] = high_bias;
    }
    for (std::size_t g = 0; g < rows.groups; ++g, four += 4 * panel_rows) {
        const __m512i low_rows = _mm512_loadu_si512(four);
        const __m512i high_rows = _mm512_loadu_si512(four + 64);
#pragma GCC unroll 8
        for (std::size_t q = 0; q < tile_queries; ++q) {
            std::int32_t mine;
            std::memcpy(&mine, tile.codes[q] + 4 * g, 4);
            const __m512i code = _mm512_set1_epi32(mine);
            low[q] = _mm512_dpbusd_epi32(low[q], code, low_rows);
            high[q] = _mm512_dpbusd_epi32(high[q], code, high_rows);
            asm("" : "+v"(low[q]), "+v"(high[q]));  // else sums are moved about between registers
        }
    }
    if (!mark_by_avx512(rows, first, tile, low, high, reached.rows)) return false;
#pragma GCC unroll 8
    for (std::size_t q = 0; q < tile_queries; ++q) {
        _mm512_storeu_si512(reached.products[q], low[q]);
        _mm512_storeu_si512(reached.products[q] + 16, high[q]);
    }
    return true;
}

__attribute__((target("avx2,fma"))) inline bool mark_by_avx2(const PackedRows& rows, std::size_t panel, const Tile& tile,
                                                             Reached& reached) {
    const std::size_t first = panel * panel_rows;
    std::uint32_t any = 0;
    for (std::size_t q = 0; q < tile_queries; ++q) reached.rows[q] = 0;
    for (std::size_t part = 0; part < panel_rows; part += 8) {
        const std::size_t at = first + part;
        const __m256 half = _mm256_loadu_ps(rows.half_square + at), inverse = _mm256_loadu_ps(rows.inverse + at);
        const __m256 error = _mm256_loadu_ps(rows.error + at), length = _mm256_loadu_ps(rows.length + at);
        for (std::size_t q = 0; q < tile_queries; ++q) {
            const __m256 reach = _mm256_fmadd_ps(_mm256_set1_ps(tile.gamma[q]), error,
                                                 _mm256_mul_ps(_mm256_set1_ps(tile.delta[q]), length));
            const __m256 threshold = _mm256_fmadd_ps(_mm256_set1_ps(tile.alpha[q]), half,
                                                     _mm256_fmadd_ps(_mm256_set1_ps(tile.beta[q]), inverse, reach));
            const __m256 product = _mm256_cvtepi32_ps(
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(reached.products[q] + part)));
            const auto mask = static_cast<std::uint32_t>(
                _mm256_movemask_ps(_mm256_cmp_ps(product, threshold, _CMP_NLT_UQ)));
            reached.rows[q] |= mask << part;
            any |= mask;
        }
    }
    return any != 0;
}

// 16 rows and 4 queries at a time. Codes of queries are at most 127 here (`half`): the two products that are added before
// they are widened, 2 x 127 x 127, cannot leave 16 bits.
__attribute__((target("avx2,fma"))) inline bool tile_by_avx2(const PackedRows& rows, std::size_t panel, const Tile& tile,
                                                             Reached& reached) {
    constexpr std::size_t some = 4, some_rows = 16;
    const __m256i ones = _mm256_set1_epi16(1);
    const std::int8_t* const codes = rows.codes + panel * rows.groups * 4 * panel_rows;
    const std::int32_t* const bias = rows.bias + panel * panel_rows;
    for (std::size_t part = 0; part < panel_rows; part += some_rows) {
        const __m256i* const own = reinterpret_cast<const __m256i*>(bias + part);
        const __m256i low_bias = _mm256_srai_epi32(_mm256_loadu_si256(own), 1);
        const __m256i high_bias = _mm256_srai_epi32(_mm256_loadu_si256(own + 1), 1);
        for (std::size_t begin = 0; begin < tile_queries; begin += some) {
            const std::int8_t* four = codes + 4 * part;
            const std::uint8_t* const* const mine = tile.codes + begin;
            __m256i low[some], high[some];
#pragma GCC unroll 4
            for (std::size_t q = 0; q < some; ++q) {
                low[q] = low_bias;
                high[q] = high_bias;
            }
            for (std::size_t g = 0; g < rows.groups; ++g, four += 4 * panel_rows) {
                const __m256i low_rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(four));
                const __m256i high_rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(four + 32));
#pragma GCC unroll 4
                for (std::size_t q = 0; q < some; ++q) {
                    const __m256i code = _mm256_broadcastd_epi32(_mm_loadu_si32(mine[q] + 4 * g));
                    const __m256i low_pairs = _mm256_maddubs_epi16(code, low_rows);
                    const __m256i high_pairs = _mm256_maddubs_epi16(code, high_rows);
                    low[q] = _mm256_add_epi32(low[q], _mm256_madd_epi16(low_pairs, ones));
                    high[q] = _mm256_add_epi32(high[q], _mm256_madd_epi16(high_pairs, ones));
                    asm("" : "+x"(low[q]), "+x"(high[q]));  // else sums are moved about between registers
                }
            }
#pragma GCC unroll 4
            for (std::size_t q = 0; q < some; ++q) {
                __m256i* const to = reinterpret_cast<__m256i*>(reached.products[begin + q] + part);
                _mm256_storeu_si256(to, low[q]);
                _mm256_storeu_si256(to + 1, high[q]);
            }
        }
    }
    return mark_by_avx2(rows, panel, tile, reached);
}

#endif

struct TileKernels {
    TileKernel products;  // and marks
    TileKernel marks;     // of products that are there
};

inline TileKernels tile_kernels(Processor wanted) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return {tile_by_vnni, mark_by_vnni};
    if (wanted == Processor::avx2) return {tile_by_avx2, mark_by_avx2};
#endif
    (void)wanted;
    return {tile_anywhere, mark_anywhere};
}

}  // namespace kernels
