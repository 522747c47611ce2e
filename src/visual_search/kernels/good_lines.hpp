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

}  // namespace kernels
