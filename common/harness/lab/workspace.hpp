// SPDX-License-Identifier: MIT
// The arrays of a task's workspace. A lab lists them once, in its dispatch.hpp: its jobs get the pointers,
// and its Problem the names and the size.
// Between two arrays is a gap, so that an index past the end of one does not reach the next. The simulator
// stops an access to a gap; on a GPU, the harness looks for changed bytes there.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "lab/request.hpp"

namespace course::lab {

inline constexpr std::uint64_t kWorkspaceGap = 4096;  // bytes: a multiple of every alignment
inline constexpr std::size_t kMaxWorkspaceArrays = 8;

// The item type that stands for T; a struct of 8 bytes is a u64.
template <typename T>
consteval DType dtype_of() {
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? DType::f32 : DType::f64;
  if constexpr (sizeof(T) == 1) return DType::u8;
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? DType::i32 : DType::u32;
  static_assert(sizeof(T) == 8 || sizeof(T) == 4 || sizeof(T) == 1);
  return std::is_signed_v<T> ? DType::i64 : DType::u64;
}

// Calls f(T{}) with the type T among these that `dtype` stands for; with the last one if it is none of them.
template <typename T, typename... Others, typename F>
decltype(auto) with_type(DType dtype, F f) {
  if constexpr (sizeof...(Others) > 0) {
    if (dtype != dtype_of<T>()) return with_type<Others...>(dtype, f);
  }
  return f(T{});
}
template <typename F>
decltype(auto) with_any_type(DType dtype, F f) {
  return with_type<std::uint8_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>(
      dtype, f);
}

class Workspace {
 public:
  struct Array {
    std::string_view name;  // as in the lab's API
    DType dtype;
    std::uint64_t count, first_byte;
  };

  // Adds an array, behind those that were added before. `alignment`: of its first byte, a power of two.
  constexpr Workspace& add(std::string_view name, DType dtype, std::uint64_t count,
                           std::uint64_t alignment = 256) {
    const std::uint64_t begin = n_arrays_ == 0 ? 0 : n_bytes_ + kWorkspaceGap;
    arrays_[n_arrays_++] = {name, dtype, count, (begin + alignment - 1) / alignment * alignment};
    n_bytes_ = arrays_[n_arrays_ - 1].first_byte + count * bytes_of(dtype);
    return *this;
  }
  // The address of an array in the workspace at `d_workspace`; nullptr if there is no array of this name.
  template <typename T>
  T* address(void* d_workspace, std::string_view name) const {
    for (const Array& array : arrays())
      if (array.name == name)
        return reinterpret_cast<T*>(static_cast<unsigned char*>(d_workspace) + array.first_byte);
    return nullptr;
  }
  constexpr std::span<const Array> arrays() const { return std::span(arrays_).first(n_arrays_); }
  constexpr std::uint64_t n_bytes() const { return n_bytes_; }

 private:
  std::array<Array, kMaxWorkspaceArrays> arrays_{};
  std::size_t n_arrays_ = 0;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace course::lab
