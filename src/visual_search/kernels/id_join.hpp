// Finds the judged items in lists of integer ids.
#pragma once

#include <algorithm>
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
            entries_.resize(std::size_t(depth));
            std::size_t count = 0;
            double before = HUGE_VAL;
            for (std::int64_t place = 0; place < depth; ++place) {
                const auto id = static_cast<std::int64_t>(ids[list * depth + place]);
                if (padded && id == pad) continue;
                const double score =
                    scores ? static_cast<double>(scores[list * depth + place]) : -static_cast<double>(place);
                if (!std::isfinite(score)) not_finite.add(list, place);
                if (score > before) rising.add(list, place);
                before = score;
                // Field by field: an entry that is made first and copied then waits for its own bytes.
                IdEntry& entry = entries_[count++];
                entry.item = id;
                entry.score = score;
                entry.judged = -1;
                entry.place = static_cast<std::int32_t>(place);
            }
            entries_.resize(count);
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
    // Tells each entry which judged item it is, and reports items that are listed twice.
    //
    // A list that is not long marks a bit per item: where a bit is marked already, which is rare, the entries before
    // are looked through. Longer lists look every item up in a table.
    void match(std::int64_t list, std::int64_t query, const JudgedIds& judged) {
        const std::int64_t begin = query < 0 ? 0 : judged.offsets[query];
        const std::int64_t count = query < 0 ? 0 : judged.offsets[query + 1] - begin;
        const std::int64_t* const wanted = judged.ids + begin;
        const bool by_bits = entries_.size() <= most_by_bits;
        slots_.reset(std::size_t(count) + (by_bits ? 0 : entries_.size()));
        judged_bits_.assign(bits_for_judged / 64, 0);
        for (std::int64_t index = 0; index < count; ++index) {
            const std::uint64_t hash = hash_of_id(wanted[index]);
            mark(judged_bits_, hash % bits_for_judged);
            slots_.find_or_add(hash, index, [&](std::int64_t other) { return wanted[other] == wanted[index]; }, never);
        }
        taken_.assign(std::size_t(count), false);
        if (by_bits) match_by_bits(list, wanted);
        else match_by_table(list, wanted, count);
    }

    void match_by_bits(std::int64_t list, const std::int64_t* wanted) {
        std::size_t bits = 1 << 12;
        while (bits < 64 * entries_.size()) bits *= 2;
        seen_bits_.assign(bits / 64, 0);
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            IdEntry& entry = entries_[e];
            const std::uint64_t hash = hash_of_id(entry.item);
            gallery_.add(hash);
            if (mark(seen_bits_, (hash >> 32) & (bits - 1)) && stands_before(e)) {
                repeated.add(list, entry.place);
            } else if (judged_bits_[hash % bits_for_judged / 64] >> (hash % 64) & 1) {
                const auto index = slots_.find(hash, [&](std::int64_t i) { return wanted[i] == entry.item; });
                entry.judged = static_cast<std::int32_t>(index);
            }
        }
    }

    void match_by_table(std::int64_t list, const std::int64_t* wanted, std::int64_t count) {
        const auto id = [&](std::int64_t index) {
            return index < count ? wanted[index] : entries_[std::size_t(index - count)].item;
        };
        for (std::size_t e = 0; e < entries_.size(); ++e) {
            IdEntry& entry = entries_[e];
            const std::uint64_t hash = hash_of_id(entry.item);
            gallery_.add(hash);
            const std::int64_t there = slots_.find_or_add(
                hash, count + static_cast<std::int64_t>(e), [&](std::int64_t index) { return id(index) == entry.item; },
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

    bool stands_before(std::size_t e) const {
        const std::int64_t item = entries_[e].item;
        return std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(e),
                           [item](const IdEntry& entry) { return entry.item == item; });
    }

    // Sets a bit and tells whether it was set already.
    static bool mark(std::vector<std::uint64_t>& bits, std::uint64_t bit) {
        std::uint64_t& word = bits[bit / 64];
        const std::uint64_t one = std::uint64_t(1) << (bit % 64);
        const bool was = (word & one) != 0;
        word |= one;
        return was;
    }
    static std::uint64_t hash_of_id(std::int64_t item) {
        const std::uint64_t hash = stirred(static_cast<std::uint64_t>(item));
        return hash ^ hash >> 32;
    }
    static std::uint64_t never(std::int64_t) { return 0; }  // tables here do not grow

    static constexpr std::size_t most_by_bits = 4096;
    static constexpr std::uint64_t bits_for_judged = 4096;

    Distinct gallery_;
    ListJoin<IdEntry> join_;
    // Work space of one list.
    std::vector<IdEntry> entries_;
    Slots slots_;
    std::vector<char> taken_;
    std::vector<std::uint64_t> seen_bits_;
    std::vector<std::uint64_t> judged_bits_;
};

}  // namespace kernels
