// Exact distances of chosen pairs of vectors; sums of float64 terms are folded, whole numbers are summed as such.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "processors.hpp"
#include "registers.hpp"

namespace kernels {

enum class Metric { l2, inner_product, cosine };

// The upper half onto the lower half until one is left: an order that depends on the count alone.
template <std::size_t Bytes>
VISUAL_SEARCH_INLINE double folded(double* terms, std::size_t count) {
    using Doubles = Register<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double), eight = 8;
    std::size_t width = count;
    for (; width > eight && width % (2 * wide) == 0; width /= 2) {
        for (std::size_t i = 0; i < width / 2; i += wide) {
            Doubles lower, upper;
            load(lower, terms + i);
            load(upper, terms + width / 2 + i);
            lower += upper;
            std::memcpy(terms + i, &lower, sizeof lower);
        }
    }
    if (width == eight) {
        const double first = terms[0] + terms[4], second = terms[1] + terms[5];
        const double third = terms[2] + terms[6], fourth = terms[3] + terms[7];
        return (first + third) + (second + fourth);
    }
    while (width > 1) {
        const std::size_t half = (width + 1) / 2;
        for (std::size_t i = 0; i < width - half; ++i) terms[i] += terms[i + half];
        width = half;
    }
    return terms[0];
}

// As many numbers as a register has doubles, which they become.
template <std::size_t Bytes, class T>
VISUAL_SEARCH_INLINE Register<double, Bytes> widened(const T* from) {
    constexpr std::size_t width = Bytes / sizeof(double);
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if constexpr (Bytes != any_register && std::is_same_v<T, float>) {
        // GCC 12 widens half a register at a time, by way of memory.
        Register<double, Bytes> wide;
        asm volatile("vcvtps2pd %1, %0" : "=v"(wide) : "m"(*reinterpret_cast<const float(*)[width]>(from)));
        return wide;
    }
#endif
    Register<T, width * sizeof(T)> some;
    load(some, from);
    return __builtin_convertvector(some, Register<double, Bytes>);
}

struct Product {
    template <class Number>
    VISUAL_SEARCH_INLINE Number operator()(const Number& one, const Number& other) const {
        return one * other;
    }
};

struct SquaredDifference {
    template <class Number>
    VISUAL_SEARCH_INLINE Number operator()(const Number& one, const Number& other) const {
        return (one - other) * (one - other);
    }
};

// Two terms added. Products of float32 numbers are exact in float64, so that a fused sum is rounded as that of the products.
template <std::size_t Bytes, class X, class T, class Term>
VISUAL_SEARCH_INLINE Register<double, Bytes> two_terms(const X* x, const T* q, std::size_t apart, Term term) {
    Register<double, Bytes> sum = term(widened<Bytes>(x), widened<Bytes>(q));
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if constexpr (Bytes == avx512_register && std::is_same_v<Term, Product> && std::is_same_v<T, float> &&
                  std::is_same_v<X, double>) {
        const auto other = widened<Bytes>(q + apart);
        asm volatile("vfmadd231pd %1, %2, %0" : "+v"(sum) : "m"(*reinterpret_cast<const double(*)[8]>(x + apart)), "v"(other));
        return sum;
    }
#endif
    return sum + term(widened<Bytes>(x + apart), widened<Bytes>(q + apart));
}

// Eight terms folded; they are `part` apart.
template <std::size_t Bytes, class X, class T, class Term>
VISUAL_SEARCH_INLINE Register<double, Bytes> eight_terms(const X* x, const T* q, std::size_t part, Term term) {
    const auto two = [&](std::size_t at) { return two_terms<Bytes>(x + at * part, q + at * part, 4 * part, term); };
    const auto even = two(0) + two(2);
    return even + (two(1) + two(3));
}

// Eight numbers folded.
VISUAL_SEARCH_INLINE double folded_eight(const double* terms) {
    const double first = terms[0] + terms[4], second = terms[1] + terms[5];
    const double third = terms[2] + terms[6], fourth = terms[3] + terms[7];
    return (first + third) + (second + fourth);
}

// Computed here, not later: else what it is made of waits in memory.
template <class Vector>
VISUAL_SEARCH_INLINE void settle(Vector& value) {
#ifdef VISUAL_SEARCH_X86_DISPATCH
    asm volatile("" : "+v"(value));
#endif
    (void)value;
}

// The sum of `8 x Count` registers of terms, folded without a way through memory.
template <std::size_t Bytes, std::size_t Count, class X, class T, class Term>
VISUAL_SEARCH_INLINE double sum_in_registers(const X* x, const T* q, Term term) {
    using Doubles = Register<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double), part = Count * wide, eight = 8;
    Doubles sums[Count];
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Count; ++i) {
        sums[i] = eight_terms<Bytes>(x + i * wide, q + i * wide, part, term);
        settle(sums[i]);
    }
#pragma GCC unroll 4
    for (std::size_t half = Count / 2; half * wide >= eight; half /= 2) {
#pragma GCC unroll 4
        for (std::size_t i = 0; i < half; ++i) sums[i] += sums[i + half];
    }
    double last[eight];
    std::memcpy(last, sums, sizeof last);
    return folded_eight(last);
}

template <std::size_t Bytes, class X, class T, class Term>
VISUAL_SEARCH_INLINE double sum_of(const X* x, const T* q, std::size_t d, double* __restrict terms, Term term) {
    if constexpr (std::is_floating_point_v<T>) {
        // The first folds while the terms are made, where that comes out even.
        if (d % 64 == 0) {
            const std::size_t part = d / 8;
            constexpr std::size_t wide = Bytes / sizeof(double), least = 8 / wide;
            if (part == least * wide) return sum_in_registers<Bytes, least>(x, q, term);
            if (part == 2 * least * wide) return sum_in_registers<Bytes, 2 * least>(x, q, term);
            if (part == 4 * least * wide) return sum_in_registers<Bytes, 4 * least>(x, q, term);
            for (std::size_t i = 0; i < part; i += Bytes / sizeof(double)) {
                const auto eight = eight_terms<Bytes>(x + i, q + i, part, term);
                std::memcpy(terms + i, &eight, sizeof eight);
            }
            return folded<Bytes>(terms, part);
        }
        const std::size_t half = (d + 1) / 2;
        for (std::size_t i = 0; i < d - half; ++i) {
            terms[i] = term(double(x[i]), double(q[i])) + term(double(x[i + half]), double(q[i + half]));
        }
        if (d % 2 == 1) terms[half - 1] = term(double(x[half - 1]), double(q[half - 1]));
        return folded<Bytes>(terms, half);
    } else {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < d; ++i) sum += term(std::int64_t(x[i]), std::int64_t(q[i]));
        return double(sum);
    }
}

template <std::size_t Bytes, class X, class T>
VISUAL_SEARCH_INLINE double distance_in(Metric metric, const X* x, const T* q, std::size_t d, double* terms) {
    if (metric == Metric::l2) return std::sqrt(sum_of<Bytes>(x, q, d, terms, SquaredDifference{}));
    const double dot = sum_of<Bytes>(x, q, d, terms, Product{});
    if (metric == Metric::inner_product) return 0.0 - dot;
    const double own = sum_of<Bytes>(x, x, d, terms, Product{});
    const double other = sum_of<Bytes>(q, q, d, terms, Product{});
    if constexpr (std::is_floating_point_v<T>) {
        return 0.0 - dot / (std::sqrt(own) * std::sqrt(other));
    } else {
        // One rounded quotient of integers and then steps that keep order: rows of one direction tie.
        return 0.0 - std::copysign(std::sqrt(dot * dot / own), dot) / std::sqrt(other);
    }
}

// A row as its terms need it: pairs that follow each other often have the row in common, and widening float32 is half of
// the work.
template <std::size_t Bytes, class T>
class WideRow {
  public:
    explicit WideRow(std::size_t d) : wide_(std::is_same_v<T, float> ? d : 0) {}

    VISUAL_SEARCH_INLINE auto of(const T* row) {
        if constexpr (!std::is_same_v<T, float>) {
            return row;
        } else {
            if (row != known_) widen(row);
            known_ = row;
            return static_cast<const double*>(wide_.data());
        }
    }

  private:
    VISUAL_SEARCH_INLINE void widen(const T* row) {
        constexpr std::size_t width = Bytes / sizeof(double);
        std::size_t i = 0;
        for (; i + width <= wide_.size(); i += width) {
            const auto some = widened<Bytes>(row + i);
            std::memcpy(wide_.data() + i, &some, sizeof some);
        }
        for (; i < wide_.size(); ++i) wide_[i] = double(row[i]);
    }

    std::vector<double> wide_;
    const T* known_ = nullptr;
};

template <class T>
struct Pairs {
    const T* gallery;
    const T* queries;
    std::size_t d;
    const std::int64_t* rows;
    const std::int64_t* query_of;
    double* distances;
};

// A pair and its place among all.
struct Placed {
    std::uint32_t place, query;
    std::size_t row;
};

template <std::size_t Bytes, class T>
VISUAL_SEARCH_INLINE void distances_of_pairs(const Pairs<T>& pairs, Metric metric, const std::vector<Placed>& order) {
    constexpr std::size_t ahead = 8, line = 64;
    std::vector<double> terms(pairs.d);
    WideRow<Bytes, T> wide(pairs.d);
    for (std::size_t at = 0; at < order.size(); ++at) {
        const Placed one = order[at], soon = order[std::min(at + ahead, order.size() - 1)];
        for (std::size_t i = 0; i < pairs.d; i += line / sizeof(T)) {
            __builtin_prefetch(pairs.gallery + soon.row * pairs.d + i);
        }
        pairs.distances[one.place] = distance_in<Bytes>(metric, wide.of(pairs.gallery + one.row * pairs.d),
                                                        pairs.queries + one.query * pairs.d, pairs.d, terms.data());
    }
}

// Those of `count` pairs whose rows are first .. last, near rows together: a row that many queries ask for comes from
// memory once.
template <class T>
std::vector<Placed> by_rows(const Pairs<T>& pairs, std::size_t count, std::size_t first, std::size_t last) {
    const std::size_t span = last - first;
    std::size_t shift = 0;
    while (span >> shift > count + (1 << 10)) ++shift;
    const std::size_t parts = (span >> shift) + 1;
    const auto place = [&](std::size_t i) { return std::size_t(pairs.rows[i]) - first; };  // huge before the first
    std::vector<std::uint32_t> begins(parts + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
        if (place(i) < span) ++begins[(place(i) >> shift) + 1];
    }
    for (std::size_t part = 0; part < parts; ++part) begins[part + 1] += begins[part];
    std::vector<Placed> order(begins[parts]);
    for (std::size_t i = 0; i < count; ++i) {
        if (place(i) >= span) continue;
        order[begins[place(i) >> shift]++] = {static_cast<std::uint32_t>(i),
                                                    static_cast<std::uint32_t>(pairs.query_of[i]),
                                                    static_cast<std::size_t>(pairs.rows[i])};
    }
    return order;
}

template <class T>
void pair_distances_anywhere(const Pairs<T>& pairs, Metric metric, const std::vector<Placed>& order) {
    distances_of_pairs<any_register>(pairs, metric, order);
}

#ifdef VISUAL_SEARCH_X86_DISPATCH
template <class T>
__attribute__((target("avx2"))) void pair_distances_by_avx2(const Pairs<T>& pairs, Metric metric,
                                                            const std::vector<Placed>& order) {
    distances_of_pairs<avx2_register>(pairs, metric, order);
}
template <class T>
VISUAL_SEARCH_AVX512 void pair_distances_by_avx512(const Pairs<T>& pairs, Metric metric,
                                                   const std::vector<Placed>& order) {
    distances_of_pairs<avx512_register>(pairs, metric, order);
}
#endif

// Of `count` pairs those whose rows are first .. last.
template <class T>
void pair_distances(const Pairs<T>& pairs, Metric metric, std::size_t count, std::size_t first, std::size_t last) {
    const std::vector<Placed> order = by_rows(pairs, count, first, last);
#ifdef VISUAL_SEARCH_X86_DISPATCH
    if (processor() == Processor::avx512vnni) return pair_distances_by_avx512(pairs, metric, order);
    if (processor() == Processor::avx2) return pair_distances_by_avx2(pairs, metric, order);
#endif
    pair_distances_anywhere(pairs, metric, order);
}

}  // namespace kernels
