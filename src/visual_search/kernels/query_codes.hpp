// Queries of float64 become int8 codes and the sums that bound their errors:  b = most / max|q|,  i = round(q b).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "processors.hpp"
#include "registers.hpp"

namespace kernels {

struct QueryCodes {
    std::uint8_t* codes;  // i + most + 1; as many behind d as fill up fours stay as they are
    std::size_t stride;
    double* scale;  // 1 / b
    double* sums;   // of q^2, i^2 and (q - i / b)^2, for each query
};

template <std::size_t Bytes>
VISUAL_SEARCH_INLINE void code_query(const double* q, std::size_t d, double most, std::uint8_t* codes, double& scale,
                                     double* sums) {
    using Doubles = Register<double, Bytes>;
    constexpr std::size_t width = Bytes / sizeof(double);
    constexpr double whole_numbers = 0x1.8p52;  // added and taken away: to the nearest, ties to even
    const std::size_t full = d / width * width;
    const Doubles none = {};
    double largest = 0;
    Doubles sizes = none;
    for (std::size_t j = 0; j < full; j += width) {
        Doubles some;
        load(some, q + j);
        const Doubles size = some < 0 ? -some : some;
        sizes = size > sizes ? size : sizes;
    }
    for (std::size_t l = 0; l < width; ++l) largest = std::max(largest, sizes[l]);
    for (std::size_t j = full; j < d; ++j) largest = std::max(largest, std::fabs(q[j]));
    const double inverse = std::min(most / (largest > 0 ? largest : most), 1e30);
    scale = 1 / inverse;
    Doubles squares = none, wholes = none, rests = none;
    for (std::size_t j = 0; j < full; j += width) {
        Doubles some;
        load(some, q + j);
        const Doubles whole = (some * inverse + whole_numbers) - whole_numbers, rest = some - whole * scale;
        squares += some * some;
        wholes += whole * whole;
        rests += rest * rest;
        for (std::size_t l = 0; l < width; ++l) codes[j + l] = static_cast<std::uint8_t>(int(whole[l] + most + 1));
    }
    std::fill(sums, sums + 3, 0.0);
    for (std::size_t l = 0; l < width; ++l) {
        sums[0] += squares[l];
        sums[1] += wholes[l];
        sums[2] += rests[l];
    }
    for (std::size_t j = full; j < d; ++j) {
        const double whole = (q[j] * inverse + whole_numbers) - whole_numbers, rest = q[j] - whole * scale;
        sums[0] += q[j] * q[j];
        sums[1] += whole * whole;
        sums[2] += rest * rest;
        codes[j] = static_cast<std::uint8_t>(int(whole + most + 1));
    }
}

// Queries first .. last of d numbers.
template <std::size_t Bytes>
VISUAL_SEARCH_INLINE void code_some(const double* queries, std::size_t d, double most, std::size_t first,
                                    std::size_t last, const QueryCodes& to) {
    for (std::size_t i = first; i < last; ++i) {
        code_query<Bytes>(queries + i * d, d, most, to.codes + i * to.stride, to.scale[i], to.sums + 3 * i);
    }
}

inline void code_anywhere(const double* queries, std::size_t d, double most, std::size_t first, std::size_t last,
                          const QueryCodes& to) {
    code_some<any_register>(queries, d, most, first, last, to);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline void code_by_avx2(const double* queries, std::size_t d, double most,
                                                         std::size_t first, std::size_t last, const QueryCodes& to) {
    code_some<avx2_register>(queries, d, most, first, last, to);
}

VISUAL_SEARCH_AVX512 inline void code_by_avx512(const double* queries, std::size_t d, double most, std::size_t first,
                                                std::size_t last, const QueryCodes& to) {
    code_some<avx512_register>(queries, d, most, first, last, to);
}
#endif

inline void code_queries(const double* queries, std::size_t d, double most, std::size_t first, std::size_t last,
                         const QueryCodes& to) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (processor() == Processor::avx512vnni) return code_by_avx512(queries, d, most, first, last, to);
    if (processor() == Processor::avx2) return code_by_avx2(queries, d, most, first, last, to);
#endif
    code_anywhere(queries, d, most, first, last, to);
}

}  // namespace kernels
