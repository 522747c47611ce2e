// What the processor can do, asked at run time.
#pragma once

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define VISUAL_SEARCH_X86_DISPATCH 1
#include <immintrin.h>
#define VISUAL_SEARCH_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")))
#endif

// A body that is compiled anew inside each function that calls it, for that function's instructions.
#define VISUAL_SEARCH_INLINE __attribute__((always_inline)) inline

namespace kernels {

enum class Processor { any, avx2, avx512vnni };

inline Processor processor() {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
        return Processor::avx512vnni;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Processor::avx2;
#endif
    return Processor::any;
}

enum class BitCounting { any, popcnt, avx512 };

// How bits are counted: by twenty instructions, by one, or eight words at a time.
inline BitCounting bit_counting() {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
        return BitCounting::avx512;
    }
    if (__builtin_cpu_supports("popcnt")) return BitCounting::popcnt;
#endif
    return BitCounting::any;
}

}  // namespace kernels
