// Rows that reached the thresholds of a query, gathered until there are enough to look at more closely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "processors.hpp"
#include "tiles.hpp"

namespace kernels {

constexpr std::size_t most_reaching = 128;

// Up to `most_reaching` rows and their products with a query; whole registers may be written behind them.
struct Reaching {
    std::size_t count = 0;
    std::uint32_t rows[most_reaching + lanes];
    std::int32_t products[most_reaching + lanes];

    // A panel's rows may not fit any more.
    bool filled() const { return count > most_reaching - panel_rows; }

    void add(std::uint32_t row, std::int32_t product) {
        rows[count] = row;
        products[count++] = product;
    }
};

// Put the rows of a panel that reached the thresholds behind others.
using Gatherer = void (*)(const Reached&, std::size_t panel, Reaching* to);

inline void gather_anywhere(const Reached& reached, std::size_t panel, Reaching* to) {
    each_reached(reached, [&](std::size_t q, std::size_t r) {
        to[q].add(static_cast<std::uint32_t>(panel * panel_rows + r), reached.products[q][r]);
    });
}

#ifdef VISUAL_SEARCH_X86_DISPATCH

// Half a panel at a time, without a branch for each row.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt,bmi"))) inline void gather_by_avx512(
    const Reached& reached, std::size_t panel, Reaching* to) {
    const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i low_rows = _mm512_add_epi32(places, _mm512_set1_epi32(static_cast<int>(panel * panel_rows)));
    const __m512i rows[2] = {low_rows, _mm512_add_epi32(low_rows, _mm512_set1_epi32(lanes))};
    std::uint16_t halves[2 * tile_queries];
    std::memcpy(halves, reached.rows, sizeof halves);
    const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves));
    for (std::uint32_t left = _mm256_test_epi16_mask(all, all); left != 0; left &= left - 1) {
        const auto half = static_cast<std::size_t>(__builtin_ctz(left)), q = half / 2;
        const auto which = static_cast<__mmask16>(halves[half]);
        Reaching& mine = to[q];
        const __m512i products = _mm512_loadu_si512(reached.products[q] + half % 2 * lanes);
        _mm512_storeu_si512(mine.rows + mine.count, _mm512_maskz_compress_epi32(which, rows[half % 2]));
        _mm512_storeu_si512(mine.products + mine.count, _mm512_maskz_compress_epi32(which, products));
        mine.count += static_cast<std::size_t>(__builtin_popcount(which));
    }
}

#endif

inline Gatherer gatherer(Processor wanted) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return gather_by_avx512;
#endif
    (void)wanted;
    return gather_anywhere;
}

}  // namespace kernels
