// Where judged items stand among the scores of Python dictionaries; the interpreter's lock is held throughout.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace kernels {

class DictCounter {
  public:
    std::vector<double> score;  // NaN for an item that is not in its list
    std::vector<std::int64_t> above, tied;
    std::vector<std::uint8_t> ends_tied;

    explicit DictCounter(bool texts) : id_(texts ? &PyUnicode_Type : &PyLong_Type), empty_(nb::str("")) {}

    // Item e of `items`, offsets[i] <= e < offsets[i + 1], is looked up in list i.
    void count(const nb::list& lists, In<std::int64_t> offsets, const nb::list& items) {
        score.reserve(items.size());
        ends_tied.reserve(lists.size());
        for (std::size_t i = 0; i < lists.size(); ++i) {
            PyObject* const list = nb::handle(lists[i]).ptr();
            if (!PyDict_Check(list)) throw nb::type_error("a list that is no dictionary");
            read(list);
            for (std::int64_t e = offsets(i); e < offsets(i + 1); ++e) look_up(list, nb::handle(items[std::size_t(e)]).ptr());
        }
    }

  private:
    void read(PyObject* list) {
        scores_.clear();
        entries_.clear();
        falls_ = true;
        if (id_ == &PyUnicode_Type && PyDict_Contains(list, empty_.ptr()) != 0) throw nb::value_error("an empty id");
        PyObject *item, *value;
        // Ids and scores lie all over memory: all are asked for before the first is looked at.
        for (Py_ssize_t at = 0; PyDict_Next(list, &at, &item, &value);) {
            prefetch(item);
            prefetch(value);
            entries_.emplace_back(item, value);
        }
        for (const auto& [id, score] : entries_) {
            if (!Py_IS_TYPE(id, id_)) throw nb::type_error("an id of another kind");
            const double s = number(score);
            falls_ = falls_ && (scores_.empty() || s <= scores_.back());
            scores_.push_back(s);
        }
        ends_tied.push_back(lowest_is_shared());
    }

    static void prefetch(const void* place) {
#if defined(__GNUC__) || defined(__clang__)
        __builtin_prefetch(place);
#else
        (void)place;
#endif
    }

    // Beyond 2^53 not every whole number is a double.
    static bool rounded(PyObject* value, double s) {
        if (std::abs(s) < 9007199254740992.0) return false;
        const nb::object back = nb::steal(PyLong_FromDouble(s));
        const int same = back.is_valid() ? PyObject_RichCompareBool(back.ptr(), value, Py_EQ) : -1;
        if (same < 0) nb::raise_python_error();
        return same == 0;
    }

    static double number(PyObject* value) {
        if (PyFloat_Check(value)) {
            const double s = PyFloat_AS_DOUBLE(value);
            if (!std::isfinite(s)) throw nb::value_error("a score that is not finite");
            return s;
        }
        if (!PyLong_CheckExact(value) && !PyBool_Check(value)) throw nb::type_error("a score that is no number");
        const double s = PyLong_AsDouble(value);
        if (s == -1.0 && PyErr_Occurred()) nb::raise_python_error();
        if (rounded(value, s)) throw nb::value_error("a score that is rounded");
        return s;
    }

    bool lowest_is_shared() const {
        if (scores_.size() < 2) return false;
        if (falls_) return scores_.back() == scores_[scores_.size() - 2];
        const double lowest = *std::min_element(scores_.begin(), scores_.end());
        return std::count(scores_.begin(), scores_.end(), lowest) > 1;
    }

    void look_up(PyObject* list, PyObject* item) {
        PyObject* const value = PyDict_GetItemWithError(list, item);
        if (value == nullptr) {
            if (PyErr_Occurred()) nb::raise_python_error();
            score.push_back(std::numeric_limits<double>::quiet_NaN());
            above.push_back(0);
            tied.push_back(0);
            return;
        }
        const double s = PyFloat_AsDouble(value);
        score.push_back(s);
        std::int64_t higher = 0, level = 0;
        if (falls_) {
            const auto [first, last] = std::equal_range(scores_.begin(), scores_.end(), s, std::greater<>());
            higher = first - scores_.begin();
            level = last - first;
        } else {
            for (const double other : scores_) {
                higher += other > s;
                level += other == s;
            }
        }
        above.push_back(higher);
        tied.push_back(level);
    }

    PyTypeObject* id_;
    nb::str empty_;
    std::vector<double> scores_;
    std::vector<std::pair<PyObject*, PyObject*>> entries_;
    bool falls_ = true;
};

// (score, above, tied, ends_tied).
inline nb::tuple count_in_dicts(const nb::list& lists, In<std::int64_t> offsets, const nb::list& items, bool texts) {
    const bool sound = offsets.size() == lists.size() + 1 && offsets(0) == 0 &&
                       offsets(lists.size()) == static_cast<std::int64_t>(items.size()) &&
                       std::is_sorted(offsets.data(), offsets.data() + offsets.size());
    if (!sound) throw std::invalid_argument("lists, offsets and items do not fit");
    DictCounter counter(texts);
    counter.count(lists, offsets, items);
    return nb::make_tuple(owned(std::move(counter.score)), owned(std::move(counter.above)),
                          owned(std::move(counter.tied)), owned(std::move(counter.ends_tied)));
}

}  // namespace kernels
