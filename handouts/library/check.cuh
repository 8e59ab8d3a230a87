// SPDX-License-Identifier: MIT
// What the examples share: device arrays that free themselves, and checks that end the program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t code = (call);                                             \
    if (code != cudaSuccess) {                                                   \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(code)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (false)

inline void expect(bool is_right, const char* what) {
  std::printf("%-40s %s\n", what, is_right ? "right" : "WRONG");
  if (!is_right) std::exit(1);
}

// n values in device memory.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n) { CHECK(cudaMalloc(&d_data_, n * sizeof(T))); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    CHECK(cudaMemcpy(d_data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(d_data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return d_data_; }
  std::vector<T> on_host() const {
    std::vector<T> values(n_);
    CHECK(cudaMemcpy(values.data(), d_data_, n_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* d_data_ = nullptr;
  std::size_t n_;
};
