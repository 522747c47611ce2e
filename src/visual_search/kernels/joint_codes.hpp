// Histograms of two queries at once.
//
// An item adds one to the cell whose row is its cell for one query and whose column is its cell for the other; the sums
// along rows and columns are the two histograms. Adding is what takes the time, and there is half as much of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "label_codes.hpp"

namespace kernels {

struct JointTable {
    std::uint32_t levels;
    std::size_t cells;      // of one query
    std::size_t stride;     // cells of a row, whole vectors
    std::uint16_t* counts;  // rows of cells, and one more of the sums along columns
};

// Adds the sums along rows and columns to the histograms of both, and leaves the table empty.
VISUAL_SEARCH_INLINE void take_margins(const JointTable& table, std::int64_t* one, std::int64_t* other) {
    std::uint16_t* const columns = table.counts + table.cells * table.stride;
    std::fill(columns, columns + table.stride, 0);
    for (std::size_t r = 0; r < table.cells; ++r) {
        std::uint16_t* const row = table.counts + r * table.stride;
        std::uint16_t sum = 0;
        for (std::size_t c = 0; c < table.stride; ++c) {
            sum = static_cast<std::uint16_t>(sum + row[c]);
            columns[c] = static_cast<std::uint16_t>(columns[c] + row[c]);
            row[c] = 0;
        }
        one[r] += sum;
    }
    for (std::size_t c = 0; c < table.cells; ++c) other[c] += columns[c];
}

template <LabelRule rule>
VISUAL_SEARCH_INLINE void count_two(const LabelledCode* two, const LabelledGallery& gallery, const JointTable& table,
                                    std::int64_t* one, std::int64_t* other) {
    constexpr std::size_t most = 65535;  // items between two takings of sums, which then have 16 bits
    constexpr std::size_t chunk = 1024, unrolled = 8;
    std::uint16_t place[chunk], column[chunk];
    for (std::size_t begin = 0; begin < gallery.size; begin += most) {
        const std::size_t end = std::min(begin + most, gallery.size);
        for (std::size_t first = begin; first < end; first += chunk) {
            const std::size_t some = std::min(chunk, end - first);
            cells_of<rule>(two[0], gallery, first, some, table.levels, place);
            cells_of<rule>(two[1], gallery, first, some, table.levels, column);
            for (std::size_t i = 0; i < some; ++i) {
                place[i] = static_cast<std::uint16_t>(place[i] * table.stride + column[i]);
            }
            std::size_t i = 0;
            for (; i + unrolled <= some; i += unrolled) {
                for (std::size_t j = 0; j < unrolled; ++j) ++table.counts[place[i + j]];
            }
            for (; i < some; ++i) ++table.counts[place[i]];
        }
        take_margins(table, one, other);
    }
}

using CountTwo = void (*)(const LabelledCode*, const LabelledGallery&, const JointTable&, std::int64_t*,
                          std::int64_t*);

template <LabelRule rule>
void count_two_anywhere(const LabelledCode* two, const LabelledGallery& gallery, const JointTable& table,
                        std::int64_t* one, std::int64_t* other) {
    count_two<rule>(two, gallery, table, one, other);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
template <LabelRule rule>
__attribute__((target("popcnt"))) void count_two_by_popcnt(const LabelledCode* two, const LabelledGallery& gallery,
                                                           const JointTable& table, std::int64_t* one,
                                                           std::int64_t* other) {
    count_two<rule>(two, gallery, table, one, other);
}
template <LabelRule rule>
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq"))) void count_two_by_avx512(
    const LabelledCode* two, const LabelledGallery& gallery, const JointTable& table, std::int64_t* one,
    std::int64_t* other) {
    count_two<rule>(two, gallery, table, one, other);
}
#endif

template <LabelRule rule>
CountTwo fastest_count_two() {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    switch (bit_counting()) {
        case BitCounting::avx512: return count_two_by_avx512<rule>;
        case BitCounting::popcnt: return count_two_by_popcnt<rule>;
        case BitCounting::any: break;
    }
#endif
    return count_two_anywhere<rule>;
}

class JointHistogram {
  public:
    JointHistogram(LabelRule rule, std::size_t cells, std::uint32_t levels)
        : count_two_(rule == LabelRule::any_shared ? fastest_count_two<LabelRule::any_shared>()
                     : rule == LabelRule::equal    ? fastest_count_two<LabelRule::equal>()
                                                   : fastest_count_two<LabelRule::number_shared>()),
          counts_((cells + 1) * stride_of(cells), 0),
          table_{levels, cells, stride_of(cells), counts_.data()} {}

    // Whether there are as many items as make up for the sums, and places have 16 bits: codes of 64 bits, two levels.
    static bool pays(std::size_t cells, std::size_t items) {
        return cells * stride_of(cells) <= 65536 && items >= cells * cells / 4;
    }

    // Writes how many items are in each cell for two queries.
    void count(const LabelledCode* two, const LabelledGallery& gallery, std::int64_t* one, std::int64_t* other) {
        std::fill(one, one + table_.cells, 0);
        std::fill(other, other + table_.cells, 0);
        count_two_(two, gallery, table_, one, other);
    }

  private:
    static std::size_t stride_of(std::size_t cells) { return (cells + 31) / 32 * 32; }
    const CountTwo count_two_;
    std::vector<std::uint16_t> counts_;
    const JointTable table_;
};

}  // namespace kernels
