// Bounds of the screened value of some rows, squared distance or minus the product, from products of int8 codes.
//
//   |<q, z> - s_q s_z <i_q, i_z>|  <=  |s_q i_q| |e_z| + |e_q| |z|
//
// That is the reach of a bound. Lower bounds are true. Upper ones have a share of the reach alone: errors of random signs
// are far smaller, so that most are true; who relies on them proves it afterwards.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "pack.hpp"
#include "processors.hpp"
#include "reaching.hpp"

namespace kernels {

// What is known of one query; see `int8_codes.CodedQueries`.
struct Question {
    const std::uint8_t* codes;  // as in `Tile`
    bool half;
    double scale, size, least_square, most_square;
    double ratio;  // at least |e_q| / |s_q i_q|
};

struct ScreenOptions {
    std::size_t k;
    bool euclidean;
    double growth;  // as in packing
    std::size_t room;
    double supposed;  // share of the reach of a bound; 1 where nothing is supposed
    Processor processor;
};

// Float32 numbers that are surely not above the value of each row, and that are supposed not to be below.
VISUAL_SEARCH_INLINE void make_bounds(const PackedRows& rows, const Question& query, const ScreenOptions& options,
                                      const Reaching& some, float* __restrict lowers, float* __restrict supposed) {
    const std::size_t count = some.count;
    constexpr double rounding = 0x1p-23, least = 0x1p-149;
    float half[most_reaching], b[most_reaching], error[most_reaching], length[most_reaching];
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t row = some.rows[i];
        half[i] = rows.half_square[row];
        b[i] = rows.inverse[row];
        error[i] = rows.error[row];
        length[i] = rows.length[row];
    }
    const double above = 1 + 3 * options.growth;
    const double parts = options.euclidean ? 2 : 1, whole = options.euclidean ? 1 : 0;
    const double least_square = whole * query.least_square, most_square = whole * query.most_square;
    for (std::size_t i = 0; i < count; ++i) {
        const double reach = query.size * (double(error[i]) + query.ratio * double(length[i]));
        const double product = query.scale * some.products[i], square = whole * double(half[i]);
        const double unit = parts / double(b[i]);
        const double lower = least_square + (square - product - reach) * unit;
        const double upper = most_square + (square * above - product + options.supposed * reach) * unit;
        lowers[i] = static_cast<float>(lower - (rounding * std::fabs(lower) + least));
        supposed[i] = static_cast<float>(upper + (rounding * std::fabs(upper) + least));
    }
}

using BoundsMaker = void (*)(const PackedRows&, const Question&, const ScreenOptions&, const Reaching&, float*, float*);

inline void make_bounds_anywhere(const PackedRows& rows, const Question& query, const ScreenOptions& options,
                                 const Reaching& some, float* lowers, float* supposed) {
    make_bounds(rows, query, options, some, lowers, supposed);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline void make_bounds_by_avx2(const PackedRows& rows, const Question& query,
                                                                const ScreenOptions& options, const Reaching& some,
                                                                float* lowers, float* supposed) {
    make_bounds(rows, query, options, some, lowers, supposed);
}

VISUAL_SEARCH_AVX512 inline void make_bounds_by_avx512(const PackedRows& rows, const Question& query,
                                                       const ScreenOptions& options, const Reaching& some,
                                                       float* lowers, float* supposed) {
    make_bounds(rows, query, options, some, lowers, supposed);
}
#endif

inline BoundsMaker bounds_maker(Processor wanted) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return make_bounds_by_avx512;
    if (wanted == Processor::avx2) return make_bounds_by_avx2;
#endif
    (void)wanted;
    return make_bounds_anywhere;
}

}  // namespace kernels
