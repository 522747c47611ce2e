// Finds the judged items in lists of integer ids.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "list_join.hpp"
#include "names.hpp"

namespace kernels {

struct IdEntry {
    std::int64_t item;
    double score;
    std::int32_t judged;
    std::int32_t place;  // column of the matrix

    std::int64_t id() const { return item; }
};

// What is wrong with lists: how many places, and the first of them by list and place.
struct Offence {
    std::int64_t count = 0;
    std::int64_t list = -1;
    std::int64_t place = -1;

    void add(std::int64_t where, std::int64_t at) {
        if (count++ == 0) {
            list = where;
            place = at;
        }
    }
    void absorb(const Offence& later) {
        if (count == 0) *this = later;
        else count += later.count;
    }
};

struct JudgedIds {
    const std::int64_t* offsets;   // of the queries
    const std::int64_t* ids;       // of the judged pairs
    const std::uint8_t* ignored;   // of the judged pairs
    const std::int64_t* query_of;  // of each list, -1 where it has no judgements
};

class IdJoin {
  public:
    explicit IdJoin(std::size_t gallery_limit) : gallery_(gallery_limit) {}

    // Lists first .. last of a matrix of ids with `depth` columns, best first; ids equal to `pad` are no results.
    // Without scores (null) the order alone counts and nothing ties.
    template <class Id, class Score>
    void read(const Id* ids, const Score* scores, std::int64_t depth, std::int64_t first, std::int64_t last, bool padded,
              std::int64_t pad, const JudgedIds& judged) {
        for (std::int64_t list = first; list < last; ++list) {
            entries_.clear();
            double before = HUGE_VAL;
            for (std::int64_t place = 0; place < depth; ++place) {
                const auto id = static_cast<std::int64_t>(ids[list * depth + place]);
                if (padded && id == pad) continue;
                const double score =
                    scores ? static_cast<double>(scores[list * depth + place]) : -static_cast<double>(place);
                if (!std::isfinite(score)) not_finite.add(list, place);
                if (score > before) rising.add(list, place);
                before = score;
                entries_.push_back({id, score, -1, static_cast<std::int32_t>(place)});
            }
            const std::int64_t query = judged.query_of[list];
            match(list, query, judged);
            if (query >= 0) join_.add(entries_, query, judged.offsets[query], judged.ignored, found);
        }
    }

    void absorb(const IdJoin& later) {
        found.absorb(later.found);
        gallery_.add(later.gallery_);
        not_finite.absorb(later.not_finite);
        rising.absorb(later.rising);
        repeated.absorb(later.repeated);
    }

    std::size_t gallery() const { return gallery_.count(); }

    Found found;
    Offence not_finite;
    Offence rising;
    Offence repeated;

  private:
    void match(std::int64_t list, std::int64_t query, const JudgedIds& judged) {
        const std::int64_t begin = query < 0 ? 0 : judged.offsets[query];
        const std::int64_t count = query < 0 ? 0 : judged.offsets[query + 1] - begin;
        const auto id = [&](std::int64_t index) {
            return index < count ? judged.ids[begin + index] : entries_[std::size_t(index - count)].item;
        };
        const auto hash = [](std::int64_t item) { return stirred(static_cast<std::uint64_t>(item)); };
        const auto never = [](std::int64_t) -> std::uint64_t { return 0; };  // the table does not grow
        slots_.reset(std::size_t(count) + entries_.size());
        for (std::int64_t index = 0; index < count; ++index) {
            slots_.find_or_add(hash(id(index)), index, [&](std::int64_t other) { return id(other) == id(index); }, never);
        }
        taken_.assign(std::size_t(count), false);
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            IdEntry& entry = entries_[e];
            const std::uint64_t code = hash(entry.item);
            gallery_.add(code);
            const std::int64_t there = slots_.find_or_add(
                code, count + static_cast<std::int64_t>(e), [&](std::int64_t index) { return id(index) == entry.item; },
                never);
            if (there < 0) continue;
            if (there < count && !taken_[std::size_t(there)]) {
                entry.judged = static_cast<std::int32_t>(there);
                taken_[std::size_t(there)] = true;
            } else {
                repeated.add(list, entry.place);
            }
        }
    }

    Distinct gallery_;
    ListJoin<IdEntry> join_;
    // Work space of one list.
    std::vector<IdEntry> entries_;
    Slots slots_;
    std::vector<char> taken_;
};

}  // namespace kernels
