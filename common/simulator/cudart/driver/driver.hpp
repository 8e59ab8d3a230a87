// SPDX-License-Identifier: MIT
// The simulator's libcuda.so.1: the part of the driver API that CCCL, NCCL and cooperative groups use, on top
// of the runtime API of the libcudart that the program has loaded (or of the one in the folder of this
// library). Handles of streams, events, kernels, pools and graphs are those of the runtime; a context stands
// for a device. A function that is not implemented has no entry point: asking for it gives an error and,
// once, its name on stderr. The per-thread default stream is the legacy stream here, because the simulator
// never overlaps streams.
// Files: runtime.cpp (the runtime that is called), context.cpp (errors, devices, contexts), memory.cpp,
// launch.cpp (streams, events, code, launches), entry_points.cpp (how programs look functions up).
// Source: NVIDIA, "CUDA Driver API", version 13.0.
#pragma once

#include <cstdint>
#include <string>

#define DRIVER extern "C" __attribute__((visibility("default"))) int
#define DRIVER_ALIAS(name, target) \
  extern "C" __attribute__((visibility("default"), alias(#target))) decltype(target) name

namespace course::driver {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using Handle = void*;
using Word = std::uintptr_t;
constexpr CUresult kSuccess = 0, kInvalidValue = 1, kInvalidContext = 201, kInvalidHandle = 400,
                   kNotFound = 500, kNotSupported = 801;

// A function that only the simulator's runtime has. NVIDIA's is never used: it would call this library again.
constexpr const char* kOnlyInSimulator = "simChipName";

// The path of the library or program that contains `address`; "" if unknown.
std::string file_of(const void* address);
void* runtime_symbol(const char* name);
// Most errors have the same number in driver and runtime. Errors that only the runtime has become "invalid
// value", and "invalid device function" becomes "invalid handle".
CUresult result_of(int error);
void say(const std::string& text);

// Calls a function of the runtime. A driver call must not change the runtime's last error.
template <typename... Arguments>
CUresult call(const char* name, Arguments... arguments) {
  auto* const function = reinterpret_cast<int (*)(Arguments...)>(runtime_symbol(name));
  static auto* const swap = reinterpret_cast<int (*)(int)>(runtime_symbol("simSwapLastError"));
  if (function == nullptr || swap == nullptr) return kNotSupported;
  const int before = swap(0);
  const int error = function(arguments...);
  swap(before);
  return result_of(error);
}

inline void* pointer(CUdeviceptr p) {
  return reinterpret_cast<void*>(p);  // NOLINT: an address
}
inline CUdeviceptr address(const void* p) {
  return reinterpret_cast<CUdeviceptr>(p);  // NOLINT: an address
}

}  // namespace course::driver

// A driver function with the parameters of a runtime function: at most six integers and pointers, which the
// calling conventions of x86-64 and arm64 pass in registers, whatever their types.
#define FORWARD(driver, runtime)                                  \
  DRIVER driver(Word a, Word b, Word c, Word d, Word e, Word f) { \
    return call(#runtime, a, b, c, d, e, f);                      \
  }
