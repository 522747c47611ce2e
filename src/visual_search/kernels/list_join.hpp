// Where the judged items of one list stand: how many items are above them, and level with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace kernels {

// A judged item of a list.
struct Hit {
    std::int64_t entry;    // which judged pair
    std::int64_t above;    // items of the list that score strictly higher
    std::int64_t tied;     // items of the list that have this score, the hit included
    std::int64_t listed;   // of these, how many come before it in the list as given
    std::int64_t falling;  // of these, how many have a greater id
};

// A list of a judged query; its hits follow those of the list before it.
struct Summary {
    std::int64_t query;
    std::int64_t length;  // ignored items taken out, as everywhere
    std::int64_t ignored;
    std::int64_t listed;  // with ignored items
    std::int64_t hits;
    bool ends_tied;  // the last two scores, of ignored items too, are equal
};

struct Found {
    std::vector<Summary> summaries;
    std::vector<Hit> hits;

    void absorb(const Found& later) {
        summaries.insert(summaries.end(), later.summaries.begin(), later.summaries.end());
        hits.insert(hits.end(), later.hits.begin(), later.hits.end());
    }
};

// An Entry has a score, an id() to compare by, and in `judged` which of the query's judged pairs it is, or -1.
template <class Entry>
class ListJoin {
  public:
    // Entries in order of falling score. The query's judged pairs begin at `begin`.
    void add(const std::vector<Entry>& entries, std::int64_t query, std::int64_t begin, const std::uint8_t* ignored,
             Found& found) {
        const auto n = static_cast<std::int64_t>(entries.size());
        hits_.clear();
        left_out_.clear();
        for (std::int64_t place = 0; place < n; ++place) {
            const std::int32_t judged = entries[std::size_t(place)].judged;
            if (judged < 0) continue;
            (ignored[begin + judged] ? left_out_ : hits_).push_back(place);
        }
        const auto out = static_cast<std::int64_t>(left_out_.size());
        const bool ends_tied = n >= 2 && entries[std::size_t(n - 1)].score == entries[std::size_t(n - 2)].score;
        found.summaries.push_back({query, n - out, out, n, static_cast<std::int64_t>(hits_.size()), ends_tied});
        for (std::size_t first = 0; first < hits_.size();) first = add_group(entries, begin, first, found.hits);
    }

  private:
    std::int64_t left_out_before(std::int64_t place) const {
        return std::lower_bound(left_out_.begin(), left_out_.end(), place) - left_out_.begin();
    }

    // Adds the hits that share the score of the first of them, and gives the first that does not.
    std::size_t add_group(const std::vector<Entry>& entries, std::int64_t begin, std::size_t first,
                          std::vector<Hit>& found) {
        const double score = entries[std::size_t(hits_[first])].score;
        std::int64_t start = hits_[first];
        std::int64_t stop = start + 1;
        while (start > 0 && entries[std::size_t(start - 1)].score == score) --start;
        while (stop < static_cast<std::int64_t>(entries.size()) && entries[std::size_t(stop)].score == score) ++stop;
        const std::int64_t out = left_out_before(start);
        const std::int64_t tied = stop - start - (left_out_before(stop) - out);
        const std::size_t new_hits = found.size();
        std::size_t last = first;
        for (; last < hits_.size() && hits_[last] < stop; ++last) {
            const std::int64_t place = hits_[last];
            const std::int64_t listed = place - start - (left_out_before(place) - out);
            found.push_back({begin + entries[std::size_t(place)].judged, start - out, tied, listed, 0});
        }
        if (tied > 1) rank_by_id(entries, start, stop, first, last, &found[new_hits]);
        return last;
    }

    // For each hit of a group, how many of its members have a greater id: the members are sorted in between the
    // hits, which are few, and not among themselves.
    void rank_by_id(const std::vector<Entry>& entries, std::int64_t start, std::int64_t stop, std::size_t first,
                    std::size_t last, Hit* found) {
        const auto id = [&](std::size_t hit) { return entries[std::size_t(hits_[first + hit])].id(); };
        order_.resize(last - first);
        std::iota(order_.begin(), order_.end(), std::size_t(0));
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return id(a) > id(b); });
        greater_.assign(order_.size() + 1, 0);
        std::size_t next_out = static_cast<std::size_t>(left_out_before(start));
        for (std::int64_t place = start; place < stop; ++place) {
            if (next_out < left_out_.size() && left_out_[next_out] == place) {
                ++next_out;
                continue;
            }
            const auto member = entries[std::size_t(place)].id();
            const auto below =
                std::partition_point(order_.begin(), order_.end(), [&](std::size_t hit) { return id(hit) >= member; });
            ++greater_[std::size_t(below - order_.begin())];
        }
        std::int64_t so_far = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            so_far += greater_[i];
            found[order_[i]].falling = so_far;
        }
    }

    // Work space of one list.
    std::vector<std::int64_t> hits_;
    std::vector<std::int64_t> left_out_;
    std::vector<std::size_t> order_;
    std::vector<std::int64_t> greater_;
};

}  // namespace kernels
