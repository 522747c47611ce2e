// Of some numbers, or rows with a bound each, those that are not above a limit, moved to the front in their order.
// Which of them stay cannot be foreseen, so nothing branches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "processors.hpp"

namespace kernels {

// Rows and what the value of each is not below.
struct BoundedRows {
    std::uint32_t* rows;
    float* lower;
};

// Both tell how many are left.
struct Compacters {
    std::size_t (*numbers)(float* values, std::size_t size, float most);
    std::size_t (*rows)(const BoundedRows& some, std::size_t size, float most);  // by their lower bounds
};

inline std::size_t compact_numbers(float* values, std::size_t size, float most) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const float one = values[i];
        values[count] = one;
        count += one <= most;
    }
    return count;
}

inline std::size_t compact_rows(const BoundedRows& some, std::size_t size, float most) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const float lower = some.lower[i];
        some.rows[count] = some.rows[i];
        some.lower[count] = lower;
        count += lower <= most;
    }
    return count;
}

#ifdef VISUAL_SEARCH_X86_DISPATCH

#define VISUAL_SEARCH_COMPACT __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt")))

// What is written behind the last number that stays has been read before.
VISUAL_SEARCH_COMPACT inline std::size_t compact_numbers_by_avx512(float* values, std::size_t size, float most) {
    constexpr std::size_t width = 16;
    const __m512 all = _mm512_set1_ps(most);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; i += width) {
        const auto there = static_cast<__mmask16>(size - i < width ? (1U << (size - i)) - 1 : 0xffff);
        const __m512 some = _mm512_maskz_loadu_ps(there, values + i);
        const __mmask16 kept = _mm512_mask_cmp_ps_mask(there, some, all, _CMP_LE_OQ);
        _mm512_mask_storeu_ps(values + count, there, _mm512_maskz_compress_ps(kept, some));
        count += static_cast<std::size_t>(__builtin_popcount(kept));
    }
    return count;
}

VISUAL_SEARCH_COMPACT inline std::size_t compact_rows_by_avx512(const BoundedRows& some, std::size_t size, float most) {
    constexpr std::size_t width = 16;
    const __m512 all = _mm512_set1_ps(most);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; i += width) {
        const auto there = static_cast<__mmask16>(size - i < width ? (1U << (size - i)) - 1 : 0xffff);
        const __m512i rows = _mm512_maskz_loadu_epi32(there, some.rows + i);
        const __m512 lower = _mm512_maskz_loadu_ps(there, some.lower + i);
        const __mmask16 kept = _mm512_mask_cmp_ps_mask(there, lower, all, _CMP_LE_OQ);
        _mm512_mask_storeu_epi32(some.rows + count, there, _mm512_maskz_compress_epi32(kept, rows));
        _mm512_mask_storeu_ps(some.lower + count, there, _mm512_maskz_compress_ps(kept, lower));
        count += static_cast<std::size_t>(__builtin_popcount(kept));
    }
    return count;
}

#undef VISUAL_SEARCH_COMPACT

#endif

inline Compacters compacters(Processor wanted) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return {compact_numbers_by_avx512, compact_rows_by_avx512};
#endif
    (void)wanted;
    return {compact_numbers, compact_rows};
}

}  // namespace kernels
