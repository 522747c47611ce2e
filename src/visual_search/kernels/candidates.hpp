// Rows that may be among the k nearest of a query and their lower bounds, in the order in which they came.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "compact.hpp"
#include "growing.hpp"

namespace kernels {

// The largest float32 number that is not above another number.
inline float not_above(double number) {
    const float near = static_cast<float>(number);
    return double(near) > number ? std::nextafter(near, -std::numeric_limits<float>::infinity()) : near;
}

class Candidates {
  public:
    std::size_t size() const { return rows_.size(); }
    const std::uint32_t* rows() const { return rows_.begin(); }

    // Room for so many more behind the last; `add` says how many of them were written.
    BoundedRows room_for(std::size_t more) { return {rows_.room_for(more), lower_.room_for(more)}; }
    void add(std::size_t written) {
        rows_.add(written);
        lower_.add(written);
    }

    // Those whose lower bounds are not above a limit.
    void drop(double limit, Processor processor) {
        keep(compacters(processor).rows({rows_.begin(), lower_.begin()}, size(), not_above(limit)));
    }

    void forget() {
        rows_.forget();
        lower_.forget();
    }

    // Some of it will soon be written behind.
    void expect() const {
        constexpr std::size_t line = 64, lines = 4;
        for (std::size_t i = 0; i < lines; ++i) {
            __builtin_prefetch(reinterpret_cast<const char*>(rows_.end()) + i * line, 1);
            __builtin_prefetch(reinterpret_cast<const char*>(lower_.end()) + i * line, 1);
        }
    }

  private:
    void keep(std::size_t count) {
        rows_.keep(count);
        lower_.keep(count);
    }

    Growing<std::uint32_t> rows_;
    Growing<float> lower_;
};

}  // namespace kernels
