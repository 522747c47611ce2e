// Reads a TREC file whole: its names once each, its lines as numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "good_lines.hpp"
#include "names.hpp"

namespace kernels {

class TableReader {
  public:
    // The query is column 0 and the item column 2 in both kinds of files; a run has a rank in column 3.
    TableReader(std::size_t columns, std::size_t value_column, std::size_t shown)
        : columns_(std::min(columns, kept_fields)), value_column_(value_column), problems_(shown) {}

    std::size_t feed(const char* bytes, std::size_t size) {
        const bool ascii = is_ascii({bytes, size});
        const std::size_t used = each_line(bytes, size, [&](const Line& line) { read(line, ascii); });
        items.add_all(waiting_.data(), waiting_.size(), item);
        waiting_.clear();
        return used;
    }

    void stop_at_long_line() { problems_.add(lines_ + 1, Fault::too_long); }

    // Reports pairs that are there twice. Lines are looked at query by query; a mark per item tells which query had
    // it last.
    void finish() {
        std::vector<std::int64_t> order;
        if (!std::is_sorted(query.begin(), query.end())) order = by_query();
        std::vector<std::pair<std::int64_t, std::int64_t>> seen(items.size(), {-1, 0});  // query, first record
        for (std::size_t at = 0; at < query.size(); ++at) {
            const std::int64_t record = order.empty() ? static_cast<std::int64_t>(at) : order[at];
            const std::int64_t q = query[std::size_t(record)];
            auto& [last, first] = seen[std::size_t(item[std::size_t(record)])];
            if (last == q) {
                problems_.add(line_of(record), Fault::repeated, line_of(first), queries[q],
                              items[item[std::size_t(record)]]);
            } else {
                last = q;
                first = record;
            }
        }
    }

    Problems& problems() { return problems_; }

    Names queries;
    Names items;
    std::vector<std::int64_t> query;
    std::vector<std::int64_t> item;
    std::vector<double> value;
    std::vector<std::int64_t> rank;
    bool ranked = true;  // whether each line has a rank

  private:
    void read(const Line& line, bool ascii) {
        ++lines_;
        std::string_view fields[kept_fields];
        double number = 0;
        if (!good_line(line, lines_, ascii, columns_, value_column_, fields, number, problems_)) return;
        if (query.empty() || queries[query.back()] != fields[0]) {
            query.push_back(queries.add(fields[0]).first);
        } else {
            query.push_back(query.back());
        }
        waiting_.push_back(fields[2]);
        value.push_back(number);
        std::int32_t place = 0;
        ranked = ranked && columns_ == 6 && parse_rank(fields[3], place);
        if (ranked) rank.push_back(place);
        const auto record = static_cast<std::int64_t>(value.size()) - 1;
        if (lines_ != record + 1 + skipped_) {
            skipped_ = lines_ - record - 1;
            jumps_.push_back({record, skipped_});
        }
    }

    std::int64_t line_of(std::int64_t record) const {
        const auto after = std::upper_bound(jumps_.begin(), jumps_.end(), record,
                                            [](std::int64_t at, const auto& jump) { return at < jump.first; });
        return record + 1 + (after == jumps_.begin() ? 0 : (after - 1)->second);
    }

    std::vector<std::int64_t> by_query() const {
        std::vector<std::int64_t> begins(queries.size() + 1, 0);
        for (const std::int64_t q : query) ++begins[std::size_t(q) + 1];
        for (std::size_t q = 0; q < queries.size(); ++q) begins[q + 1] += begins[q];
        std::vector<std::int64_t> order(query.size());
        for (std::size_t record = 0; record < query.size(); ++record) {
            order[std::size_t(begins[std::size_t(query[record])]++)] = static_cast<std::int64_t>(record);
        }
        return order;
    }

    const std::size_t columns_;
    const std::size_t value_column_;
    std::vector<std::string_view> waiting_;  // items of the block, numbered together at its end
    Problems problems_;
    std::int64_t lines_ = 0;
    std::int64_t skipped_ = 0;                                  // lines before the last record that are no records
    std::vector<std::pair<std::int64_t, std::int64_t>> jumps_;  // records before which some were passed over
};

}  // namespace kernels
