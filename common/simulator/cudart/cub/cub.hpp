// SPDX-License-Identifier: MIT
// Tools for the programs in this folder: device arrays, reproducible numbers, and CUB's two-call protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../programs/check.hpp"

// The sizes with which every algorithm is tested: empty, one item, less than a warp, odd, and several tiles
// plus a remainder.
inline const int kSizes[] = {0, 1, 31, 1025, 54321, 1'000'003};

// A device copy of host values.
template <typename T>
class Array {
 public:
  explicit Array(std::size_t n) : n_(n) { CHECK(cudaMalloc(&data_, (n == 0 ? 1 : n) * sizeof(T))); }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    if (n_ > 0) CHECK(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* get() const { return data_; }
  std::vector<T> values() const { return first(n_); }
  std::vector<T> first(std::size_t n) const {
    std::vector<T> values(n);
    if (n > 0) CHECK(cudaMemcpy(values.data(), data_, n * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }
  T front() const { return first(1)[0]; }

 private:
  T* data_ = nullptr;
  std::size_t n_;
};

// Calls a CUB algorithm twice, first for the size of its temporary memory: `call(d_temporary, n_bytes)`.
template <typename Call>
void with_temporary(const Call& call) {
  std::size_t n_bytes = 0;
  CHECK(call(nullptr, n_bytes));
  Array<char> temporary(n_bytes);
  CHECK(call(static_cast<void*>(temporary.get()), n_bytes));
  CHECK(cudaDeviceSynchronize());
}

#define CUB(algorithm, ...) \
  with_temporary([&](void* t, std::size_t& b) { return cub::algorithm(t, b, __VA_ARGS__); })

// Pseudorandom numbers, the same in each run.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  std::uint64_t below(std::uint64_t bound) { return (next() >> 16) % bound; }

 private:
  std::uint64_t state_;
};

template <typename T, typename Make>
std::vector<T> made(int n, std::uint64_t seed, Make make) {
  Numbers numbers(seed);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& v : values) v = make(numbers);
  return values;
}
template <typename T>
std::vector<T> random_bits(int n, std::uint64_t seed) {
  return made<T>(n, seed, [](Numbers& r) { return static_cast<T>(r.next() >> 8); });
}
