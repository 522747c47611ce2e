// How many codes of a gallery are nearer than, and as near as, each judged one, in Hamming distance.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "processors.hpp"

namespace kernels {

// Distances of one code to `count` others, each of `words` words.
template <class Distance>
VISUAL_SEARCH_INLINE void distances_over(const std::uint64_t* code, const std::uint64_t* others, std::size_t count,
                                         std::size_t words, Distance* distances) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t sum = 0;
        for (std::size_t w = 0; w < words; ++w) {
            sum += static_cast<std::uint64_t>(__builtin_popcountll(code[w] ^ others[i * words + w]));
        }
        distances[i] = static_cast<Distance>(sum);
    }
}

// The same, with the usual lengths as constants: only where the words of a code are known are codes taken abreast.
template <class Distance>
VISUAL_SEARCH_INLINE void distances_in_words(const std::uint64_t* code, const std::uint64_t* others,
                                             std::size_t count, std::size_t words, Distance* distances) {
    if (words == 1) distances_over(code, others, count, 1, distances);
    else if (words == 2) distances_over(code, others, count, 2, distances);
    else if (words == 4) distances_over(code, others, count, 4, distances);
    else distances_over(code, others, count, words, distances);
}

inline void distances_anywhere(const std::uint64_t* code, const std::uint64_t* others, std::size_t count,
                               std::size_t words, std::uint32_t* distances) {
    distances_in_words(code, others, count, words, distances);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
// Counting bits takes an instruction where there is one, and some twenty where there is none.
__attribute__((target("popcnt"))) inline void distances_by_popcnt(const std::uint64_t* code,
                                                                  const std::uint64_t* others, std::size_t count,
                                                                  std::size_t words, std::uint32_t* distances) {
    distances_in_words(code, others, count, words, distances);
}
__attribute__((target("avx512f,avx512vl,avx512bw,avx512vpopcntdq"))) inline void distances_by_avx512(
    const std::uint64_t* code, const std::uint64_t* others, std::size_t count, std::size_t words,
    std::uint32_t* distances) {
    distances_in_words(code, others, count, words, distances);
}
#endif

using Distances = void (*)(const std::uint64_t*, const std::uint64_t*, std::size_t, std::size_t, std::uint32_t*);

inline Distances fastest_distances() {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    switch (bit_counting()) {
        case BitCounting::avx512: return distances_by_avx512;
        case BitCounting::popcnt: return distances_by_popcnt;
        case BitCounting::any: break;
    }
#endif
    return distances_anywhere;
}

class CodeCounter {
  public:
    // Writes entry, above and tied of the judged entries of a query that are not ignored, by rising distance and then as
    // given. The query's entries are begin .. end of `columns` and `ignored`.
    void count(const std::uint64_t* code, const std::uint64_t* gallery, std::size_t size, std::size_t words,
               const std::int64_t* columns, const std::uint8_t* ignored, std::int64_t begin, std::int64_t end,
               std::int64_t* entry, std::int64_t* above, std::int64_t* tied) {
        const std::size_t distances = 64 * words + 1;
        // Four counts in turn, so that equal distances in a row do not wait for each other.
        counts_.assign(4 * distances, 0);
        std::uint32_t near[chunk];
        for (std::size_t first = 0; first < size; first += chunk) {
            const std::size_t some = std::min(chunk, size - first);
            distances_(code, gallery + first * words, some, words, near);
            for (std::size_t i = 0; i < some; ++i) ++counts_[4 * near[i] + i % 4];
        }
        hits_.assign(distances + 1, 0);
        const auto distance_of = [&](std::int64_t e) {
            std::uint32_t distance = 0;
            distances_(code, gallery + std::size_t(columns[e]) * words, 1, words, &distance);
            return std::size_t(distance);
        };
        judged_.clear();
        for (std::int64_t e = begin; e < end; ++e) {
            const std::size_t distance = distance_of(e);
            judged_.push_back(static_cast<std::uint32_t>(distance));
            if (ignored[e]) --counts_[4 * distance];  // may go below 0 in one of the four, not in their sum
            else ++hits_[distance + 1];
        }
        for (std::size_t d = 0; d < distances; ++d) hits_[d + 1] += hits_[d];  // where the hits of each distance begin
        nearer_.assign(distances, 0);
        level_.assign(distances, 0);
        std::int64_t sum = 0;
        for (std::size_t d = 0; d < distances; ++d) {
            std::uint32_t same = 0;
            for (std::size_t part = 0; part < 4; ++part) same += counts_[4 * d + part];
            nearer_[d] = sum;
            level_[d] = same;
            sum += same;
        }
        for (std::int64_t e = begin; e < end; ++e) {
            if (ignored[e]) continue;
            const std::size_t distance = judged_[std::size_t(e - begin)];
            const std::size_t at = hits_[distance]++;
            entry[at] = e;
            above[at] = nearer_[distance];
            tied[at] = level_[distance];
        }
    }

  private:
    static constexpr std::size_t chunk = 1024;
    const Distances distances_ = fastest_distances();
    std::vector<std::uint32_t> counts_;
    std::vector<std::size_t> hits_;
    std::vector<std::uint32_t> judged_;
    std::vector<std::int64_t> nearer_, level_;
};

}  // namespace kernels
