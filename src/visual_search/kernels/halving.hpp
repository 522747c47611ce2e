// A value that at least k of some numbers, and not many more, are not above: halving a range of values and counting finds
// it with less than it costs to order them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "processors.hpp"
#include "registers.hpp"

namespace kernels {

struct Range {
    float least, most;
};

template <std::size_t Bytes>
VISUAL_SEARCH_INLINE Range range_of(const float* values, std::size_t size) {
    using Floats = Register<float, Bytes>;
    constexpr std::size_t width = Bytes / sizeof(float);
    constexpr float never = std::numeric_limits<float>::infinity();
    const Floats none = {};
    Floats least = none + never, most = none - never;
    std::size_t i = 0;
    for (; i + width <= size; i += width) {
        Floats some;
        load(some, values + i);
        least = some < least ? some : least;
        most = some > most ? some : most;
    }
    Range range{least[0], most[0]};
    for (std::size_t l = 1; l < width; ++l) range = {std::min(range.least, least[l]), std::max(range.most, most[l])};
    for (; i < size; ++i) range = {std::min(range.least, values[i]), std::max(range.most, values[i])};
    return range;
}

// How many are not above one.
template <std::size_t Bytes>
VISUAL_SEARCH_INLINE std::size_t count_within(const float* values, std::size_t size, float most) {
    constexpr std::size_t width = Bytes / sizeof(float);
    Register<std::int32_t, Bytes> counts = {};
    const Register<float, Bytes> all = most - Register<float, Bytes>{};
    std::size_t i = 0, count = 0;
#pragma GCC unroll 8
    for (; i + width <= size; i += width) {
        Register<float, Bytes> some;
        load(some, values + i);
        counts -= some <= all;
    }
    for (std::size_t l = 0; l < width; ++l) count += std::size_t(counts[l]);
    for (; i < size; ++i) count += values[i] <= most;
    return count;
}

// Infinity where halving does not find one. `spare` is how many more than k are good enough. `leave` may move numbers that are
// not above one to the front, and tells how many there are to go on with.
template <std::size_t Bytes, class Values, class Leave>
VISUAL_SEARCH_INLINE float within_which(Values values, std::size_t size, std::size_t k, std::size_t spare, Leave leave) {
    constexpr int halvings = 20;
    constexpr float far = 1e38F;
    auto [below, above] = range_of<Bytes>(values, size);
    if (!(below > -far && above < far && count_within<Bytes>(values, size, above) >= k)) {
        return std::numeric_limits<float>::infinity();
    }
    for (int i = 0; i < halvings; ++i) {
        const float middle = below + (above - below) / 2;
        const std::size_t count = count_within<Bytes>(values, size, middle);
        (count >= k ? above : below) = middle;
        if (count >= k && count <= k + spare) break;
        if (count >= k) size = leave(values, size, above);
    }
    return above;
}

template <std::size_t Bytes>
VISUAL_SEARCH_INLINE float within_which(const float* values, std::size_t size, std::size_t k, std::size_t spare) {
    return within_which<Bytes>(values, size, k, spare, [](const float*, std::size_t all, float) { return all; });
}

using WithinWhich = float (*)(const float* values, std::size_t size, std::size_t k, std::size_t spare);

inline float within_which_anywhere(const float* values, std::size_t size, std::size_t k, std::size_t spare) {
    return within_which<any_register>(values, size, k, spare);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline float within_which_by_avx2(const float* values, std::size_t size, std::size_t k,
                                                                  std::size_t spare) {
    return within_which<avx2_register>(values, size, k, spare);
}

VISUAL_SEARCH_AVX512 inline float within_which_by_avx512(const float* values, std::size_t size, std::size_t k,
                                                         std::size_t spare) {
    return within_which<avx512_register>(values, size, k, spare);
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
