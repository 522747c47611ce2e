// Values that become more: written where they will stay, into room that nothing was written into before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace kernels {

template <class T>
class Growing {
  public:
    // Room for so many more behind the last; `add` says how many of them were written.
    T* room_for(std::size_t more) {
        if (count_ + more > room_) {
            room_ = std::max(2 * room_, count_ + more);
            std::unique_ptr<T[]> wider(new T[room_]);
            std::copy(begin(), end(), wider.get());
            values_ = std::move(wider);
        }
        return end();
    }
    void add(std::size_t written) { count_ += written; }

    // The first so many.
    void keep(std::size_t count) { count_ = count; }

    void forget() {
        values_.reset();
        room_ = count_ = 0;
    }

    std::size_t size() const { return count_; }
    T* begin() { return values_.get(); }
    T* end() { return values_.get() + count_; }
    const T* begin() const { return values_.get(); }
    const T* end() const { return values_.get() + count_; }

  private:
    std::unique_ptr<T[]> values_;
    std::size_t count_ = 0, room_ = 0;
};

}  // namespace kernels
