// How many codes of a gallery are at each distance from a code, by how relevant their labels make them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "codes.hpp"

namespace kernels {

// What two rows of label words have to do with each other: the numbers of LABEL_RULES in joined.py.
enum class LabelRule { any_shared = 0, equal = 1, number_shared = 2 };

// Turns distances into cells of the histogram: distance * levels + grade.
template <LabelRule rule, class Cell>
VISUAL_SEARCH_INLINE void into_cells(const std::uint64_t* mine, const std::uint64_t* labels, std::size_t count,
                                     std::size_t words, std::uint32_t levels, Cell* cells) {
    if (words == 1) {
        const std::uint64_t own = mine[0];
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t grade;
            if (rule == LabelRule::any_shared) grade = (own & labels[i]) != 0;
            else if (rule == LabelRule::equal) grade = own == labels[i];
            else grade = static_cast<std::uint32_t>(__builtin_popcountll(own & labels[i]));
            cells[i] = static_cast<Cell>(cells[i] * levels + grade);
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t common = 0, differ = 0;
        std::uint32_t shared = 0;
        for (std::size_t w = 0; w < words; ++w) {
            const std::uint64_t both = mine[w] & labels[i * words + w];
            common |= both;
            differ |= mine[w] ^ labels[i * words + w];
            if (rule == LabelRule::number_shared) shared += static_cast<std::uint32_t>(__builtin_popcountll(both));
        }
        if (rule == LabelRule::any_shared) shared = common != 0;
        if (rule == LabelRule::equal) shared = differ == 0;
        cells[i] = static_cast<Cell>(cells[i] * levels + shared);
    }
}

struct LabelledGallery {
    const std::uint64_t* codes;
    std::size_t code_words;
    const std::uint64_t* labels;
    std::size_t label_words;
    std::size_t size;
};

struct LabelledCode {
    const std::uint64_t* code;
    const std::uint64_t* labels;
};

// Cells of the gallery items first .. first + count for one query.
template <LabelRule rule, class Cell>
VISUAL_SEARCH_INLINE void cells_of(const LabelledCode& query, const LabelledGallery& gallery, std::size_t first,
                                   std::size_t count, std::uint32_t levels, Cell* cells) {
    distances_in_words(query.code, gallery.codes + first * gallery.code_words, count, gallery.code_words, cells);
    into_cells<rule>(query.labels, gallery.labels + first * gallery.label_words, count, gallery.label_words, levels,
                     cells);
}

using Cells = void (*)(const LabelledCode&, const LabelledGallery&, std::size_t, std::size_t, std::uint32_t,
                       std::uint32_t*);

template <LabelRule rule>
void cells_anywhere(const LabelledCode& query, const LabelledGallery& gallery, std::size_t first, std::size_t count,
                    std::uint32_t levels, std::uint32_t* cells) {
    cells_of<rule>(query, gallery, first, count, levels, cells);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
template <LabelRule rule>
__attribute__((target("popcnt"))) void cells_by_popcnt(const LabelledCode& query, const LabelledGallery& gallery,
                                                       std::size_t first, std::size_t count, std::uint32_t levels,
                                                       std::uint32_t* cells) {
    cells_of<rule>(query, gallery, first, count, levels, cells);
}
template <LabelRule rule>
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512vpopcntdq"))) void cells_by_avx512(
    const LabelledCode& query, const LabelledGallery& gallery, std::size_t first, std::size_t count,
    std::uint32_t levels, std::uint32_t* cells) {
    cells_of<rule>(query, gallery, first, count, levels, cells);
}
#endif

template <LabelRule rule>
Cells fastest_cells() {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    switch (bit_counting()) {
        case BitCounting::avx512: return cells_by_avx512<rule>;
        case BitCounting::popcnt: return cells_by_popcnt<rule>;
        case BitCounting::any: break;
    }
#endif
    return cells_anywhere<rule>;
}

inline Cells fastest_cells(LabelRule rule) {
    if (rule == LabelRule::any_shared) return fastest_cells<LabelRule::any_shared>();
    if (rule == LabelRule::equal) return fastest_cells<LabelRule::equal>();
    return fastest_cells<LabelRule::number_shared>();
}

class LabelHistogram {
  public:
    LabelHistogram(LabelRule rule, std::size_t cells, std::uint32_t levels)
        : cells_of_(fastest_cells(rule)), size_(cells), levels_(levels) {}

    // Writes how many items are in each cell.
    void count(const LabelledCode& query, const LabelledGallery& gallery, std::int64_t* into) {
        // Eight counts in turn, so that equal cells in a row do not wait for each other.
        counts_.assign(parts * size_, 0);
        std::uint32_t* part[parts];
        for (std::size_t p = 0; p < parts; ++p) part[p] = counts_.data() + p * size_;
        std::uint32_t cells[chunk];
        for (std::size_t first = 0; first < gallery.size; first += chunk) {
            const std::size_t some = std::min(chunk, gallery.size - first);
            cells_of_(query, gallery, first, some, levels_, cells);
            std::size_t i = 0;
            for (; i + parts <= some; i += parts) {
                for (std::size_t p = 0; p < parts; ++p) ++part[p][cells[i + p]];
            }
            for (; i < some; ++i) ++part[0][cells[i]];
        }
        for (std::size_t c = 0; c < size_; ++c) {
            into[c] = 0;
            for (std::size_t p = 0; p < parts; ++p) into[c] += part[p][c];
        }
    }

    // The cell of one item.
    std::size_t cell(const LabelledCode& query, const LabelledGallery& gallery, std::size_t item) const {
        std::uint32_t found = 0;
        cells_of_(query, gallery, item, 1, levels_, &found);
        return found;
    }

  private:
    static constexpr std::size_t chunk = 1024;
    static constexpr std::size_t parts = 8;
    const Cells cells_of_;
    const std::size_t size_;
    const std::uint32_t levels_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace kernels
