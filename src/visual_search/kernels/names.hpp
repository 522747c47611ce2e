// Byte strings kept in one place and numbered, and a set of hashes that stops growing when it is large enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace kernels {

inline std::uint64_t stirred(std::uint64_t x) {
    x = (x ^ x >> 32) * 0x9E3779B97F4A7C15u;
    return (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
}

inline std::uint64_t hash_of(std::string_view text) {
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t hash = left;
    std::uint64_t word;
    for (; left > 8; at += 8, left -= 8) {
        std::memcpy(&word, at, 8);
        hash = stirred(hash ^ word);
    }
    word = 0;
    if (left == 8) {
        std::memcpy(&word, at, 8);
    } else if (left >= 4) {  // two halves that overlap
        std::uint32_t head, tail;
        std::memcpy(&head, at, 4);
        std::memcpy(&tail, at + left - 4, 4);
        word = std::uint64_t(head) << 32 | tail;
    } else {
        for (std::size_t i = 0; i < left; ++i) word = word << 8 | static_cast<unsigned char>(at[i]);
    }
    hash = stirred(hash ^ word);
    return hash ^ hash >> 32;
}

// Memory that is given out in pieces and taken back all at once; pieces never move.
class Arena {
  public:
    Arena() = default;
    Arena(Arena&&) = default;
    Arena& operator=(Arena&&) = default;

    std::string_view keep(std::string_view text) {
        if (text.size() > free_) {
            free_ = std::max(text.size(), chunk);
            chunks_.push_back(std::make_unique<char[]>(free_));
            next_ = chunks_.back().get();
        }
        char* const copy = next_;
        if (!text.empty()) std::memcpy(copy, text.data(), text.size());
        next_ += text.size();
        free_ -= text.size();
        return {copy, text.size()};
    }
    void clear() {
        chunks_.clear();
        free_ = 0;
    }

  private:
    static constexpr std::size_t chunk = std::size_t(1) << 16;
    std::vector<std::unique_ptr<char[]>> chunks_;
    char* next_ = nullptr;
    std::size_t free_ = 0;
};

// Open addressing over indices that start at 0. A slot holds the upper half of the hash and the index plus one, so
// that names are compared only where half the hash agrees.
class Slots {
  public:
    explicit Slots(std::size_t expected = 0) { reset(expected); }

    void reset(std::size_t expected) {
        std::size_t size = 16;
        while (size < 2 * expected + 2) size *= 2;
        slots_.assign(size, 0);
        mask_ = size - 1;
        used_ = 0;
    }
    // The index whose name is the same, or -1; `same` is asked about candidates.
    template <class Same>
    std::int64_t find(std::uint64_t hash, Same&& same) const {
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const std::uint64_t slot = slots_[at];
            if (slot == 0) return -1;
            const auto index = static_cast<std::int64_t>(slot & low) - 1;
            if ((slot ^ hash) <= low && same(index)) return index;
        }
    }
    // As find, and where there is none takes `index` in; `hash_again` gives the hash of an index when they move.
    template <class Same, class HashAgain>
    std::int64_t find_or_add(std::uint64_t hash, std::int64_t index, Same&& same, HashAgain&& hash_again) {
        if (2 * used_ >= slots_.size()) grow(hash_again);
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            const std::uint64_t slot = slots_[at];
            if (slot == 0) {
                slots_[at] = (hash & ~low) | static_cast<std::uint64_t>(index + 1);
                ++used_;
                return -1;
            }
            const auto there = static_cast<std::int64_t>(slot & low) - 1;
            if ((slot ^ hash) <= low && same(there)) return there;
        }
    }

    // Asks for the memory that a look-up of this hash begins with.
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & mask_]); }
    // The index where a look-up of this hash begins, -1 if there is none.
    std::int64_t peek(std::uint64_t hash) const {
        return static_cast<std::int64_t>(slots_[hash & mask_] & low) - 1;
    }

  private:
    static constexpr std::uint64_t low = 0xFFFFFFFFu;

    template <class HashAgain>
    void grow(HashAgain&& hash_again) {
        std::vector<std::uint64_t> old(2 * slots_.size(), 0);
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const std::uint64_t slot : old) {
            if (slot == 0) continue;
            std::size_t at = hash_again(static_cast<std::int64_t>(slot & low) - 1) & mask_;
            while (slots_[at] != 0) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }
    std::vector<std::uint64_t> slots_;
    std::size_t mask_ = 0;
    std::size_t used_ = 0;
};

// Distinct names, numbered in the order they came; at most 2^32 - 2 of them.
class Names {
  public:
    std::int64_t find(std::string_view name, std::uint64_t hash) const {
        return slots_.find(hash, [&](std::int64_t i) { return names_[std::size_t(i)] == name; });
    }
    std::int64_t find(std::string_view name) const { return find(name, hash_of(name)); }

    // The number of the name, and whether it is new.
    std::pair<std::int64_t, bool> add(std::string_view name, std::uint64_t hash) {
        const auto next = static_cast<std::int64_t>(names_.size());
        const auto there = slots_.find_or_add(
            hash, next, [&](std::int64_t i) { return names_[std::size_t(i)] == name; },
            [&](std::int64_t i) { return hash_of(names_[std::size_t(i)]); });
        if (there >= 0) return {there, false};
        names_.push_back(arena_.keep(name));
        return {next, true};
    }
    std::pair<std::int64_t, bool> add(std::string_view name) { return add(name, hash_of(name)); }
    // Adds many names. A large table is in no cache, so the memory for all of them is asked for before any is needed.
    void add_all(const std::string_view* names, std::size_t count, std::vector<std::int64_t>& numbers) {
        std::uint64_t hashes[together];
        for (std::size_t first = 0; first < count; first += together) {
            const std::size_t some = std::min(together, count - first);
            for (std::size_t i = 0; i < some; ++i) slots_.prefetch(hashes[i] = hash_of(names[first + i]));
            for (std::size_t i = 0; i < some; ++i) {
                const std::int64_t near = slots_.peek(hashes[i]);
                if (near >= 0) __builtin_prefetch(&names_[std::size_t(near)]);
            }
            for (std::size_t i = 0; i < some; ++i) {
                const std::int64_t near = slots_.peek(hashes[i]);
                if (near >= 0) __builtin_prefetch(names_[std::size_t(near)].data());
            }
            for (std::size_t i = 0; i < some; ++i) numbers.push_back(add(names[first + i], hashes[i]).first);
        }
    }
    std::string_view operator[](std::int64_t index) const { return names_[std::size_t(index)]; }
    std::size_t size() const { return names_.size(); }

  private:
    static constexpr std::size_t together = 32;
    Slots slots_;
    std::vector<std::string_view> names_;
    Arena arena_;
};

// Distinct hashes, counted up to a limit; past it only that there are more is known.
class Distinct {
  public:
    explicit Distinct(std::size_t limit) : limit_(limit) {
        std::size_t size = 16;
        while (size < 2 * limit + 2) size *= 2;
        slots_.assign(size, 0);
    }

    void add(std::uint64_t hash) {
        if (count_ > limit_) return;
        const std::uint64_t wanted = hash ? hash : 1;  // 0 marks an empty slot
        std::size_t at = wanted & (slots_.size() - 1);
        while (slots_[at] != 0 && slots_[at] != wanted) at = (at + 1) & (slots_.size() - 1);
        count_ += slots_[at] == 0;
        slots_[at] = wanted;
    }
    void add(const Distinct& other) {
        if (other.count_ > limit_) count_ = limit_ + 1;
        for (const std::uint64_t hash : other.slots_) {
            if (hash != 0) add(hash);
        }
    }
    std::size_t count() const { return count_; }

  private:
    std::size_t limit_;
    std::size_t count_ = 0;
    std::vector<std::uint64_t> slots_;
};

}  // namespace kernels
