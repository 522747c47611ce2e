// Reads a TREC run and finds the judged items in it, list by list, keeping nothing of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "good_lines.hpp"
#include "list_join.hpp"
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

// What is done with scores before they are compared: nothing, rounded to float32, or those above 0 kept.
enum class Scores { as_given = 0, rounded = 1, positive = 2 };

struct Entry {
    const char* item = nullptr;
    std::uint32_t length = 0;
    std::int32_t judged = -1;  // which of the query's entries it is, -1 if none
    std::int32_t rank = 0;     // as the file says
    double score = 0;
    std::int64_t line = 0;

    std::string_view id() const { return {item, length}; }
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
    RunReader(const Judged& judged, int scores, bool grouped, bool head_open, std::size_t shown,
              std::size_t gallery_limit)
        : judged_(judged),
          scores_(static_cast<Scores>(scores)),
          grouped_(grouped),
          head_open_(head_open),
          problems_(shown),
          gallery_(gallery_limit) {}

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
            found_.absorb(later.found_);
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
    const Found& found() const { return found_; }
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
        Entry& entry = list.entries.emplace_back();  // then field by field, which need not wait for a copy
        entry.item = item.data();
        entry.length = static_cast<std::uint32_t>(item.size());
        entry.rank = rank;
        entry.score = score;
        entry.line = lines_;
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
            entry.item = arena.keep(entry.id()).data();
        }
    }

    void append(const List& list, std::int64_t lines_before) {
        for (Entry entry : list.entries) {
            entry.item = arena_.keep(entry.id()).data();
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
        prepare(list.entries);
        join_.add(list.entries, query, judged_.offsets[std::size_t(query)], judged_.ignored.data(), found_);
    }

    // Puts a list in order and its scores in the form in which they are compared.
    void prepare(std::vector<Entry>& entries) const {
        const auto higher = [](const Entry& a, const Entry& b) { return a.score > b.score; };
        if (!std::is_sorted(entries.begin(), entries.end(), higher)) {
            std::stable_sort(entries.begin(), entries.end(), higher);
        }
        if (scores_ == Scores::rounded) {
            for (Entry& entry : entries) entry.score = static_cast<double>(static_cast<float>(entry.score));
        } else if (scores_ == Scores::positive) {
            const auto first = std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.score <= 0; });
            entries.erase(first, entries.end());
        }
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
            return index < judged ? judged_.item_names[row(index)] : entries[std::size_t(index - judged)].id();
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
            const std::uint64_t hash = hash_of(entry.id());
            gallery_.add(hash);
            const std::int64_t there = slots_.find_or_add(
                hash, judged + static_cast<std::int64_t>(e),
                [&](std::int64_t index) { return name(index) == entry.id(); }, never);
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
            problems_.add(entry.line, Fault::repeated, entries[earlier].line, seen_[list.query], entry.id());
        }
    }

    const Judged& judged_;
    const Scores scores_;
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
    Found found_;
    ListJoin<Entry> join_;
    // Work space of one list.
    Slots slots_;
    std::vector<std::int64_t> first_;
};

}  // namespace kernels
