// Reads a TREC run and finds the judged items in it, list by list, keeping nothing of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "good_lines.hpp"
#include "names.hpp"

namespace kernels {

// The judged and ignored pairs; entry e of query q is one of offsets[q] .. offsets[q + 1].
struct Judged {
    Names queries;
    std::vector<std::string_view> item_names;
    std::vector<std::uint64_t> item_hashes;
    std::vector<std::int64_t> offsets;
    std::vector<std::int64_t> rows;  // of item_names
    std::vector<std::uint8_t> ignored;
    Arena arena;

    void add_item(std::string_view name) {
        item_names.push_back(arena.keep(name));
        item_hashes.push_back(hash_of(name));
    }
};

// A judged item of a list.
struct Hit {
    std::int64_t entry;    // of Judged
    std::int64_t above;    // items of the list that score strictly higher
    std::int64_t tied;     // items of the list that have this score, the hit included
    std::int64_t listed;   // of these, how many come before it in the file
    std::int64_t falling;  // of these, how many have a greater id
};

// A list of a judged query; its hits follow those of the list before it.
struct Summary {
    std::int64_t query;
    std::int64_t length;  // ignored items taken out, as everywhere
    std::int64_t ignored;
    std::int64_t listed;     // with ignored items
    std::int64_t hits;
    bool ends_tied;  // the last two scores, of ignored items too, are equal
};

struct Entry {
    const char* item;
    std::uint32_t length;
    std::int32_t judged;  // which of the query's entries it is, -1 if none
    std::int32_t rank;    // as the file says
    double score;
    std::int64_t line;

    std::string_view name() const { return {item, length}; }
};

struct List {
    std::int64_t query = -1;  // among the reader's seen queries
    std::vector<Entry> entries;
    std::size_t safe = 0;  // entries before this do not point into the block at hand
};

class RunReader {
  public:
    // grouped: each query's lines stand together, so that a list is complete when the next begins; if that turns out
    // wrong, interleaved() says so and the file has to be read again with grouped = false, which keeps every list.
    // head_open: the file is read from the middle, so that the first list may have begun before.
    RunReader(const Judged& judged, bool grouped, bool head_open, std::size_t shown, std::size_t gallery_limit)
        : judged_(judged), grouped_(grouped), head_open_(head_open), problems_(shown), gallery_(gallery_limit) {}

    // Takes the whole lines of a block and tells how many bytes they are.
    std::size_t feed(const char* bytes, std::size_t size) {
        const bool ascii = is_ascii({bytes, size});
        const std::size_t used = each_line(bytes, size, [&](const Line& line) { read(line, ascii); });
        if (grouped_) rescue(current_, arena_);
        return used;
    }

    // The next line does not end where any line should; nothing is read from there on.
    void stop_at_long_line() {
        problems_.add(lines_ + 1, Fault::too_long);
        stopped_ = true;
    }

    // Ends the last list; nothing comes after it.
    void finish() {
        if (grouped_) {
            close(current_);
        } else {
            for (List& list : lists_) close(list);
        }
        current_ = List{};
        lists_.clear();
    }

    // Goes on where this reader stopped with what another read from there, head open, to its end.
    void absorb(RunReader& later) {
        if (stopped_) return;
        problems_.take(std::move(later.problems_), lines_);
        gallery_.add(later.gallery_);
        const bool one_list = !later.head_done_;
        List& head = one_list ? later.current_ : later.head_;
        if (!head.entries.empty()) {
            select(later.seen_[head.query]);
            append(head, lines_);
        }
        if (!one_list) {
            close(current_);
            for (std::size_t q = 0; q < later.seen_.size(); ++q) {
                // The head's query is in already; the others must be new, or lists are interleaved.
                const bool fresh = see(later.seen_[std::int64_t(q)]).second;
                interleaved_ |= !fresh && std::int64_t(q) != head.query;
            }
            current_.entries.clear();
            current_.safe = 0;
            current_.query = seen_.find(later.seen_[later.current_.query]);
            append(later.current_, lines_);
            summaries_.insert(summaries_.end(), later.summaries_.begin(), later.summaries_.end());
            hits_.insert(hits_.end(), later.hits_.begin(), later.hits_.end());
        }
        interleaved_ |= later.interleaved_;
        ranked_ &= later.ranked_;
        against_rank_ += later.against_rank_;
        stopped_ |= later.stopped_;
        lines_ += later.lines_;
    }

    // In how many lists an item has a better rank and a lower score than the next in rank.
    std::int64_t against_rank() const { return ranked_ ? against_rank_ : 0; }
    bool interleaved() const { return interleaved_; }
    Problems& problems() { return problems_; }
    std::size_t gallery() const { return gallery_.count(); }
    const std::vector<Summary>& summaries() const { return summaries_; }
    const std::vector<Hit>& hits() const { return hits_; }
    const Names& seen() const { return seen_; }
    // The judged query of each seen one, -1 where it has no judgements.
    const std::vector<std::int64_t>& judged_query() const { return judged_query_; }

  private:
    void read(const Line& line, bool ascii) {
        ++lines_;
        std::string_view fields[kept_fields];
        double score = 0;
        if (!good_line(line, lines_, ascii, kept_fields, 4, fields, score, problems_)) return;
        if (current_.query < 0 || fields[0] != current_name_) select(fields[0]);
        std::string_view item = fields[2];
        if (!grouped_) item = arena_.keep(item);
        std::int32_t rank = 0;
        ranked_ &= parse_rank(fields[3], rank);  // without one in every line no rank is believed
        List& list = grouped_ ? current_ : lists_[std::size_t(current_.query)];
        list.entries.push_back({item.data(), static_cast<std::uint32_t>(item.size()), -1, rank, score, lines_});
    }

    std::pair<std::int64_t, bool> see(std::string_view query) {
        const std::uint64_t hash = hash_of(query);
        const auto [index, fresh] = seen_.add(query, hash);
        if (fresh) judged_query_.push_back(judged_.queries.find(query, hash));
        return {index, fresh};
    }

    // Makes a query's list the current one, ending the one before.
    void select(std::string_view query) {
        const auto [index, fresh] = see(query);
        if (grouped_ && index != current_.query) {
            interleaved_ |= !fresh;
            if (head_open_ && !head_done_ && current_.query >= 0) {
                end_head();
            } else {
                close(current_);
            }
            current_.entries.clear();
            current_.safe = 0;
            arena_.clear();
        }
        if (!grouped_ && fresh) lists_.push_back(List{index, {}, 0});
        current_.query = index;
        current_name_ = seen_[index];
    }

    void end_head() {
        rescue(current_, arena_);
        std::swap(arena_, head_arena_);  // the head outlives the lists after it
        head_ = std::move(current_);
        current_ = List{};
        head_done_ = true;
    }

    // Copies names that still stand in the block.
    static void rescue(List& list, Arena& arena) {
        for (; list.safe < list.entries.size(); ++list.safe) {
            Entry& entry = list.entries[list.safe];
            entry.item = arena.keep(entry.name()).data();
        }
    }

    void append(const List& list, std::int64_t lines_before) {
        for (Entry entry : list.entries) {
            entry.item = arena_.keep(entry.name()).data();
            entry.line += lines_before;
            current_.entries.push_back(entry);
        }
        current_.safe = current_.entries.size();
    }

    // A complete list: checks it, finds its judged items and counts what is above and level with them.
    void close(List& list) {
        if (list.query < 0 || list.entries.empty()) return;
        const std::int64_t query = judged_query_[std::size_t(list.query)];
        match(list, query);
        against_rank_ += ranked_ && is_against_rank(list.entries);
        if (query < 0) return;
        std::vector<Entry>& entries = list.entries;
        const auto higher = [](const Entry& a, const Entry& b) { return a.score > b.score; };
        const auto n = static_cast<std::int64_t>(entries.size());
        if (!std::is_sorted(entries.begin(), entries.end(), higher)) {
            std::stable_sort(entries.begin(), entries.end(), higher);
        }
        places_.clear();
        left_out_.clear();
        const std::int64_t begin = judged_.offsets[std::size_t(query)];
        for (std::int64_t place = 0; place < n; ++place) {
            const std::int32_t judged = entries[std::size_t(place)].judged;
            if (judged < 0) continue;
            (judged_.ignored[std::size_t(begin + judged)] ? left_out_ : places_).push_back(place);
        }
        const auto ignored = static_cast<std::int64_t>(left_out_.size());
        const bool ends_tied = n >= 2 && entries[std::size_t(n - 1)].score == entries[std::size_t(n - 2)].score;
        summaries_.push_back({query, n - ignored, ignored, n, static_cast<std::int64_t>(places_.size()), ends_tied});
        for (std::size_t first = 0; first < places_.size();) first = add_group(entries, begin, first);
    }

    bool is_against_rank(const std::vector<Entry>& entries) {
        const auto rises = [](const Entry& a, const Entry& b) { return a.rank < b.rank && a.score < b.score; };
        const auto earlier = [](const Entry& a, const Entry& b) { return a.rank < b.rank; };
        if (std::is_sorted(entries.begin(), entries.end(), earlier)) {
            return std::adjacent_find(entries.begin(), entries.end(), rises) != entries.end();
        }
        std::vector<Entry> by_rank(entries);
        std::stable_sort(by_rank.begin(), by_rank.end(), earlier);
        return std::adjacent_find(by_rank.begin(), by_rank.end(), rises) != by_rank.end();
    }

    // Adds the hits that share the score of the first of them, and gives the first that does not.
    std::size_t add_group(const std::vector<Entry>& entries, std::int64_t begin, std::size_t first) {
        const double score = entries[std::size_t(places_[first])].score;
        std::int64_t start = places_[first];
        std::int64_t stop = start + 1;
        while (start > 0 && entries[std::size_t(start - 1)].score == score) --start;
        while (stop < static_cast<std::int64_t>(entries.size()) && entries[std::size_t(stop)].score == score) ++stop;
        const auto left_out_before = [&](std::int64_t place) {
            return std::lower_bound(left_out_.begin(), left_out_.end(), place) - left_out_.begin();
        };
        const std::int64_t out = left_out_before(start);
        const std::int64_t tied = stop - start - (left_out_before(stop) - out);
        const std::size_t new_hits = hits_.size();
        std::size_t last = first;
        for (; last < places_.size() && places_[last] < stop; ++last) {
            const std::int64_t place = places_[last];
            const std::int64_t listed = place - start - (left_out_before(place) - out);
            hits_.push_back({begin + entries[std::size_t(place)].judged, start - out, tied, listed, 0});
        }
        if (tied > 1) rank_by_id(entries, begin, start, stop, first, last, new_hits);
        return last;
    }

    // For each hit of a group, how many of its members have a greater id: the members are sorted in between the
    // hits, which are few, and not among themselves.
    void rank_by_id(const std::vector<Entry>& entries, std::int64_t begin, std::int64_t start, std::int64_t stop,
                    std::size_t first, std::size_t last, std::size_t new_hits) {
        const std::size_t count = last - first;
        const auto name = [&](std::size_t hit) { return entries[std::size_t(places_[first + hit])].name(); };
        falling_.resize(count);
        std::iota(falling_.begin(), falling_.end(), std::size_t(0));
        std::sort(falling_.begin(), falling_.end(), [&](std::size_t a, std::size_t b) { return name(a) > name(b); });
        greater_.assign(count + 1, 0);
        for (std::int64_t place = start; place < stop; ++place) {
            const Entry& member = entries[std::size_t(place)];
            if (member.judged >= 0 && judged_.ignored[std::size_t(begin + member.judged)]) continue;
            const auto below = std::partition_point(falling_.begin(), falling_.end(),
                                                    [&](std::size_t hit) { return name(hit) >= member.name(); });
            ++greater_[std::size_t(below - falling_.begin())];
        }
        std::int64_t so_far = 0;
        for (std::size_t i = 0; i < count; ++i) {
            so_far += greater_[i];
            hits_[new_hits + falling_[i]].falling = so_far;
        }
    }

    // Tells each entry which judged item it is, and reports items that are listed twice. The judged items go into
    // the table first, so that one look per line answers both.
    void match(List& list, std::int64_t query) {
        const std::int64_t begin = query < 0 ? 0 : judged_.offsets[std::size_t(query)];
        const std::int64_t judged = query < 0 ? 0 : judged_.offsets[std::size_t(query) + 1] - begin;
        std::vector<Entry>& entries = list.entries;
        const auto row = [&](std::int64_t index) {
            return static_cast<std::size_t>(judged_.rows[std::size_t(begin + index)]);
        };
        const auto name = [&](std::int64_t index) {
            return index < judged ? judged_.item_names[row(index)] : entries[std::size_t(index - judged)].name();
        };
        const auto never = [](std::int64_t) -> std::uint64_t { return 0; };  // the table does not grow
        slots_.reset(std::size_t(judged) + entries.size());
        for (std::int64_t index = 0; index < judged; ++index) {
            slots_.find_or_add(
                judged_.item_hashes[row(index)], index, [&](std::int64_t other) { return row(other) == row(index); },
                never);
        }
        first_.assign(std::size_t(judged), -1);
        for (std::size_t e = 0; e < entries.size(); ++e) {
            Entry& entry = entries[e];
            const std::uint64_t hash = hash_of(entry.name());
            gallery_.add(hash);
            const std::int64_t there = slots_.find_or_add(
                hash, judged + static_cast<std::int64_t>(e),
                [&](std::int64_t index) { return name(index) == entry.name(); }, never);
            if (there < 0) continue;
            std::size_t earlier = std::size_t(there - judged);
            if (there < judged) {
                std::int64_t& first = first_[std::size_t(there)];
                entry.judged = static_cast<std::int32_t>(there);
                if (first < 0) {
                    first = static_cast<std::int64_t>(e);
                    continue;
                }
                earlier = std::size_t(first);
            }
            problems_.add(entry.line, Fault::repeated, entries[earlier].line, seen_[list.query], entry.name());
        }
    }

    const Judged& judged_;
    const bool grouped_;
    const bool head_open_;
    bool head_done_ = false;
    bool interleaved_ = false;
    bool stopped_ = false;
    bool ranked_ = true;
    std::int64_t against_rank_ = 0;
    std::int64_t lines_ = 0;
    Problems problems_;
    Distinct gallery_;
    Names seen_;
    std::vector<std::int64_t> judged_query_;
    std::string_view current_name_;
    List current_;
    List head_;
    std::vector<List> lists_;  // by seen query, where lists are kept
    Arena arena_;
    Arena head_arena_;
    std::vector<Summary> summaries_;
    std::vector<Hit> hits_;
    // Work space of one list.
    Slots slots_;
    std::vector<std::int64_t> first_;
    std::vector<std::int64_t> places_;
    std::vector<std::int64_t> left_out_;
    std::vector<std::size_t> falling_;
    std::vector<std::int64_t> greater_;
};

}  // namespace kernels
