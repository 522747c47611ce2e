// What Python sees of counting ranks and codes. Every loop runs without the interpreter's lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "arrays.hpp"
#include "codes.hpp"
#include "joint_codes.hpp"
#include "label_codes.hpp"
#include "ranks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernels {

namespace {

// Whether the judged columns lie in rows of `size` items, and the hits of rows first .. last fit where they go.
bool fits(std::size_t rows, std::size_t size, In<std::int64_t> offsets, In<std::int64_t> columns, In<bool> ignored,
          In<std::int64_t> places, std::int64_t first, std::int64_t last, std::size_t room) {
    bool sound = 0 <= first && first <= last && last <= static_cast<std::int64_t>(rows) &&
                 size < (std::size_t(1) << 32) && offsets.size() == rows + 1 && places.size() == rows + 1 &&
                 offsets(0) >= 0 && offsets(rows) <= static_cast<std::int64_t>(columns.size()) &&
                 ignored.size() == columns.size() && std::is_sorted(offsets.data(), offsets.data() + rows + 1) &&
                 places(0) >= 0 && places(rows) <= static_cast<std::int64_t>(room);
    for (std::int64_t row = first; sound && row < last; ++row) {
        std::int64_t hits = 0;
        for (std::int64_t e = offsets(row); e < offsets(row + 1); ++e) {
            hits += !ignored(e);
            sound = sound && columns(e) >= 0 && columns(e) < static_cast<std::int64_t>(size);
        }
        sound = sound && places(row + 1) - places(row) == hits;
    }
    return sound;
}

// Rows first .. last; the hits of row r are written from places[r] on.
void count_ranks(InMatrix<float> similarity, In<std::int64_t> offsets, In<std::int64_t> columns, In<bool> ignored,
                 In<std::int64_t> places, std::int64_t first, std::int64_t last,
                 Into<std::int64_t> entry, Into<std::int64_t> above, Into<std::int64_t> tied) {
    const std::size_t size = similarity.shape(1);
    const bool sound = above.size() == entry.size() && tied.size() == entry.size() &&
                       fits(similarity.shape(0), size, offsets, columns, ignored, places, first, last, entry.size());
    if (!sound) throw std::invalid_argument("similarity, judged columns and places do not fit");
    const nb::gil_scoped_release unlocked;
    RankCounter counter;
    for (std::int64_t row = first; row < last; ++row) {
        counter.count(similarity.data() + std::size_t(row) * size, size, columns.data(),
                      reinterpret_cast<const std::uint8_t*>(ignored.data()), offsets(row), offsets(row + 1),
                      entry.data() + places(row), above.data() + places(row), tied.data() + places(row));
    }
}

// As count_ranks, for codes of whole words.
void count_code_ranks(InMatrix<std::uint64_t> queries, InMatrix<std::uint64_t> gallery, In<std::int64_t> offsets,
                      In<std::int64_t> columns, In<bool> ignored, In<std::int64_t> places, std::int64_t first,
                      std::int64_t last, Into<std::int64_t> entry, Into<std::int64_t> above,
                      Into<std::int64_t> tied) {
    const std::size_t size = gallery.shape(0);
    const std::size_t words = gallery.shape(1);
    const bool sound = above.size() == entry.size() && tied.size() == entry.size() && queries.shape(1) == words &&
                       words > 0 && words < (std::size_t(1) << 20) &&
                       fits(queries.shape(0), size, offsets, columns, ignored, places, first, last, entry.size());
    if (!sound) throw std::invalid_argument("codes, judged columns and places do not fit");
    const nb::gil_scoped_release unlocked;
    CodeCounter counter;
    for (std::int64_t row = first; row < last; ++row) {
        counter.count(queries.data() + std::size_t(row) * words, gallery.data(), size, words, columns.data(),
                      reinterpret_cast<const std::uint8_t*>(ignored.data()), offsets(row), offsets(row + 1),
                      entry.data() + places(row), above.data() + places(row), tied.data() + places(row));
    }
}

// Rows first .. last of `into`, of shape (queries, distances, levels), are written.
void count_labelled_codes(InMatrix<std::uint64_t> queries, InMatrix<std::uint64_t> gallery,
                          InMatrix<std::uint64_t> query_labels, InMatrix<std::uint64_t> gallery_labels, int rule,
                          In<std::int64_t> own, std::int64_t first, std::int64_t last,
                          nb::ndarray<std::int64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu> into) {
    const std::size_t n = queries.shape(0), size = gallery.shape(0), words = gallery.shape(1);
    const std::size_t distances = into.shape(1), levels = into.shape(2);
    bool sound = queries.shape(1) == words && words > 0 && words < (std::size_t(1) << 20) &&
                 query_labels.shape(0) == n && gallery_labels.shape(0) == size && own.size() == n &&
                 query_labels.shape(1) == gallery_labels.shape(1) && gallery_labels.shape(1) > 0 && rule >= 0 &&
                 rule <= 2 && into.shape(0) == n && distances == 64 * words + 1 && size < (std::size_t(1) << 32) &&
                 levels >= (rule == 2 ? 64 * gallery_labels.shape(1) + 1 : 2) &&
                 distances * levels < (std::size_t(1) << 32) && 0 <= first && first <= last &&
                 last <= static_cast<std::int64_t>(n);
    for (std::int64_t row = first; sound && row < last; ++row) {
        sound = own(row) >= -1 && own(row) < static_cast<std::int64_t>(size);
    }
    if (!sound) throw std::invalid_argument("codes, labels and histogram do not fit");
    const nb::gil_scoped_release unlocked;
    const LabelledGallery all{gallery.data(), words, gallery_labels.data(), gallery_labels.shape(1), size};
    const std::size_t cells = distances * levels;
    const auto query = [&](std::int64_t row) {
        return LabelledCode{queries.data() + std::size_t(row) * words,
                            query_labels.data() + std::size_t(row) * all.label_words};
    };
    const auto histogram = [&](std::int64_t row) { return into.data() + std::size_t(row) * cells; };
    LabelHistogram single(static_cast<LabelRule>(rule), cells, static_cast<std::uint32_t>(levels));
    std::int64_t row = first;
    if (JointHistogram::pays(cells, size)) {
        JointHistogram joint(static_cast<LabelRule>(rule), cells, static_cast<std::uint32_t>(levels));
        for (; row + 1 < last; row += 2) {
            const LabelledCode two[2] = {query(row), query(row + 1)};
            joint.count(two, all, histogram(row), histogram(row + 1));
        }
    }
    for (; row < last; ++row) single.count(query(row), all, histogram(row));
    for (row = first; row < last; ++row) {
        if (own(row) >= 0) --histogram(row)[single.cell(query(row), all, std::size_t(own(row)))];
    }
}

}  // namespace

void bind_counts(nb::module_& module) {
    module.def("count_ranks", &count_ranks, "similarity"_a.noconvert(), "offsets"_a.noconvert(),
               "columns"_a.noconvert(), "ignored"_a.noconvert(), "places"_a.noconvert(), "first"_a, "last"_a,
               "entry"_a.noconvert(), "above"_a.noconvert(), "tied"_a.noconvert());
    module.def("count_code_ranks", &count_code_ranks, "queries"_a.noconvert(), "gallery"_a.noconvert(),
               "offsets"_a.noconvert(), "columns"_a.noconvert(), "ignored"_a.noconvert(), "places"_a.noconvert(),
               "first"_a, "last"_a, "entry"_a.noconvert(), "above"_a.noconvert(), "tied"_a.noconvert());
    module.def("count_labelled_codes", &count_labelled_codes, "queries"_a.noconvert(), "gallery"_a.noconvert(),
               "query_labels"_a.noconvert(), "gallery_labels"_a.noconvert(), "rule"_a, "own"_a.noconvert(), "first"_a,
               "last"_a, "into"_a.noconvert());
}

}  // namespace kernels
