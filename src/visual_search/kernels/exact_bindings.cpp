// What Python sees of exact distances and of the int8 screen. Every loop runs without the interpreter's lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "pack.hpp"
#include "pairs.hpp"
#include "screen.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernels {

namespace {

template <class T>
void some_pair_distances(InMatrix<T> gallery, InMatrix<T> queries, In<std::int64_t> rows, In<std::int64_t> query_of,
                         int metric, std::size_t first, std::size_t last, Into<double> distances) {
    const auto within = [first, last](In<std::int64_t> places, std::size_t size) {
        return std::all_of(places.data() + first, places.data() + last, [size](std::int64_t place) {
            return place >= 0 && place < static_cast<std::int64_t>(size);
        });
    };
    const bool sound = gallery.shape(1) == queries.shape(1) && gallery.shape(1) > 0 && first <= last &&
                       last <= rows.size() && rows.size() == query_of.size() && rows.size() == distances.size() && rows.size() < (std::size_t(1) << 32) &&
                       metric >= 0 && metric <= 2 && within(rows, gallery.shape(0)) &&
                       within(query_of, queries.shape(0));
    if (!sound) throw std::invalid_argument("gallery, queries and pairs do not fit");
    const nb::gil_scoped_release unlocked;
    const Pairs<T> pairs{gallery.data(), queries.data(), gallery.shape(1), rows.data(), query_of.data(),
                         distances.data()};
    pair_distances(pairs, static_cast<Metric>(metric), gallery.shape(0), first, last);
}

using Codes = Into<std::int8_t>;
using Floats = Into<float>;

PackedRows packed_rows(Codes codes, Floats half_square, Floats inverse, Floats error, Floats length,
                       Into<std::int32_t> bias, std::size_t count, std::size_t groups) {
    const std::size_t room = (count + panel_rows - 1) / panel_rows * panel_rows;
    const bool sound = codes.size() == room * groups * 4 && half_square.size() == room && inverse.size() == room &&
                       error.size() == room && length.size() == room && bias.size() == room;
    if (!sound) throw std::invalid_argument("the parts of packed rows do not fit");
    return {codes.data(), half_square.data(), inverse.data(), error.data(), length.data(), bias.data(), count, groups};
}

void some_packed(InMatrix<float> rows, In<float> centre, double growth, std::size_t first, std::size_t last, Codes codes,
                 Floats half_square, Floats inverse, Floats error, Floats length, Into<std::int32_t> bias) {
    const std::size_t d = rows.shape(1);
    const PackedRows to =
        packed_rows(codes, half_square, inverse, error, length, bias, rows.shape(0), (d + 3) / 4);
    if (centre.size() != d || first > last || last > rows.shape(0) || d > (std::size_t(1) << 16)) {
        throw std::invalid_argument("rows and centre do not fit");
    }
    const nb::gil_scoped_release unlocked;
    pack_rows({rows.data(), centre.data(), d}, to, growth, first, last);
}

// Candidates of the queries first .. last: (how many each, rows, lower bounds, where there was no room, limits).
nb::tuple some_screened(nb::tuple packed, std::size_t count, InMatrix<std::uint8_t> codes, InMatrix<double> facts,
                        std::size_t k, bool euclidean, double ratio, double growth, std::size_t room, std::size_t first,
                        std::size_t last, int processor_number) {
    const std::size_t groups = codes.shape(1) / 4;
    const PackedRows rows =
        packed_rows(nb::cast<Codes>(packed[0]), nb::cast<Floats>(packed[1]), nb::cast<Floats>(packed[2]),
                    nb::cast<Floats>(packed[3]), nb::cast<Floats>(packed[4]),
                    nb::cast<Into<std::int32_t>>(packed[5]), count, groups);
    const bool sound = codes.shape(1) % 4 == 0 && groups > 0 && codes.shape(0) == facts.shape(0) &&
                       facts.shape(1) == 6 && first <= last && last <= codes.shape(0) && k > 0 && room > 1 &&
                       processor_number >= 0 && processor_number <= static_cast<int>(processor());
    if (!sound) throw std::invalid_argument("packed rows and queries do not fit");
    std::vector<std::int64_t> counts, found;
    std::vector<double> lower;
    std::vector<std::uint8_t> full;
    {
        const nb::gil_scoped_release unlocked;
        const ScreenOptions options{k, euclidean, ratio, growth, room};
        std::vector<QueryScreen> screens;
        screens.reserve(last - first);
        for (std::size_t q = first; q < last; ++q) {
            const double* const fact = facts.data() + 6 * q;
            screens.emplace_back(Question{codes.data() + q * 4 * groups, fact[0], fact[1], fact[2], fact[3], fact[4],
                                          fact[5]},
                                 options);
        }
        screen_rows(rows, screens, ratio, static_cast<Processor>(processor_number));
        for (QueryScreen& screen : screens) {
            counts.push_back(static_cast<std::int64_t>(screen.candidates().size()));
            full.push_back(screen.full());
            for (const Candidate& one : screen.candidates()) {
                found.push_back(one.row);
                lower.push_back(one.lower);
            }
        }
    }
    return nb::make_tuple(owned(std::move(counts)), owned(std::move(found)), owned(std::move(lower)),
                          owned(std::move(full)));
}

template <class T>
void def_pair_distances(nb::module_& module) {
    module.def("pair_distances", &some_pair_distances<T>, "gallery"_a.noconvert(), "queries"_a.noconvert(),
               "rows"_a.noconvert(), "query_of"_a.noconvert(), "metric"_a, "first"_a, "last"_a,
               "distances"_a.noconvert());
}

}  // namespace

void bind_exact(nb::module_& module) {
    def_pair_distances<float>(module);
    def_pair_distances<double>(module);
    def_pair_distances<std::int8_t>(module);
    def_pair_distances<std::uint8_t>(module);
    module.def("pack_rows", &some_packed, "rows"_a.noconvert(), "centre"_a.noconvert(), "growth"_a, "first"_a, "last"_a,
               "codes"_a.noconvert(), "half_square"_a.noconvert(), "inverse"_a.noconvert(), "error"_a.noconvert(),
               "length"_a.noconvert(), "bias"_a.noconvert());
    module.def("screen_rows", &some_screened, "packed"_a, "count"_a, "codes"_a.noconvert(), "facts"_a.noconvert(),
               "k"_a, "euclidean"_a, "ratio"_a, "growth"_a, "room"_a, "first"_a, "last"_a, "processor"_a);
    module.def("processor", [] { return static_cast<int>(processor()); });
}

}  // namespace kernels
