// Bounds of the screened value of some rows, squared distance or minus the product, from products of int8 codes.
//
//   |<q, z> - s_q s_z <i_q, i_z>|  <=  |s_q i_q| |e_z| + |e_q| |z|
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
    Processor processor;
};

// Float32 numbers that are surely not above and not below the value of each row.
VISUAL_SEARCH_INLINE void make_bounds(const PackedRows& rows, const Question& query, const ScreenOptions& options,
                                      const Reaching& some, float* __restrict lowers, float* __restrict uppers) {
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
        const double upper = most_square + (square * above - product + reach) * unit;
        lowers[i] = static_cast<float>(lower - (rounding * std::fabs(lower) + least));
        uppers[i] = static_cast<float>(upper + (rounding * std::fabs(upper) + least));
    }
}

using BoundsMaker = void (*)(const PackedRows&, const Question&, const ScreenOptions&, const Reaching&, float*, float*);

inline void make_bounds_anywhere(const PackedRows& rows, const Question& query, const ScreenOptions& options,
                                 const Reaching& some, float* lowers, float* uppers) {
    make_bounds(rows, query, options, some, lowers, uppers);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline void make_bounds_by_avx2(const PackedRows& rows, const Question& query,
                                                                const ScreenOptions& options, const Reaching& some,
                                                                float* lowers, float* uppers) {
    make_bounds(rows, query, options, some, lowers, uppers);
}

VISUAL_SEARCH_AVX512 inline void make_bounds_by_avx512(const PackedRows& rows, const Question& query,
                                                       const ScreenOptions& options, const Reaching& some,
                                                       float* lowers, float* uppers) {
    make_bounds(rows, query, options, some, lowers, uppers);
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
