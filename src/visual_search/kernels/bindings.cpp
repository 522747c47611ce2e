// What Python sees of the compiled kernels. Every loop runs without the interpreter's lock, but that over dictionaries.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "dict_ranks.hpp"
#include "id_join.hpp"
#include "run_join.hpp"
#include "table_reader.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kernels {

void bind_counts(nb::module_& module);
void bind_exact(nb::module_& module);

double nearest_double(const std::string& text) {
#if defined(__cpp_lib_to_chars)
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
#endif
    // Out of range, or no such function: Python reads it, to 0 or infinity where the number is too small or large.
    const nb::gil_scoped_acquire lock;
    const double slow = PyOS_string_to_double(text.c_str(), nullptr, nullptr);
    if (PyErr_Occurred()) nb::raise_python_error();
    return slow;
}

namespace {

std::string_view bytes_of(nb::handle name) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
    if (text != nullptr) return {text, static_cast<std::size_t>(size)};
    // A name that UTF-8 cannot write is in no file; the empty name never matches.
    PyErr_Clear();
    return {};
}

void make_judged(Judged* place, const nb::list& queries, const nb::list& items, In<std::int64_t> offsets,
                 In<std::int64_t> rows, In<bool> ignored) {
    auto* judged = new (place) Judged();
    for (const nb::handle name : queries) {
        const std::string_view text = bytes_of(name);
        // Queries must keep their numbers, so one without a name gets one that no field can be.
        if (!judged->queries.add(text.empty() ? "\n" + std::to_string(judged->queries.size()) : text).second) {
            throw std::invalid_argument("queries must be distinct");
        }
    }
    for (const nb::handle name : items) judged->add_item(bytes_of(name));
    judged->offsets.assign(offsets.data(), offsets.data() + offsets.size());
    judged->rows.assign(rows.data(), rows.data() + rows.size());
    judged->ignored.assign(ignored.data(), ignored.data() + ignored.size());
    const auto& o = judged->offsets;
    bool sound = o.size() == judged->queries.size() + 1 && o.front() == 0 &&
                 o.back() == static_cast<std::int64_t>(rows.size()) && ignored.size() == rows.size() &&
                 std::is_sorted(o.begin(), o.end());
    for (const std::int64_t row : judged->rows) {
        sound = sound && row >= 0 && row < static_cast<std::int64_t>(judged->item_names.size());
    }
    if (!sound) throw std::invalid_argument("offsets, rows and ignored do not fit the queries and items");
}

template <class Reader>
std::size_t feed(Reader& reader, In<std::uint8_t> block) {
    const nb::gil_scoped_release unlocked;
    return reader.feed(reinterpret_cast<const char*>(block.data()), block.size());
}

template <class Reader>
nb::list first_problems(Reader& reader) {
    nb::list found;
    for (const Problem& p : reader.problems().first()) {
        found.append(nb::make_tuple(p.line, static_cast<int>(p.fault), p.number, nb::bytes(p.text.data(), p.text.size()),
                                    nb::bytes(p.item.data(), p.item.size())));
    }
    return found;
}

nb::list as_texts(const Names& names) {
    nb::list texts;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string_view name = names[std::int64_t(i)];
        texts.append(nb::str(name.data(), name.size()));
    }
    return texts;
}

// (queries, items, query, item, value, rank), taken out of the reader.
nb::tuple table_of(TableReader& reader) {
    return nb::make_tuple(as_texts(reader.queries), as_texts(reader.items), owned(std::move(reader.query)),
                          owned(std::move(reader.item)), owned(std::move(reader.value)),
                          owned(std::move(reader.rank)));
}

nb::list unjudged_queries(const RunReader& reader) {
    nb::list found;
    for (std::size_t q = 0; q < reader.seen().size(); ++q) {
        if (reader.judged_query()[q] >= 0) continue;
        const std::string_view name = reader.seen()[std::int64_t(q)];
        found.append(nb::str(name.data(), name.size()));
    }
    return found;
}

// Lists in the order of the judged queries, and their hits: (length, ignored, listed, ends_tied, offsets, entry,
// above, tied, listed place, falling place); a query without a list has -1 in `listed`.
nb::tuple in_order(const Found& found, std::size_t queries) {
    std::vector<std::int64_t> length(queries, 0), ignored(queries, 0), listed(queries, -1), offsets(queries + 1, 0);
    std::vector<std::uint8_t> ends_tied(queries, 0);
    for (const Summary& list : found.summaries) {
        const auto q = static_cast<std::size_t>(list.query);
        length[q] = list.length;
        ignored[q] = list.ignored;
        listed[q] = list.listed;
        ends_tied[q] = list.ends_tied;
        offsets[q + 1] = list.hits;
    }
    for (std::size_t q = 0; q < queries; ++q) offsets[q + 1] += offsets[q];
    const std::size_t total = found.hits.size();
    std::vector<std::int64_t> entry(total), above(total), tied(total), place(total), falling(total);
    const Hit* hit = found.hits.data();
    for (const Summary& list : found.summaries) {
        const auto begin = static_cast<std::size_t>(offsets[std::size_t(list.query)]);
        for (std::size_t at = begin; at < begin + static_cast<std::size_t>(list.hits); ++at, ++hit) {
            entry[at] = hit->entry;
            above[at] = hit->above;
            tied[at] = hit->tied;
            place[at] = hit->listed;
            falling[at] = hit->falling;
        }
    }
    return nb::make_tuple(owned(std::move(length)), owned(std::move(ignored)), owned(std::move(listed)),
                          owned(std::move(ends_tied)), owned(std::move(offsets)), owned(std::move(entry)),
                          owned(std::move(above)), owned(std::move(tied)), owned(std::move(place)),
                          owned(std::move(falling)));
}

template <class Id, class Score>
void read_ids(IdJoin& join, InMatrix<Id> ids, std::optional<InMatrix<Score>> scores, std::int64_t first,
              std::int64_t last, std::optional<std::int64_t> pad, In<std::int64_t> query_of, In<std::int64_t> offsets,
              In<std::int64_t> judged_ids, In<bool> ignored) {
    const auto lists = static_cast<std::int64_t>(ids.shape(0));
    bool sound = 0 <= first && first <= last && last <= lists && query_of.size() == ids.shape(0) &&
                 judged_ids.size() == ignored.size() && offsets.size() > 0 &&
                 offsets(offsets.size() - 1) == static_cast<std::int64_t>(judged_ids.size()) && offsets(0) == 0 &&
                 std::is_sorted(offsets.data(), offsets.data() + offsets.size());
    sound = sound && (!scores || (scores->shape(0) == ids.shape(0) && scores->shape(1) == ids.shape(1)));
    for (std::int64_t list = first; sound && list < last; ++list) {
        sound = query_of(list) >= -1 && query_of(list) < static_cast<std::int64_t>(offsets.size()) - 1;
    }
    if (!sound) throw std::invalid_argument("lists, queries and judged pairs do not fit");
    const JudgedIds judged{offsets.data(), judged_ids.data(), reinterpret_cast<const std::uint8_t*>(ignored.data()),
                           query_of.data()};
    const nb::gil_scoped_release unlocked;
    join.read(ids.data(), scores ? scores->data() : nullptr, static_cast<std::int64_t>(ids.shape(1)), first, last,
              pad.has_value(), pad.value_or(0), judged);
}

nb::tuple as_tuple(const Offence& offence) { return nb::make_tuple(offence.count, offence.list, offence.place); }

template <class Id, class Score>
void def_read_ids(nb::class_<IdJoin>& type) {
    type.def("read", &read_ids<Id, Score>, "ids"_a.noconvert(), "scores"_a.noconvert().none(), "first"_a, "last"_a,
             "pad"_a.none(), "query_of"_a.noconvert(), "offsets"_a.noconvert(), "judged_ids"_a.noconvert(),
             "ignored"_a.noconvert());
}

}  // namespace

}  // namespace kernels

NB_MODULE(_compiled, module) {
    using namespace kernels;
    bind_counts(module);
    bind_exact(module);
    nb::class_<Judged>(module, "Judged")
        .def("__init__", &make_judged, "queries"_a, "items"_a, "offsets"_a, "rows"_a, "ignored"_a);
    nb::class_<RunReader>(module, "RunReader")
        .def(nb::init<const Judged&, int, bool, bool, std::size_t, std::size_t>(), "judged"_a, "scores"_a,
             "grouped"_a, "head_open"_a, "shown"_a, "gallery_limit"_a, nb::keep_alive<1, 2>())
        .def("feed", &feed<RunReader>, "block"_a)
        .def("stop_at_long_line", &RunReader::stop_at_long_line)
        .def("finish", &RunReader::finish, nb::call_guard<nb::gil_scoped_release>())
        .def("absorb", &RunReader::absorb, "later"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("problems", &first_problems<RunReader>)
        .def("unjudged_queries", &unjudged_queries)
        .def(
            "in_order", [](const RunReader& reader, std::size_t n) { return in_order(reader.found(), n); },
            "queries"_a)
        .def_prop_ro("interleaved", &RunReader::interleaved)
        .def_prop_ro("against_rank", &RunReader::against_rank)
        .def_prop_ro("lists", [](const RunReader& reader) { return reader.seen().size(); })
        .def_prop_ro("gallery", &RunReader::gallery)
        .def_prop_ro("problem_count", [](RunReader& reader) { return reader.problems().total(); });
    nb::class_<IdJoin> id_join(module, "IdJoin");
    id_join.def(nb::init<std::size_t>(), "gallery_limit"_a)
        .def("absorb", &IdJoin::absorb, "later"_a)
        .def(
            "in_order", [](const IdJoin& join, std::size_t n) { return in_order(join.found, n); }, "queries"_a)
        .def_prop_ro("not_finite", [](const IdJoin& join) { return as_tuple(join.not_finite); })
        .def_prop_ro("rising", [](const IdJoin& join) { return as_tuple(join.rising); })
        .def_prop_ro("repeated", [](const IdJoin& join) { return as_tuple(join.repeated); })
        .def_prop_ro("gallery", &IdJoin::gallery);
    def_read_ids<std::int64_t, double>(id_join);
    def_read_ids<std::int64_t, float>(id_join);
    def_read_ids<std::int32_t, double>(id_join);
    def_read_ids<std::int32_t, float>(id_join);
    module.def("count_in_dicts", &count_in_dicts, "lists"_a, "offsets"_a.noconvert(), "items"_a, "texts"_a);
    nb::class_<TableReader>(module, "TableReader")
        .def(nb::init<std::size_t, std::size_t, std::size_t>(), "columns"_a, "value_column"_a, "shown"_a)
        .def("feed", &feed<TableReader>, "block"_a)
        .def("stop_at_long_line", &TableReader::stop_at_long_line)
        .def("finish", &TableReader::finish, nb::call_guard<nb::gil_scoped_release>())
        .def("problems", &first_problems<TableReader>)
        .def("table", &table_of)
        .def_prop_ro("problem_count", [](TableReader& reader) { return reader.problems().total(); })
        .def_prop_ro("ranked", [](const TableReader& reader) { return reader.ranked; })
        .def_prop_ro("records", [](const TableReader& reader) { return reader.value.size(); });
}
