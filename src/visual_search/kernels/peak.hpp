// How fast the processor multiplies bytes at best: its instruction alone, on registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "processors.hpp"

namespace kernels {

#ifdef VISUAL_SEARCH_X86_DISPATCH

// Twelve chains in registers of their own, so that none waits for another; the barrier keeps the compiler from finding
// out what they come to.
__attribute__((target("avx512f,avx512vnni"))) inline void multiply_by_vnni(std::size_t rounds) {
    const __m512i one = _mm512_set1_epi8(1), other = _mm512_set1_epi8(2);
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a;
    for (std::size_t round = 0; round < rounds; round += 12) {
        a = _mm512_dpbusd_epi32(a, one, other);
        b = _mm512_dpbusd_epi32(b, one, other);
        c = _mm512_dpbusd_epi32(c, one, other);
        d = _mm512_dpbusd_epi32(d, one, other);
        e = _mm512_dpbusd_epi32(e, one, other);
        f = _mm512_dpbusd_epi32(f, one, other);
        g = _mm512_dpbusd_epi32(g, one, other);
        h = _mm512_dpbusd_epi32(h, one, other);
        i = _mm512_dpbusd_epi32(i, one, other);
        j = _mm512_dpbusd_epi32(j, one, other);
        k = _mm512_dpbusd_epi32(k, one, other);
        l = _mm512_dpbusd_epi32(l, one, other);
        asm volatile(""
                     : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g), "+v"(h), "+v"(i), "+v"(j),
                       "+v"(k), "+v"(l));
    }
}

// Bytes in pairs and the pairs as words, as the AVX2 screen multiplies them.
__attribute__((target("avx2"))) inline void multiply_by_avx2(std::size_t rounds) {
    __m256i one = _mm256_set1_epi16(1);
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (std::size_t round = 0; round < rounds; round += 8) {
        asm volatile("" : "+x"(one));
        a = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, a));
        b = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, b));
        c = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, c));
        d = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, d));
        e = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, e));
        f = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, f));
        g = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, g));
        h = _mm256_madd_epi16(one, _mm256_maddubs_epi16(one, h));
        asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h));
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
