// Memory that begins on a cache line, for plain numbers.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace sightline {

template <class T>
class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(size_t count) { reserve(count); }
    Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), room_(std::exchange(other.room_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(room_, other.room_);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    // Room for so many; what was in it is lost where it has to grow.
    T* reserve(size_t count) {
        if (count <= room_) return data_;
        std::free(data_);
        data_ = nullptr, room_ = 0;
        size_t bytes = (count * sizeof(T) + 63) / 64 * 64;
        data_ = static_cast<T*>(std::aligned_alloc(64, bytes));
        if (!data_) throw std::bad_alloc();
        room_ = count;
        return data_;
    }
    // The same, all zero.
    T* zeros(size_t count) {
        reserve(count);
        std::memset(data_, 0, count * sizeof(T));
        return data_;
    }
    T* get() { return data_; }
    const T* get() const { return data_; }
    T& operator[](size_t place) { return data_[place]; }
    const T& operator[](size_t place) const { return data_[place]; }

   private:
    T* data_ = nullptr;
    size_t room_ = 0;
};

}  // namespace sightline
