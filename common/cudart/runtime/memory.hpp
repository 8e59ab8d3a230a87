// SPDX-License-Identifier: MIT
// Pointers: who owns an address, is a range inside its allocation, copies and fills between host and device memory.
// A copy is one call of the device; what costs thought is refusing what a GPU would refuse.
// Invariant: check_* touches no memory; run_* is only called with what check_* accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);  // NOLINT
}

// An allocation as seen from outside, on whichever device it is.
struct Place {
  Context* context = nullptr;
  std::uint64_t base = 0;
  std::uint64_t size = 0;
  sim::MemoryKind kind = sim::MemoryKind::device;
  std::string name;

  bool on_device_only() const {
    return kind == sim::MemoryKind::device || kind == sim::MemoryKind::module_variable;
  }
};

// Where `pointer` points into device-accessible memory; nothing for ordinary host memory.
std::optional<Place> locate(const void* pointer);

// `out` is nullptr for zero bytes, as in CUDA.
Status allocate(Context& context, std::uint64_t n_bytes, sim::MemoryKind kind, Owned owned, void** out);
// Releases an allocation whose origin is among the allowed ones.
Status release_device(void* pointer);  // cudaFree
Status release_host(void* pointer);    // cudaFreeHost
// Of any origin, on this device; for pools, graphs and resets.
Status release(Context& context, std::uint64_t base);

// Rows of `width` bytes, `height` of them per slice, `depth` slices.
struct CopyOp {
  std::byte* dst = nullptr;
  std::uint64_t dst_pitch = 0, dst_slice = 0;  // bytes from row to row, from slice to slice
  const std::byte* src = nullptr;
  std::uint64_t src_pitch = 0, src_slice = 0;
  std::uint64_t width = 0, height = 1, depth = 1;
  cudaMemcpyKind kind = cudaMemcpyDefault;
};
CopyOp linear_copy(void* dst, const void* src, std::uint64_t n_bytes, cudaMemcpyKind kind);

struct FillOp {
  std::byte* dst = nullptr;
  std::uint64_t pitch = 0, slice = 0;
  unsigned value = 0;
  unsigned element_bytes = 1;
  std::uint64_t width = 0, height = 1, depth = 1;  // width in elements
};

Status check_copy(const CopyOp& copy);
Status check_fill(const FillOp& fill);
// Executes and charges the modelled time to `context`.
Status run_copy(Context& context, const CopyOp& copy);
Status run_fill(Context& context, const FillOp& fill);
// What a fill of that many bytes takes on such a chip, µs (modelled).
double fill_us(const sim::DevicePreset& chip, std::uint64_t n_bytes);

// Is [pointer, pointer + n_bytes) inside one allocation of managed (or any device-accessible) memory?
Status check_range(const void* pointer, std::uint64_t n_bytes, const char* what);

}  // namespace course::cudart
