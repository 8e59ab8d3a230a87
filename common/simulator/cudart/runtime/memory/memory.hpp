// SPDX-License-Identifier: MIT
// Pointers and memory: which allocation contains an address, whether a range is inside its allocation, and
// copies and fills between host and device memory. Most of the code rejects what a GPU would reject.
// Invariant: check_* accesses no memory. run_* is only called with arguments that check_* has accepted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);  // NOLINT
}

// A copy of the facts about an allocation on any device.
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

// The allocation that contains `pointer`, of any device; std::nullopt for ordinary and registered memory of
// the host. Takes the locks of the contexts.
std::optional<Place> locate(const void* pointer);

// "lies 4 bytes past the end of d_spare, which has 20 bytes", of a pointer in no allocation that is near the
// end of one (or, with simConfine(), of one of its arrays); nothing for all others.
std::optional<std::string> past_an_array(const void* pointer);

// An error if the host can't store a pointer there: at a null pointer, or in device memory.
Status check_out(const void* out);
// Stores nullptr in `out` for zero bytes, as CUDA does. Takes the context's lock.
Status allocate(Context& context, std::uint64_t n_bytes, sim::MemoryKind kind, Owned owned, void** out);
// Release an allocation. An error if another call must release it, or if there is none.
Status release_device(void* pointer);  // cudaFree
Status release_host(void* pointer);    // cudaFreeHost
// What kernels of the device find outside of its own memory: registered memory at the host's address, and of
// other devices page-locked and managed memory, and what it may access since cudaDeviceEnablePeerAccess.
// Also, with the reason of the refusal, what it must not access. Takes no context's lock, because another
// kernel may hold it.
std::vector<sim::OtherMemory> memory_of_others(const Context& context);
// Releases an allocation of any origin on this device. An error if there is none.
Status release(Context& context, std::uint64_t base);

// Rows of `width` bytes, `height` of them per slice, `depth` slices.
struct CopyOp {
  std::byte* dst = nullptr;
  std::uint64_t dst_pitch = 0, dst_slice = 0;  // bytes from one row, or slice, to the next
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
// Executes the operation and adds its modelled time to the device's timeline.
Status run_copy(Context& context, const CopyOp& copy);
Status run_fill(Context& context, const FillOp& fill);
// The modelled time of a fill, in µs.
double fill_us(const sim::DevicePreset& chip, std::uint64_t n_bytes);
// The modelled time of a copy from ordinary memory of the host, in µs.
double from_host_us(const sim::DevicePreset& chip, std::uint64_t n_bytes);

// An error unless [pointer, pointer + n_bytes) is inside one allocation (see locate()). `what` names it in
// the message.
Status check_range(const void* pointer, std::uint64_t n_bytes, const char* what);

}  // namespace course::cudart
