// Which lines of a TREC file are good, and what is wrong with the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lines.hpp"
#include "problems.hpp"
#include "text.hpp"

namespace kernels {

// Takes the fields of a line and the number one of them is. Empty lines and comments are no problem and no good.
inline bool good_line(const Line& line, std::int64_t number, bool ascii, std::size_t columns, std::size_t value_column,
                      std::string_view* fields, double& value, Problems& problems) {
    if (line.fields == 0 || line.is_comment()) return false;
    if (!ascii) {
        const std::size_t until = utf8_until(line.whole);
        if (until < line.whole.size()) {
            problems.add(number, Fault::encoding, static_cast<std::int64_t>(until) + 1);
            return false;
        }
    }
    if (!line.split(columns, fields)) {
        problems.add(number, Fault::columns, static_cast<std::int64_t>(line.fields), Line::stripped(line.whole));
        return false;
    }
    if (!parse_number(fields[value_column], value)) {
        problems.add(number, Fault::number, 0, fields[value_column]);
        return false;
    }
    return true;
}

// The rank column as a whole number, up to a little over a thousand million.
inline bool parse_rank(std::string_view text, std::int32_t& rank) {
    std::int64_t number = 0;
    for (const char digit : text) {
        if (!is_digit(digit) || number > 100'000'000) return false;
        number = 10 * number + (digit - '0');
    }
    rank = static_cast<std::int32_t>(number);
    return true;
}

}  // namespace kernels
