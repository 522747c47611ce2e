// Of some numbers those that are not above one, moved to the front in their order.
#pragma once

#include <cstddef>

#include "processors.hpp"

namespace kernels {

// How many are left.
using Compacter = std::size_t (*)(float* values, std::size_t size, float most);

inline std::size_t compact_anywhere(float* values, std::size_t size, float most) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const float one = values[i];
        values[count] = one;
        count += one <= most;
    }
    return count;
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt"))) inline std::size_t compact_by_avx512(
    float* values, std::size_t size, float most) {
    constexpr std::size_t width = 16;
    const __m512 all = _mm512_set1_ps(most);
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; i += width) {
        const auto there = static_cast<__mmask16>(size - i < width ? (1U << (size - i)) - 1 : 0xffff);
        const __m512 some = _mm512_maskz_loadu_ps(there, values + i);
        const __mmask16 kept = _mm512_mask_cmp_ps_mask(there, some, all, _CMP_LE_OQ);
        // What is written behind the last kept number has been read before, or is not there.
        _mm512_mask_storeu_ps(values + count, there, _mm512_maskz_compress_ps(kept, some));
        count += static_cast<std::size_t>(__builtin_popcount(kept));
    }
    return count;
}
#endif

inline Compacter compacter(Processor wanted) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return compact_by_avx512;
#endif
    (void)wanted;
    return compact_anywhere;
}

}  // namespace kernels
