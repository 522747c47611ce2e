// A value that at least k of some numbers, and not many more, are not above: halving a range of values and counting finds
// it with less than it costs to order them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "pack.hpp"
#include "processors.hpp"

namespace kernels {

struct Range {
    float least, most;
};

VISUAL_SEARCH_INLINE Range range_of(const float* values, std::size_t size) {
    constexpr float never = std::numeric_limits<float>::infinity();
    const Floats16 none = {};
    Floats16 least = none + never, most = none - never;
    std::size_t i = 0;
    for (; i + lanes <= size; i += lanes) {
        Floats16 some;
        std::memcpy(&some, values + i, sizeof some);
        least = some < least ? some : least;
        most = some > most ? some : most;
    }
    float lane[2 * lanes];
    std::memcpy(lane, &least, sizeof least);
    std::memcpy(lane + lanes, &most, sizeof most);
    Range range{*std::min_element(lane, lane + lanes), *std::max_element(lane + lanes, lane + 2 * lanes)};
    for (; i < size; ++i) range = {std::min(range.least, values[i]), std::max(range.most, values[i])};
    return range;
}

// How many are not above one.
VISUAL_SEARCH_INLINE std::size_t count_within(const float* values, std::size_t size, float most) {
    Ints16 counts = {};
    std::size_t i = 0, count = 0;
    for (; i + lanes <= size; i += lanes) {
        Floats16 some;
        std::memcpy(&some, values + i, sizeof some);
        counts -= some <= most;
    }
    std::int32_t lane[lanes];
    std::memcpy(lane, &counts, sizeof lane);
    for (; i < size; ++i) count += values[i] <= most;
    return count + static_cast<std::size_t>(folded_lanes(lane));
}

// Infinity where halving does not find one. `spare` is how many more than k are good enough.
VISUAL_SEARCH_INLINE float within_which(const float* values, std::size_t size, std::size_t k, std::size_t spare) {
    constexpr int halvings = 20;
    constexpr float far = 1e38F;
    auto [below, above] = range_of(values, size);
    if (!(below > -far && above < far && count_within(values, size, above) >= k)) {
        return std::numeric_limits<float>::infinity();
    }
    for (int i = 0; i < halvings; ++i) {
        const float middle = below + (above - below) / 2;
        const std::size_t count = count_within(values, size, middle);
        (count >= k ? above : below) = middle;
        if (count >= k && count <= k + spare) break;
    }
    return above;
}

using WithinWhich = float (*)(const float* values, std::size_t size, std::size_t k, std::size_t spare);

inline float within_which_anywhere(const float* values, std::size_t size, std::size_t k, std::size_t spare) {
    return within_which(values, size, k, spare);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline float within_which_by_avx2(const float* values, std::size_t size, std::size_t k,
                                                                  std::size_t spare) {
    return within_which(values, size, k, spare);
}

VISUAL_SEARCH_AVX512 inline float within_which_by_avx512(const float* values, std::size_t size, std::size_t k,
                                                         std::size_t spare) {
    return within_which(values, size, k, spare);
}
#endif

inline WithinWhich value_finder(Processor wanted) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (wanted == Processor::avx512vnni) return within_which_by_avx512;
    if (wanted == Processor::avx2) return within_which_by_avx2;
#endif
    (void)wanted;
    return within_which_anywhere;
}

}  // namespace kernels
