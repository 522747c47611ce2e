// Rows and their exact distances join the nearest of their queries, by distance and then row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "halving.hpp"
#include "processors.hpp"

namespace kernels {

struct Near {
    double distance;
    std::int64_t row;
};

struct Nearer {
    bool operator()(const Near& one, const Near& other) const {
        return one.distance != other.distance ? one.distance < other.distance : one.row < other.row;
    }
};

// `width` places a query, in order, of which the first k are its answer and the others tie with the k-th; empty places are
// at infinity and called -1. `dropped` becomes the distance of the k-th where rows that tie with it had no place.
struct NearestTable {
    double* distances;
    std::int64_t* rows;
    double* dropped;
    std::size_t k, width;
};

struct FoundPairs {
    const std::int64_t* query_of;  // never falling
    const std::int64_t* rows;
    const double* distances;
};

// How many of some distances, those before it also where they are equal, come before each: quicker than sorting where they
// are few, since nothing branches.
VISUAL_SEARCH_INLINE void count_before(const float* distances, std::size_t count, std::int32_t* before) {
    std::fill(before, before + count, 0);
    for (std::size_t j = 0; j < count; ++j) {
        const float one = distances[j];
        for (std::size_t i = 0; i < j; ++i) before[i] += one < distances[i];
        for (std::size_t i = j + 1; i < count; ++i) before[i] += one <= distances[i];
    }
}

using BeforeCounter = void (*)(const float* distances, std::size_t count, std::int32_t* before);

inline void count_before_anywhere(const float* distances, std::size_t count, std::int32_t* before) {
    count_before(distances, count, before);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline void count_before_by_avx2(const float* distances, std::size_t count,
                                                                 std::int32_t* before) {
    count_before(distances, count, before);
}

VISUAL_SEARCH_AVX512 inline void count_before_by_avx512(const float* distances, std::size_t count, std::int32_t* before) {
    count_before(distances, count, before);
}
#endif

inline BeforeCounter before_counter() {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (processor() == Processor::avx512vnni) return count_before_by_avx512;
    if (processor() == Processor::avx2) return count_before_by_avx2;
#endif
    return count_before_anywhere;
}

class NearestMerger {
  public:
    explicit NearestMerger(const NearestTable& table) : table_(table) {}

    // The pairs first .. last; those of a query are not parted.
    void merge(const FoundPairs& found, std::size_t first, std::size_t last) {
        for (std::size_t begin = first, end = first; begin < last; begin = end) {
            const std::int64_t query = found.query_of[begin];
            while (end < last && found.query_of[end] == query) ++end;
            merge_one(found, static_cast<std::size_t>(query), begin, end);
        }
    }

  private:
    void merge_one(const FoundPairs& found, std::size_t query, std::size_t begin, std::size_t end) {
        double* const distances = table_.distances + query * table_.width;
        std::int64_t* const rows = table_.rows + query * table_.width;
        const double kth = distances[table_.k - 1];
        std::size_t count = 0;
        some_.resize(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            some_[count] = {found.distances[i], found.rows[i]};
            count += found.distances[i] <= kth;
        }
        if (count == 0) return;
        some_.resize(count);
        leave_far();
        order_new();
        known_.clear();
        for (std::size_t i = 0; i < table_.width && rows[i] >= 0; ++i) known_.push_back({distances[i], rows[i]});
        all_.resize(known_.size() + new_.size());
        std::merge(known_.begin(), known_.end(), new_.begin(), new_.end(), all_.begin(), Nearer{});
        put(distances, rows);
        if (all_.size() > table_.width && all_[table_.width].distance == all_[table_.k - 1].distance) {
            table_.dropped[query] = all_[table_.width].distance;
        }
    }

    // Of the new ones, where they are more than k, hardly any but the k nearest and what ties with them need an order.
    void leave_far() {
        const std::size_t count = some_.size();
        if (count < table_.k + table_.k / 8 + 8) return;
        rough_.resize(count);
        for (std::size_t i = 0; i < count; ++i) rough_[i] = static_cast<float>(some_[i].distance);
        const float most = find_value_(rough_.data(), count, table_.k, table_.k / 16);
        std::size_t left = 0;
        for (std::size_t i = 0; i < count; ++i) {
            some_[left] = some_[i];
            left += rough_[i] <= most;
        }
        some_.resize(left);
    }

    // Rounding to float32 keeps order but for numbers that become equal; those are put in order one by one.
    void order_new() {
        constexpr std::size_t few = 256;
        const std::size_t count = some_.size();
        if (count > few) {
            new_ = some_;
            std::sort(new_.begin(), new_.end(), Nearer{});
            return;
        }
        new_.resize(count);
        rough_.resize(count);
        before_.resize(count);
        for (std::size_t i = 0; i < count; ++i) rough_[i] = static_cast<float>(some_[i].distance);
        count_before_(rough_.data(), count, before_.data());
        for (std::size_t i = 0; i < count; ++i) new_[std::size_t(before_[i])] = some_[i];
        for (std::size_t i = 1; i < count; ++i) {
            const Near one = new_[i];
            std::size_t place = i;
            for (; place > 0 && Nearer{}(one, new_[place - 1]); --place) new_[place] = new_[place - 1];
            new_[place] = one;
        }
    }

    void put(double* distances, std::int64_t* rows) const {
        constexpr double never = std::numeric_limits<double>::infinity();
        const double most = all_.size() < table_.k ? never : all_[table_.k - 1].distance;
        // Behind all there are, places are empty as they were.
        for (std::size_t i = 0; i < std::min(table_.width, all_.size()); ++i) {
            const bool kept = all_[i].distance <= most;
            distances[i] = kept ? all_[i].distance : never;
            rows[i] = kept ? all_[i].row : -1;
        }
    }

    const NearestTable table_;
    const BeforeCounter count_before_ = before_counter();
    const WithinWhich find_value_ = value_finder(processor());
    std::vector<float> rough_;
    std::vector<std::int32_t> before_;
    std::vector<Near> some_, new_, known_, all_;
};

}  // namespace kernels
