// SPDX-License-Identifier: MIT
// A large array of zeros. Only touched pages take physical memory, so it can be shadow memory for the whole
// arena. The constructor throws std::bad_alloc if no address space is left.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace course::sim {

template <typename T>
class Reserved {
 public:
  explicit Reserved(std::size_t n) : bytes_(n * sizeof(T)) {
    void* const place =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(place);
  }
  ~Reserved() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Reserved(Reserved&& other) noexcept : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;

  // For an array that is filled from its start: fewer page faults.
  void use_huge_pages() { madvise(data_, bytes_, MADV_HUGEPAGE); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  // Sets all elements to zero.
  void clear() { madvise(data_, bytes_, MADV_DONTNEED); }
  // Returns the whole pages of elements [first, first + n) to the host; these elements become zero.
  void drop(std::size_t first, std::size_t n) {
    constexpr std::size_t page = 4096;
    const std::size_t begin = (first * sizeof(T) + page - 1) / page * page,
                      end = std::min((first + n) * sizeof(T), bytes_) / page * page;
    if (end > begin) madvise(reinterpret_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
  }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

// An array that grows at its end without moving, of up to `most` plain elements.
template <typename T>
class Log {
 public:
  explicit Log(std::size_t most) : all_(most) { all_.use_huge_pages(); }
  std::size_t size() const { return n_; }
  T& operator[](std::size_t k) { return all_.data()[k]; }
  const T& operator[](std::size_t k) const { return all_.data()[k]; }
  void push_back(const T& one) { all_.data()[n_++] = one; }
  void clear() { n_ = 0; }
  std::span<const T> all() const { return {all_.data(), n_}; }

 private:
  Reserved<T> all_;
  std::size_t n_ = 0;
};

}  // namespace course::sim
