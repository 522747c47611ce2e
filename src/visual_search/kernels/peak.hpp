// How fast the processor multiplies bytes at best: its instruction alone, on registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "processors.hpp"

namespace kernels {

#ifdef VISUAL_SEARCH_X86_DISPATCH

// Sixteen chains, so that none waits for another; the barrier keeps the compiler from finding out what they come to.
__attribute__((target("avx512f,avx512vnni"))) inline void multiply_by_vnni(std::size_t rounds) {
    __m512i sums[16];
    __m512i one = _mm512_set1_epi8(1), other = _mm512_set1_epi8(2);
    for (__m512i& sum : sums) sum = _mm512_setzero_si512();
    for (std::size_t round = 0; round < rounds; round += 16) {
#pragma GCC unroll 16
        for (__m512i& sum : sums) {
            sum = _mm512_dpbusd_epi32(sum, one, other);
            asm volatile("" : "+v"(sum));
        }
    }
}

__attribute__((target("avx2"))) inline void multiply_by_avx2(std::size_t rounds) {
    __m256i sums[8];
    __m256i one = _mm256_set1_epi8(1), other = _mm256_set1_epi8(2), ones = _mm256_set1_epi16(1);
    for (__m256i& sum : sums) sum = _mm256_setzero_si256();
    for (std::size_t round = 0; round < rounds; round += 8) {
#pragma GCC unroll 8
        for (__m256i& sum : sums) {
            __m256i pairs = _mm256_maddubs_epi16(one, other);
            asm volatile("" : "+x"(pairs));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
        }
    }
}

#endif

// Multiplies `rounds` registers of bytes; gives the operations of each round, 0 where nothing is known to be fast.
inline std::size_t multiply_registers(std::size_t rounds) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (processor() == Processor::avx512vnni) {
        multiply_by_vnni(rounds);
        return 128;
    }
    if (processor() == Processor::avx2) {
        multiply_by_avx2(rounds);
        return 64;
    }
#endif
    (void)rounds;
    return 0;
}

}  // namespace kernels
