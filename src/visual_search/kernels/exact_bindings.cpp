// What Python sees of exact distances and of the int8 screen. Every loop runs without the interpreter's lock.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "nearest.hpp"
#include "pack.hpp"
#include "pairs.hpp"
#include "peak.hpp"
#include "query_codes.hpp"
#include "screen.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernels {

namespace {

template <class T>
void some_pair_distances(InMatrix<T> gallery, InMatrix<T> queries, In<std::int64_t> rows, In<std::int64_t> query_of,
                         int metric, std::size_t first, std::size_t last, Into<double> distances) {
    const auto within = [](In<std::int64_t> places, std::size_t size) {
        return std::all_of(places.data(), places.data() + places.size(), [size](std::int64_t place) {
            return place >= 0 && place < static_cast<std::int64_t>(size);
        });
    };
    const bool sound = gallery.shape(1) == queries.shape(1) && gallery.shape(1) > 0 && first <= last &&
                       last <= gallery.shape(0) && rows.size() == query_of.size() && rows.size() == distances.size() &&
                       rows.size() < (std::size_t(1) << 32) && metric >= 0 && metric <= 2 && within(rows, gallery.shape(0)) &&
                       within(query_of, queries.shape(0));
    if (!sound) throw std::invalid_argument("gallery, queries and pairs do not fit");
    const nb::gil_scoped_release unlocked;
    const Pairs<T> pairs{gallery.data(), queries.data(), gallery.shape(1), rows.data(), query_of.data(),
                         distances.data()};
    pair_distances(pairs, static_cast<Metric>(metric), rows.size(), first, last);
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

void some_packed(InMatrix<float> rows, In<float> centre, double growth, std::size_t first, std::size_t last,
                 int processor_number, Codes codes, Floats half_square, Floats inverse, Floats error, Floats length,
                 Into<std::int32_t> bias) {
    const std::size_t d = rows.shape(1);
    const PackedRows to =
        packed_rows(codes, half_square, inverse, error, length, bias, rows.shape(0), (d + 3) / 4);
    if (centre.size() != d || first > last || last > rows.shape(0) || d > (std::size_t(1) << 16) || processor_number < 0 ||
        processor_number > static_cast<int>(processor())) {
        throw std::invalid_argument("rows and centre do not fit");
    }
    const nb::gil_scoped_release unlocked;
    pack_rows({rows.data(), centre.data(), d}, to, growth, {first, last}, static_cast<Processor>(processor_number));
}

void some_coded(InMatrix<double> queries, int most, std::size_t first, std::size_t last, IntoMatrix<std::uint8_t> codes,
                Into<double> scale, IntoMatrix<double> sums) {
    const std::size_t n = queries.shape(0), d = queries.shape(1);
    const bool sound = first <= last && last <= n && codes.shape(0) == n && codes.shape(1) >= d && scale.size() == n &&
                       sums.shape(0) == n && sums.shape(1) == 3 && most > 0 && most < 128;
    if (!sound) throw std::invalid_argument("queries and their codes do not fit");
    const nb::gil_scoped_release unlocked;
    code_queries(queries.data(), d, most, first, last, {codes.data(), codes.shape(1), scale.data(), sums.data()});
}

// The queries first .. last and their candidates among the rows that have been seen.
class RowScreen {
  public:
    RowScreen(InMatrix<std::uint8_t> codes, bool half, InMatrix<double> facts, const ScreenOptions& options,
              std::size_t first, std::size_t last)
        : codes_(std::move(codes)), options_(options), first_(first), spare_((last - first) / 8 * options.room) {
        const bool sound = codes_.shape(1) % 4 == 0 && codes_.shape(1) > 0 && codes_.shape(0) == facts.shape(0) &&
                           facts.shape(1) == 5 && first <= last && last <= codes_.shape(0) && options.k > 0 &&
                           options.room > 1 && options.supposed >= 0 && (half || options.processor != Processor::avx2);
        if (!sound) throw std::invalid_argument("the parts of queries do not fit");
        screens_.reserve(last - first);
        for (std::size_t q = first; q < last; ++q) {
            const double* const fact = facts.data() + 5 * q;
            screens_.emplace_back(Question{codes_.data() + q * codes_.shape(1), half, fact[0], fact[1], fact[2], fact[3],
                                           fact[4]},
                                  options_, spare_);
        }
    }
    // Each query's screen refers to the options and the spare room here.
    RowScreen(const RowScreen&) = delete;
    RowScreen& operator=(const RowScreen&) = delete;

    void see(nb::tuple packed, std::size_t count, std::int64_t first, InMatrix<double> allowed) {
        const PackedRows rows =
            packed_rows(nb::cast<Codes>(packed[0]), nb::cast<Floats>(packed[1]), nb::cast<Floats>(packed[2]),
                        nb::cast<Floats>(packed[3]), nb::cast<Floats>(packed[4]),
                        nb::cast<Into<std::int32_t>>(packed[5]), count, codes_.shape(1) / 4);
        constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
        const bool sound = allowed.shape(0) == screens_.size() && allowed.shape(1) == 2 && first >= 0 && first <= most &&
                           count <= std::size_t(most - first);
        if (!sound) throw std::invalid_argument("packed rows and queries do not fit");
        const nb::gil_scoped_release unlocked;
        for (std::size_t q = 0; q < screens_.size(); ++q) screens_[q].allow(allowed(q, 0), allowed(q, 1));
        screen_rows(rows, static_cast<std::uint32_t>(first), screens_, options_);
    }

    // How many of the rows that have been seen are left for each query, for which there was no room, and what each k-th is
    // supposed not to be above. No rows come after that.
    void close(Into<std::int64_t> counts, Into<std::uint8_t> full, Into<double> supposed) {
        if (given_ || !fits(counts.size()) || !fits(full.size()) || !fits(supposed.size())) {
            throw std::invalid_argument("queries do not fit, or their rows have been given");
        }
        const nb::gil_scoped_release unlocked;
        for (std::size_t q = 0; q < screens_.size(); ++q) {
            counts(first_ + q) = static_cast<std::int64_t>(screens_[q].left());
            full(first_ + q) = screens_[q].full();
            supposed(first_ + q) = screens_[q].supposed();
        }
    }

    // The rows that are left and their queries, one after the other from the place `begin` on; they are given away.
    void give(Into<std::int64_t> rows, Into<std::int64_t> query_of, std::size_t begin) {
        std::size_t count = 0;
        for (const QueryScreen& screen : screens_) count += screen.candidates().size();
        if (rows.size() != query_of.size() || begin > rows.size() || count > rows.size() - begin) {
            throw std::invalid_argument("rows do not fit");
        }
        given_ = true;
        const nb::gil_scoped_release unlocked;
        for (std::size_t q = 0; q < screens_.size(); ++q) {
            const Candidates& mine = screens_[q].candidates();
            std::copy(mine.rows(), mine.rows() + mine.size(), rows.data() + begin);
            std::fill_n(query_of.data() + begin, mine.size(), static_cast<std::int64_t>(first_ + q));
            begin += mine.size();
        }
        screens_.clear();
    }

  private:
    bool fits(std::size_t queries) const { return queries == codes_.shape(0); }

    InMatrix<std::uint8_t> codes_;
    ScreenOptions options_;
    std::size_t first_, spare_;
    bool given_ = false;
    std::vector<QueryScreen> screens_;
};

void make_row_screen(RowScreen* place, InMatrix<std::uint8_t> codes, bool half, InMatrix<double> facts, std::size_t k,
                     bool euclidean, double growth, std::size_t room, double supposed, int processor_number, std::size_t first,
                     std::size_t last) {
    if (processor_number < 0 || processor_number > static_cast<int>(processor())) {
        throw std::invalid_argument("there are no such instructions");
    }
    new (place) RowScreen(std::move(codes), half, std::move(facts),
                          {k, euclidean, growth, room, supposed, static_cast<Processor>(processor_number)}, first, last);
}

// Pairs whose queries are not parted at `first` and `last`.
void merge_nearest(IntoMatrix<double> distances, IntoMatrix<std::int64_t> rows, Into<double> dropped, std::size_t k,
                   In<std::int64_t> query_of, In<std::int64_t> new_rows, In<double> new_distances, std::size_t first,
                   std::size_t last) {
    const std::size_t queries = distances.shape(0), width = distances.shape(1);
    const bool sound = rows.shape(0) == queries && rows.shape(1) == width && dropped.size() == queries && k > 0 &&
                       k <= width && first <= last && last <= query_of.size() && new_rows.size() == query_of.size() &&
                       new_distances.size() == query_of.size() &&
                       std::all_of(query_of.data() + first, query_of.data() + last, [queries](std::int64_t query) {
                           return query >= 0 && query < static_cast<std::int64_t>(queries);
                       });
    if (!sound) throw std::invalid_argument("pairs and the nearest do not fit");
    const nb::gil_scoped_release unlocked;
    NearestMerger({distances.data(), rows.data(), dropped.data(), k, width})
        .merge({query_of.data(), new_rows.data(), new_distances.data()}, first, last);
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
               "processor"_a, "codes"_a.noconvert(), "half_square"_a.noconvert(), "inverse"_a.noconvert(), "error"_a.noconvert(),
               "length"_a.noconvert(), "bias"_a.noconvert());
    module.def("code_queries", &some_coded, "queries"_a.noconvert(), "most"_a, "first"_a, "last"_a, "codes"_a.noconvert(),
               "scale"_a.noconvert(), "sums"_a.noconvert());
    nb::class_<RowScreen>(module, "RowScreen")
        .def("__init__", &make_row_screen, "codes"_a.noconvert(), "half"_a, "facts"_a.noconvert(), "k"_a, "euclidean"_a,
             "growth"_a, "room"_a, "supposed"_a, "processor"_a, "first"_a, "last"_a)
        .def("see", &RowScreen::see, "packed"_a, "count"_a, "first"_a, "allowed"_a.noconvert())
        .def("close", &RowScreen::close, "counts"_a.noconvert(), "full"_a.noconvert(), "supposed"_a.noconvert())
        .def("give", &RowScreen::give, "rows"_a.noconvert(), "query_of"_a.noconvert(), "begin"_a);
    module.def("merge_nearest", &merge_nearest, "distances"_a.noconvert(), "rows"_a.noconvert(), "dropped"_a.noconvert(),
               "k"_a, "query_of"_a.noconvert(), "new_rows"_a.noconvert(), "new_distances"_a.noconvert(), "first"_a,
               "last"_a);
    module.def("multiply_registers", &multiply_registers, "rounds"_a, nb::call_guard<nb::gil_scoped_release>());
    module.def("processor", [] { return static_cast<int>(processor()); });
}

}  // namespace kernels
