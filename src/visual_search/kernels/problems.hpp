// What is wrong with the lines of a file: the first few in full, and how many in all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernels {

// The numbers are known to text_files.py, which turns them into words.
enum class Fault { columns = 0, encoding = 1, number = 2, repeated = 3, too_long = 4 };

struct Problem {
    std::int64_t line;  // from 1
    Fault fault;
    std::int64_t number;  // columns found, the byte that is wrong, or the line that had the item first
    std::string text;     // the line, the field, or the query
    std::string item;
};

class Problems {
  public:
    explicit Problems(std::size_t shown) : shown_(shown) {}

    void add(std::int64_t line, Fault fault, std::int64_t number = 0, std::string_view text = {},
             std::string_view item = {}) {
        ++total_;
        // A repeated item is found when its list is complete, so lines do not come in order. Most are turned away
        // here without a copy.
        if (kept_.size() >= 2 * shown_ + 16) cut();
        if (line >= beyond_) return;
        kept_.push_back({line, fault, number, shortened(text), shortened(item)});
    }
    void take(Problems&& later, std::int64_t lines_before) {
        const std::int64_t others = later.total_ - static_cast<std::int64_t>(later.kept_.size());
        for (Problem& problem : later.kept_) {
            if (problem.fault == Fault::repeated) problem.number += lines_before;
            problem.line += lines_before;
            kept_.push_back(std::move(problem));
        }
        total_ += others + static_cast<std::int64_t>(later.kept_.size());
        cut();
    }
    // The first by line.
    const std::vector<Problem>& first() {
        cut();
        return kept_;
    }
    std::int64_t total() const { return total_; }

  private:
    static std::string shortened(std::string_view text) { return std::string(text.substr(0, 320)); }

    void cut() {
        std::sort(kept_.begin(), kept_.end(), [](const Problem& a, const Problem& b) { return a.line < b.line; });
        if (kept_.size() > shown_) {
            kept_.resize(shown_);
            beyond_ = shown_ ? kept_.back().line : 0;
        }
    }
    std::size_t shown_;
    std::vector<Problem> kept_;
    std::int64_t total_ = 0;
    std::int64_t beyond_ = INT64_MAX;
};

}  // namespace kernels
