// Bytes of a text file to lines of fields parted by white space, 64 bytes at a time.
//
// White space is what Python's bytes.split() takes for it: space and the bytes 9 to 13. A line ends at byte 10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace kernels {

constexpr std::size_t window = 64;
constexpr std::size_t kept_fields = 6;  // as many as a run line has; further ones are only counted

// One bit per byte of a window.
struct Marks {
    std::uint64_t space;
    std::uint64_t newline;
};

#if defined(__SSE2__)

inline Marks marks_of(const char* bytes) {
    Marks marks{0, 0};
    for (int part = 0; part < 4; ++part) {
        const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * part));
        const __m128i control = _mm_sub_epi8(b, _mm_set1_epi8(9));
        const __m128i space = _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(control, _mm_set1_epi8(4)), control),
                                           _mm_cmpeq_epi8(b, _mm_set1_epi8(' ')));
        const __m128i newline = _mm_cmpeq_epi8(b, _mm_set1_epi8('\n'));
        marks.space |= std::uint64_t(std::uint32_t(_mm_movemask_epi8(space))) << (16 * part);
        marks.newline |= std::uint64_t(std::uint32_t(_mm_movemask_epi8(newline))) << (16 * part);
    }
    return marks;
}

#elif defined(__aarch64__)

// The sign bits of 64 bytes as one word: weigh each byte by its bit, then add neighbours three times.
inline std::uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t ab = vpaddq_u8(vandq_u8(a, weight), vandq_u8(b, weight));
    const uint8x16_t cd = vpaddq_u8(vandq_u8(c, weight), vandq_u8(d, weight));
    const uint8x16_t sum = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
}

inline Marks marks_of(const char* bytes) {
    uint8x16_t space[4];
    uint8x16_t newline[4];
    for (int part = 0; part < 4; ++part) {
        const uint8x16_t b = vld1q_u8(reinterpret_cast<const std::uint8_t*>(bytes) + 16 * part);
        space[part] = vorrq_u8(vcleq_u8(vsubq_u8(b, vdupq_n_u8(9)), vdupq_n_u8(4)), vceqq_u8(b, vdupq_n_u8(' ')));
        newline[part] = vceqq_u8(b, vdupq_n_u8('\n'));
    }
    return {bits_of(space[0], space[1], space[2], space[3]), bits_of(newline[0], newline[1], newline[2], newline[3])};
}

#else

inline Marks marks_of(const char* bytes) {
    Marks marks{0, 0};
    for (std::size_t place = 0; place < window; ++place) {
        const auto byte = static_cast<unsigned char>(bytes[place]);
        marks.space |= std::uint64_t(byte == ' ' || (byte >= 9 && byte <= 13)) << place;
        marks.newline |= std::uint64_t(byte == '\n') << place;
    }
    return marks;
}

#endif

struct Line {
    const char* bytes;                     // the block's first byte, which the edges count from
    const std::uint32_t* edges;            // begin and end of each kept field in turn
    std::size_t fields;                    // how many there are, kept or not
    std::string_view whole;                // without the newline

    std::string_view operator[](std::size_t field) const {
        return {bytes + edges[2 * field], std::size_t(edges[2 * field + 1] - edges[2 * field])};
    }
    bool is_comment() const { return fields > 0 && bytes[edges[0]] == '#'; }

    // The fields, if there are so many (at most kept_fields): parted by white space or, where that makes another
    // number, by single tabs, so that a field may hold spaces inside.
    bool split(std::size_t count, std::string_view* into) const {
        if (fields == count) {
            for (std::size_t field = 0; field < count; ++field) into[field] = (*this)[field];
            return true;
        }
        std::string_view rest = whole;
        for (std::size_t field = 0; field < count; ++field) {
            const std::size_t tab = rest.find('\t');
            if ((tab == rest.npos) != (field + 1 == count)) return false;
            into[field] = stripped(rest.substr(0, tab));
            if (into[field].empty()) return false;
            if (tab != rest.npos) rest.remove_prefix(tab + 1);
        }
        return true;
    }

    static std::string_view stripped(std::string_view text) {
        const char* const blanks = " \t\n\v\f\r";
        const std::size_t first = text.find_first_not_of(blanks);
        return first == text.npos ? text.substr(0, 0) : text.substr(first, text.find_last_not_of(blanks) - first + 1);
    }
};

// Calls on_line(Line) for each line of the block that ends in a newline, empty ones too. Gives how many bytes they
// take; what is left belongs to a line whose end has not come yet. At most 2^32 - 64 bytes at a time.
template <class OnLine>
std::size_t each_line(const char* bytes, std::size_t size, OnLine&& on_line) {
    std::uint32_t edges[2 * kept_fields + window];  // room for a window's worth beyond what is kept
    std::size_t found = 0;                          // edges so far in this line
    std::size_t line_begin = 0;
    std::uint64_t in_space = 1;  // whether the byte before the window is white space
    char padded[window];
    for (std::size_t base = 0; base < size; base += window) {
        const char* at = bytes + base;
        if (size - base < window) {
            std::memset(padded, ' ', window);
            std::memcpy(padded, at, size - base);
            at = padded;
        }
        const Marks marks = marks_of(at);
        std::uint64_t flips = marks.space ^ (marks.space << 1 | in_space);
        std::uint64_t newlines = marks.newline;
        in_space = marks.space >> 63;
        // Writes the edges among the given bits; those past the kept fields are counted only.
        const auto note = [&](std::uint64_t bits) {
            for (std::size_t kept = found < 2 * kept_fields ? found : 2 * kept_fields; bits; bits &= bits - 1) {
                edges[kept++] = static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(__builtin_ctzll(bits));
                ++found;
            }
        };
        while (newlines) {
            const std::uint64_t through = newlines ^ (newlines - 1);  // up to the first newline, and that one
            note(flips & through);
            flips &= ~through;
            const std::size_t end = base + static_cast<std::size_t>(__builtin_ctzll(newlines));
            on_line(Line{bytes, edges, found / 2, {bytes + line_begin, end - line_begin}});
            newlines &= newlines - 1;
            found = 0;
            line_begin = end + 1;
        }
        note(flips);
    }
    return line_begin;
}

}  // namespace kernels
