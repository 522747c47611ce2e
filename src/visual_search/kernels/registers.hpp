// Vectors as wide as the registers of the processor that a function is compiled for: wider ones would be taken apart into
// single numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "processors.hpp"

namespace kernels {

// Bytes of a register.
constexpr std::size_t any_register = 16, avx2_register = 32, avx512_register = 64;

template <class T, std::size_t Bytes>
struct RegisterOf {
    typedef T Type __attribute__((vector_size(Bytes)));
    static constexpr std::size_t width = Bytes / sizeof(T);
};

template <class T, std::size_t Bytes>
using Register = typename RegisterOf<T, Bytes>::Type;

// A whole register from any place.
template <class Vector, class T>
VISUAL_SEARCH_INLINE void load(Vector& to, const T* from) {
    std::memcpy(&to, from, sizeof to);
}

}  // namespace kernels
