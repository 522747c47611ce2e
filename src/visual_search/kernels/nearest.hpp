// Rows and their exact distances join the nearest of their queries, by distance and then row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

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
// at infinity and called -1. `dropped` becomes the least distance for which there was no place.
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

// How many of some pairs come before each: quicker than sorting where they are few, since nothing branches.
VISUAL_SEARCH_INLINE void count_before(const double* distances, const std::int64_t* rows, std::size_t count,
                                       std::int64_t* before) {
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t sum = 0;
        for (std::size_t j = 0; j < count; ++j) {
            sum += std::int64_t(distances[j] < distances[i]) |
                   (std::int64_t(distances[j] == distances[i]) & std::int64_t(rows[j] < rows[i]));
        }
        before[i] = sum;
    }
}

using BeforeCounter = void (*)(const double* distances, const std::int64_t* rows, std::size_t count, std::int64_t* before);

inline void count_before_anywhere(const double* distances, const std::int64_t* rows, std::size_t count,
                                  std::int64_t* before) {
    count_before(distances, rows, count, before);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
__attribute__((target("avx2"))) inline void count_before_by_avx2(const double* distances, const std::int64_t* rows,
                                                                 std::size_t count, std::int64_t* before) {
    count_before(distances, rows, count, before);
}

VISUAL_SEARCH_AVX512 inline void count_before_by_avx512(const double* distances, const std::int64_t* rows,
                                                        std::size_t count, std::int64_t* before) {
    count_before(distances, rows, count, before);
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
        new_distances_.resize(end - begin);
        new_rows_.resize(end - begin);
        for (std::size_t i = begin; i < end; ++i) {
            new_distances_[count] = found.distances[i];
            new_rows_[count] = found.rows[i];
            count += found.distances[i] <= kth;
        }
        if (count == 0) return;
        order_new(count);
        known_.clear();
        for (std::size_t i = 0; i < table_.width && rows[i] >= 0; ++i) known_.push_back({distances[i], rows[i]});
        all_.resize(known_.size() + new_.size());
        std::merge(known_.begin(), known_.end(), new_.begin(), new_.end(), all_.begin(), Nearer{});
        put(distances, rows);
        if (all_.size() > table_.width) table_.dropped[query] = all_[table_.width].distance;
    }

    void order_new(std::size_t count) {
        constexpr std::size_t few = 256;
        new_.resize(count);
        before_.resize(count);
        if (count <= few) {
            count_before_(new_distances_.data(), new_rows_.data(), count, before_.data());
        } else {
            std::iota(before_.begin(), before_.end(), 0);
        }
        for (std::size_t i = 0; i < count; ++i) new_[std::size_t(before_[i])] = {new_distances_[i], new_rows_[i]};
        if (count > few) std::sort(new_.begin(), new_.end(), Nearer{});
    }

    void put(double* distances, std::int64_t* rows) const {
        constexpr double never = std::numeric_limits<double>::infinity();
        const double most = all_.size() < table_.k ? never : all_[table_.k - 1].distance;
        for (std::size_t i = 0; i < table_.width; ++i) {
            const bool kept = i < all_.size() && all_[i].distance <= most;
            distances[i] = kept ? all_[i].distance : never;
            rows[i] = kept ? all_[i].row : -1;
        }
    }

    const NearestTable table_;
    const BeforeCounter count_before_ = before_counter();
    std::vector<double> new_distances_;
    std::vector<std::int64_t> new_rows_, before_;
    std::vector<Near> new_, known_, all_;
};

}  // namespace kernels
