// What a field of a text file says: a number, or a name; and whether bytes are UTF-8.
#pragma once

#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernels {

// No byte above 127, and none that is zero.
inline bool is_ascii(std::string_view text) {
    unsigned char other = 0;
    for (const char byte : text) other |= static_cast<unsigned char>(byte - 1) >= 0x7F;
    return other == 0;
}

// Where the text stops being UTF-8 as Python decodes it: no overlong forms, no surrogates, nothing past U+10FFFF. A
// zero byte, which UTF-8 allows, is in no text either, but in every file of UTF-16. The size if it never does.
inline std::size_t utf8_until(std::string_view text) {
    const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
    const auto* const end = begin + text.size();
    for (const unsigned char* at = begin; at < end;) {
        const auto place = static_cast<std::size_t>(at - begin);
        const unsigned char lead = *at++;
        if (lead > 0 && lead < 0x80) continue;
        if (lead < 0xC2 || lead > 0xF4) return place;
        const int more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
        if (end - at < more) return place;
        const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (*at < low || *at > high) return place;
        for (int i = 1; i < more; ++i) {
            if ((at[i] & 0xC0) != 0x80) return place;
        }
        at += more;
    }
    return text.size();
}

// The nearest double of a well-formed decimal number; defined with the bindings, since it asks Python where the
// standard library cannot tell.
double nearest_double(const std::string& text);

inline bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// Reads [+-] digits [. digits] [e [+-] digits], at least one digit before the e, and tells whether that is what the
// text is and the value is finite. The value is the nearest double: where the digits make an integer of at most 53 bits and the power of
// ten is at most 22, one division or product of exact doubles is (Clinger 1990); else the slow way.
inline bool parse_number(std::string_view text, double& value) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* at = text.data();
    const char* const end = at + text.size();
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) ++at;
    std::uint64_t digits = 0;
    std::int64_t power = 0;
    const char* const first = at;
    while (at < end && is_digit(*at)) digits = 10 * digits + static_cast<std::uint64_t>(*at++ - '0');
    std::int64_t count = at - first;
    if (at < end && *at == '.') {
        const char* const fraction = ++at;
        while (at < end && is_digit(*at)) digits = 10 * digits + static_cast<std::uint64_t>(*at++ - '0');
        power = fraction - at;
        count += at - fraction;
    }
    if (count == 0) return false;
    if (at < end && (*at | 0x20) == 'e') {
        ++at;
        const bool down = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) ++at;
        if (at == end || !is_digit(*at)) return false;
        std::int64_t exponent = 0;
        // Past a million the value is 0 or infinite for any field this reader takes.
        while (at < end && is_digit(*at)) {
            exponent = exponent < 10'000'000 ? 10 * exponent + (*at - '0') : exponent;
            ++at;
        }
        power += down ? -exponent : exponent;
    }
    if (at != end) return false;
    // 18 digits cannot overflow 64 bits, and products of doubles must not be kept in wider registers.
    const bool simple = FLT_EVAL_METHOD == 0 && count <= 18 && digits <= (std::uint64_t(1) << 53);
    if (simple && power >= -22 && power <= 22) {
        const double whole = static_cast<double>(digits);
        value = power < 0 ? whole / powers[-power] : whole * powers[power];
    } else {
        value = nearest_double(std::string(first, end));
    }
    if (negative) value = -value;
    return std::isfinite(value);
}

}  // namespace kernels
