// How many items of a row of similarities are above and level with each judged one, without sorting the row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace kernels {

// An integer that orders as the float does; both zeros are one.
inline std::uint32_t order_of(float value) {
    const float clean = value + 0.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &clean, sizeof bits);
    // All bits turn over where the sign is set, else the sign alone.
    return bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000u);
}

inline float value_of(std::uint32_t order) {
    const std::uint32_t bits = order ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(~order) >> 31) | 0x80000000u);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Sorts by 32 bits of each number that begin at `shift`, in three passes of 11 bits, equal ones as they stand.
template <class Number>
void radix_sort(std::vector<Number>& numbers, std::vector<Number>& other, int shift) {
    constexpr std::size_t digits = 2048;
    if (numbers.size() < 200) {
        const auto less = [&](Number a, Number b) { return std::uint32_t(a >> shift) < std::uint32_t(b >> shift); };
        std::stable_sort(numbers.begin(), numbers.end(), less);
        return;
    }
    std::array<std::array<std::uint32_t, digits>, 3> begins{};
    const auto digit = [&](Number number, int pass) {
        return (std::uint32_t(number >> shift) >> (11 * pass)) & (digits - 1);
    };
    for (const Number number : numbers) {
        for (int pass = 0; pass < 3; ++pass) ++begins[std::size_t(pass)][digit(number, pass)];
    }
    other.resize(numbers.size());
    for (int pass = 0; pass < 3; ++pass) {
        auto& begin = begins[std::size_t(pass)];
        std::uint32_t sum = 0;
        for (std::uint32_t& count : begin) sum += std::exchange(count, sum);
        for (const Number number : numbers) other[begin[digit(number, pass)]++] = number;
        numbers.swap(other);
    }
}

class RankCounter {
  public:
    // Writes entry, above and tied of the judged entries of a row that are not ignored, by falling similarity and then
    // as given. The row's entries are begin .. end of `columns` and `ignored`.
    void count(const float* row, std::size_t size, const std::int64_t* columns, const std::uint8_t* ignored,
               std::int64_t begin, std::int64_t end, std::int64_t* entry, std::int64_t* above, std::int64_t* tied) {
        wanted_.clear();
        out_.clear();
        for (std::int64_t e = begin; e < end; ++e) {
            const std::uint32_t order = order_of(row[columns[e]]);
            if (ignored[e]) {
                out_.push_back(order);
            } else {
                // The complement, so that rising order is falling similarity.
                wanted_.push_back(std::uint64_t(~order) << 32 | std::uint64_t(e - begin));
            }
        }
        if (wanted_.empty()) return;
        radix_sort(wanted_, other_wanted_, 32);
        std::sort(out_.begin(), out_.end());
        const auto give = [&](std::size_t i, std::size_t higher, std::size_t level) {
            const auto [low, high] = std::equal_range(out_.begin(), out_.end(), order_at(i));
            entry[i] = begin + static_cast<std::int64_t>(wanted_[i] & 0xFFFFFFFFu);
            above[i] = static_cast<std::int64_t>(higher) - (out_.end() - high);
            tied[i] = static_cast<std::int64_t>(level) - (high - low);
        };
        if (order_at(0) == order_at(wanted_.size() - 1)) {
            count_one_value(row, size, give);
        } else {
            collect(row, size);
            for (std::size_t i = 0; i < wanted_.size();) i = count_bin(i, give);
        }
    }

  private:
    static constexpr std::int32_t bins = 1 << 13;
    static constexpr std::int32_t spread = 16;  // counters for what is below or above all bins, so that none is hot
    static constexpr std::size_t chunk = 1024;

    std::uint32_t order_at(std::size_t wanted) const { return ~std::uint32_t(wanted_[wanted] >> 32); }

    template <class Give>
    void count_one_value(const float* row, std::size_t size, Give&& give) const {
        const float value = value_of(order_at(0));
        std::size_t higher = 0;
        std::size_t level = 0;
        for (std::size_t i = 0; i < size; ++i) higher += row[i] > value;
        for (std::size_t i = 0; i < size; ++i) level += row[i] == value;
        for (std::size_t i = 0; i < wanted_.size(); ++i) give(i, higher, level);
    }

    // Counts for the wanted items that share the bin of the first of them, and gives the first that does not.
    template <class Give>
    std::size_t count_bin(std::size_t first, Give&& give) {
        const auto bin = static_cast<std::size_t>(bin_of_order(order_at(first)));
        const std::size_t begin = begins_[bin];
        const std::size_t end = begin + counts_[bin];
        const bool few = end - begin < 64;
        if (!few) sort_near(begin, end);
        std::size_t level = end;  // where sorted, near items from here on are above the item at hand
        std::size_t i = first;
        while (i < wanted_.size() && bin_of_order(order_at(i)) == static_cast<std::int32_t>(bin)) {
            const std::uint32_t order = order_at(i);
            std::size_t higher = 0;
            std::size_t same = 0;
            if (few) {  // comparing with each is faster than sorting them
                for (std::size_t at = begin; at < end; ++at) {
                    higher += near_[at] > order;
                    same += near_[at] == order;
                }
            } else {
                while (near_[level - 1] > order) --level;
                higher = end - level;
                while (level - same > begin && near_[level - same - 1] == order) ++same;
                level -= same;
            }
            for (; i < wanted_.size() && order_at(i) == order; ++i) give(i, above_[bin] + higher, same);
        }
        return i;
    }

    void sort_near(std::size_t begin, std::size_t end) {
        const auto from = near_.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto to = near_.begin() + static_cast<std::ptrdiff_t>(end);
        if (end - begin < 500) {
            std::sort(from, to);
        } else {
            crowd_.assign(from, to);
            radix_sort(crowd_, other_crowd_, 0);
            std::copy(crowd_.begin(), crowd_.end(), from);
        }
    }

    // Parts the items by bins from the lowest to the highest wanted similarity. Those in a bin that holds a wanted
    // item are kept, each bin's together; of the others the count is enough.
    void collect(const float* row, std::size_t size) {
        low_ = value_of(order_at(wanted_.size() - 1));
        const float width = value_of(order_at(0)) - low_;
        scale_ = static_cast<float>(bins - 3) / width;
        // Too near together or too far apart for bins: all in one.
        if (!std::isfinite(width) || !std::isfinite(scale_)) scale_ = 0;
        counts_.assign(bins + 2 * spread, 0);
        marked_.assign(bins, 0);
        for (std::size_t i = 0; i < wanted_.size(); ++i) marked_[std::size_t(bin_of_order(order_at(i)))] = 1;
        found_.resize(size + 1);
        if (scale_ > 0) {
            find_near(row, size);
        } else {
            counts_[1] = static_cast<std::uint32_t>(size);
            for (std::size_t i = 0; i < size; ++i) found_[i] = std::uint64_t(1) << 32 | order_of(row[i]);
            found_.resize(size);
        }
        part_near();
    }

    // Counts the items of each bin, and keeps bin and order of those in marked ones.
    void find_near(const float* row, std::size_t size) {
        std::size_t found = 0;
        std::int32_t bin[chunk];
        std::int32_t counter[chunk];
        std::uint32_t order[chunk];
        for (std::size_t first = 0; first < size; first += chunk) {
            const auto count = static_cast<std::int32_t>(std::min(chunk, size - first));
            const float* const part = row + first;
            for (std::int32_t i = 0; i < count; ++i) {
                const std::int32_t b = bin_of(part[i]);
                const std::int32_t at = i & (spread - 1);
                bin[i] = b;
                counter[i] = b + (-(b == 0) & (bins + at)) + (-(b == bins - 1) & (spread + 1 + at));
                order[i] = order_of(part[i]);
            }
            for (std::int32_t i = 0; i < count; ++i) {
                ++counts_[std::size_t(counter[i])];
                found_[found] = std::uint64_t(std::uint32_t(bin[i])) << 32 | order[i];
                found += marked_[std::size_t(bin[i])];
            }
        }
        found_.resize(found);
    }

    // Brings what was found together by bins, and tells how many items are in all bins above each.
    void part_near() {
        std::uint32_t above = 0;
        for (std::int32_t at = 0; at < spread; ++at) above += counts_[std::size_t(bins + spread + at)];
        auto begin = static_cast<std::uint32_t>(found_.size());
        above_.resize(bins);
        begins_.resize(bins);
        for (std::size_t b = bins - 1; b-- > 1;) {
            above_[b] = above;
            above += counts_[b];
            if (marked_[b]) begin -= counts_[b];
            begins_[b] = begin;
        }
        next_ = begins_;
        near_.resize(found_.size());
        for (const std::uint64_t found : found_) near_[next_[found >> 32]++] = static_cast<std::uint32_t>(found);
    }

    // Rising with the value, as each of its steps is. What can be told to be below the lowest wanted value is in bin
    // 0, what is far above the highest in the last; neither is ever marked.
    std::int32_t bin_of(float value) const {
        const float place = (value - low_) * scale_ + 1.0f;
        return static_cast<std::int32_t>(std::min(std::max(place, 0.0f), static_cast<float>(bins - 1)));
    }
    std::int32_t bin_of_order(std::uint32_t order) const { return scale_ > 0 ? bin_of(value_of(order)) : 1; }

    float low_ = 0;
    float scale_ = 0;
    std::vector<std::uint64_t> wanted_, other_wanted_;  // complement of the order, and the entry
    std::vector<std::uint32_t> out_;                    // orders of ignored items
    std::vector<std::uint64_t> found_;                  // bin and order
    std::vector<std::uint32_t> near_;                   // orders, bin by bin
    std::vector<std::uint32_t> counts_, above_, begins_, next_;  // of each bin
    std::vector<std::uint8_t> marked_;
    std::vector<std::uint32_t> crowd_, other_crowd_;
};

}  // namespace kernels
