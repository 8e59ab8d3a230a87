// SPDX-License-Identifier: MIT
// The simulator's libcuda.so.1: the part of the driver API that CCCL, NCCL and cooperative groups use, on top
// of the runtime API of the libcudart that the program has loaded (or of the one in the folder of this
// library). Handles of streams, events, kernels, pools and graphs are those of the runtime; a context stands
// for a device. A function that is not implemented has no entry point: asking for it gives an error and,
// once, its name on stderr. The per-thread default stream is the legacy stream here, because the simulator
// never overlaps streams.
// Source: NVIDIA, "CUDA Driver API", version 13.0.
#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/cuda_versions.hpp"

#define DRIVER extern "C" __attribute__((visibility("default"))) int
#define DRIVER_ALIAS(name, target) \
  extern "C" __attribute__((visibility("default"), alias(#target))) decltype(target) name

namespace {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using Handle = void*;
constexpr CUresult kSuccess = 0, kInvalidValue = 1, kInvalidContext = 201, kInvalidHandle = 400,
                   kNotFound = 500, kNotSupported = 801;

// --- the runtime API

// A function that only the simulator's runtime has. NVIDIA's is never used: it would call this library again.
constexpr const char* kOnlyInSimulator = "simChipName";

// The path of the library or program that contains `address`; "" if unknown.
std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) == 0 ? "" : info.dli_fname;
}

// The simulator's runtime in the global scope is the program's. Otherwise use one that was loaded privately
// (for example by a Python package), else the one in this library's folder.
void* runtime() {
  if (const void* found = dlsym(RTLD_DEFAULT, kOnlyInSimulator))
    return dlopen(file_of(found).c_str(), RTLD_NOW | RTLD_NOLOAD);
  for (const char* soname : course::kCudartSonames) {
    void* const loaded = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (loaded != nullptr && dlsym(loaded, kOnlyInSimulator) != nullptr) return loaded;
  }
  const std::string self = file_of(reinterpret_cast<void*>(&runtime));
  return dlopen((self.substr(0, self.rfind('/') + 1) + course::kCudartSonames[0]).c_str(),
                RTLD_NOW | RTLD_GLOBAL);
}

void* runtime_symbol(const char* name) {
  static void* const library = runtime();
  return library == nullptr ? nullptr : dlsym(library, name);
}

// Most errors have the same number in driver and runtime. Errors that only the runtime has become "invalid
// value".
CUresult result_of(int error) {
  constexpr int kFirstShared = 99, kLastInitialisation = 8, kInvalidDeviceFunction = 98;
  if (error == kInvalidDeviceFunction) return kInvalidHandle;
  return error > kLastInitialisation && error < kFirstShared ? kInvalidValue : error;
}

// Calls a function of the runtime. A driver call must not change the runtime's last error.
template <typename... Arguments>
CUresult call(const char* name, Arguments... arguments) {
  auto* const function = reinterpret_cast<int (*)(Arguments...)>(runtime_symbol(name));
  if (function == nullptr) return kNotSupported;
  static auto* const peek = reinterpret_cast<int (*)()>(runtime_symbol("cudaPeekAtLastError"));
  static auto* const take = reinterpret_cast<int (*)()>(runtime_symbol("cudaGetLastError"));
  const bool clean = peek() == 0;
  const int error = function(arguments...);
  if (error != 0 && clean) take();
  return result_of(error);
}

void say(const std::string& text) {
  const char* quiet = std::getenv("SIM_QUIET");
  if (quiet == nullptr || std::string_view(quiet) != "1")
    std::fputs(("simulator: " + text + "\n").c_str(), stderr);
}

void* pointer(CUdeviceptr p) {
  return reinterpret_cast<void*>(p);  // NOLINT: an address
}
CUdeviceptr address(const void* p) {
  return reinterpret_cast<CUdeviceptr>(p);  // NOLINT: an address
}

}  // namespace

// A driver function that equals a runtime function.
#define FORWARD(driver, runtime, parameters, ...)     \
  DRIVER driver parameters {                          \
    return call(#runtime __VA_OPT__(, ) __VA_ARGS__); \
  }

// --- initialisation, errors

namespace {

struct Named {
  CUresult code;
  const char* name;
};
constexpr Named kNames[] = {{0, "CUDA_SUCCESS"},
                            {1, "CUDA_ERROR_INVALID_VALUE"},
                            {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                            {3, "CUDA_ERROR_NOT_INITIALIZED"},
                            {4, "CUDA_ERROR_DEINITIALIZED"},
                            {100, "CUDA_ERROR_NO_DEVICE"},
                            {101, "CUDA_ERROR_INVALID_DEVICE"},
                            {200, "CUDA_ERROR_INVALID_IMAGE"},
                            {201, "CUDA_ERROR_INVALID_CONTEXT"},
                            {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                            {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
                            {218, "CUDA_ERROR_INVALID_PTX"},
                            {301, "CUDA_ERROR_FILE_NOT_FOUND"},
                            {400, "CUDA_ERROR_INVALID_HANDLE"},
                            {401, "CUDA_ERROR_ILLEGAL_STATE"},
                            {500, "CUDA_ERROR_NOT_FOUND"},
                            {600, "CUDA_ERROR_NOT_READY"},
                            {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                            {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                            {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
                            {710, "CUDA_ERROR_ASSERT"},
                            {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
                            {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
                            {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
                            {718, "CUDA_ERROR_INVALID_PC"},
                            {719, "CUDA_ERROR_LAUNCH_FAILED"},
                            {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
                            {800, "CUDA_ERROR_NOT_PERMITTED"},
                            {801, "CUDA_ERROR_NOT_SUPPORTED"},
                            {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                            {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
                            {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
                            {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
                            {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
                            {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
                            {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
                            {907, "CUDA_ERROR_CAPTURED_EVENT"},
                            {999, "CUDA_ERROR_UNKNOWN"}};

}  // namespace

DRIVER cuGetErrorName(CUresult code, const char** name) {
  if (name == nullptr) return kInvalidValue;
  const auto* found = std::ranges::find(kNames, code, &Named::code);
  *name = found == std::end(kNames) ? nullptr : found->name;
  return *name == nullptr ? kInvalidValue : kSuccess;
}
DRIVER cuGetErrorString(CUresult code, const char** text) {
  if (CUresult r = cuGetErrorName(code, text); r != kSuccess) return r;
  auto* const text_of = reinterpret_cast<const char* (*)(int)>(runtime_symbol("cudaGetErrorString"));
  if (text_of != nullptr) *text = text_of(code);
  return kSuccess;
}
DRIVER cuInit(unsigned flags) {
  int n = 0;
  return flags != 0 ? kInvalidValue : call("cudaGetDeviceCount", &n);
}
FORWARD(cuDriverGetVersion, cudaDriverGetVersion, (int* version), version)

// --- devices

FORWARD(cuDeviceGetCount, cudaGetDeviceCount, (int* n), n)
DRIVER cuDeviceGet(CUdevice* device, int ordinal) {
  int n = 0;
  if (CUresult r = call("cudaGetDeviceCount", &n); r != kSuccess) return r;
  constexpr CUresult kInvalidDevice = 101;
  if (device == nullptr) return kInvalidValue;
  if (ordinal < 0 || ordinal >= n) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
namespace {
// The first fields of cudaDeviceProp, which are equal in all versions.
struct Properties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_mask;
  std::size_t global_memory;
  char rest[4096];
};
CUresult properties_of(CUdevice device, Properties& out) {
  const char* name = "cudaGetDeviceProperties_v2";  // the name in CUDA 12
  return call(runtime_symbol(name) != nullptr ? name : "cudaGetDeviceProperties", &out, device);
}
}  // namespace

DRIVER cuDeviceGetName(char* name, int n, CUdevice device) {
  Properties p{};
  if (name == nullptr || n < 1) return kInvalidValue;
  if (CUresult r = properties_of(device, p); r != kSuccess) return r;
  std::snprintf(name, static_cast<std::size_t>(n), "%s", p.name);
  return kSuccess;
}
DRIVER cuDeviceGetUuid_v2(char* uuid, CUdevice device) {
  Properties p{};
  if (uuid == nullptr) return kInvalidValue;
  if (CUresult r = properties_of(device, p); r != kSuccess) return r;
  std::copy(std::begin(p.uuid), std::end(p.uuid), uuid);
  return kSuccess;
}
DRIVER cuDeviceTotalMem_v2(std::size_t* n_bytes, CUdevice device) {
  Properties p{};
  if (n_bytes == nullptr) return kInvalidValue;
  if (CUresult r = properties_of(device, p); r != kSuccess) return r;
  *n_bytes = p.global_memory;
  return kSuccess;
}
FORWARD(cuDeviceGetAttribute, cudaDeviceGetAttribute, (int* value, int attribute, CUdevice device), value,
        attribute, device)
FORWARD(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer), can,
        device, peer)
FORWARD(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (Handle * pool, CUdevice device), pool,
        device)
FORWARD(cuDeviceGetMemPool, cudaDeviceGetMemPool, (Handle * pool, CUdevice device), pool, device)
FORWARD(cuDeviceSetMemPool, cudaDeviceSetMemPool, (CUdevice device, Handle pool), device, pool)

// --- contexts: each device has its primary context and any number of contexts that programs create. All
// contexts of a device share its memory and code, so allocations outlive the context in which they were made.

namespace {

struct DriverContext {
  CUdevice device = 0;
  int retained = 0;  // reference count of a primary context
};
constexpr int kMostDevices = 64;
std::array<DriverContext, kMostDevices> primary_contexts;

struct CreatedContexts {
  std::mutex lock;
  std::set<std::unique_ptr<DriverContext>> all;
  auto find(Handle context) {
    return std::ranges::find_if(all, [&](const auto& c) { return c.get() == context; });
  }
};
CreatedContexts& created_contexts() {
  static auto& created = *new CreatedContexts;
  return created;
}

thread_local Handle chosen = nullptr;     // current, unless the runtime has chosen another device since
thread_local std::vector<Handle> pushed;  // the stack of previous contexts

CUresult device_of(Handle context, CUdevice& device) {
  auto* const c = static_cast<DriverContext*>(context);
  if (c >= primary_contexts.data() && c < primary_contexts.data() + primary_contexts.size()) {
    device = static_cast<CUdevice>(c - primary_contexts.data());
    return kSuccess;
  }
  CreatedContexts& created = created_contexts();
  const std::lock_guard guard(created.lock);
  if (created.find(context) == created.all.end()) return kInvalidContext;
  device = c->device;
  return kSuccess;
}
CUresult primary_of(CUdevice device, Handle* context) {
  CUdevice same = 0;
  if (context == nullptr) return kInvalidValue;
  if (CUresult r = cuDeviceGet(&same, device); r != kSuccess) return r;
  *context = &primary_contexts.at(static_cast<std::size_t>(device));
  return kSuccess;
}
}  // namespace

FORWARD(cuCtxGetDevice, cudaGetDevice, (CUdevice * device), device)
FORWARD(cuCtxGetFlags, cudaGetDeviceFlags, (unsigned* flags), flags)
DRIVER cuDevicePrimaryCtxRetain(Handle* context, CUdevice device) {
  CUresult r = primary_of(device, context);
  if (r == kSuccess) ++static_cast<DriverContext*>(*context)->retained;
  return r;
}
DRIVER cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Handle context = nullptr;
  if (CUresult r = primary_of(device, &context); r != kSuccess) return r;
  auto& retained = static_cast<DriverContext*>(context)->retained;
  if (retained == 0) return kInvalidContext;
  --retained;
  return kSuccess;
}
DRIVER cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  Handle context = nullptr;
  if (CUresult r = primary_of(device, &context); r != kSuccess) return r;
  if (flags != nullptr) *flags = 0;
  if (active != nullptr) *active = static_cast<DriverContext*>(context)->retained > 0 ? 1 : 0;
  return kSuccess;
}
DRIVER cuCtxGetCurrent(Handle* context) {
  CUdevice device = 0, of_chosen = 0;
  if (context == nullptr) return kInvalidValue;
  if (CUresult r = cuCtxGetDevice(&device); r != kSuccess) return r;
  if (chosen != nullptr && device_of(chosen, of_chosen) == kSuccess && of_chosen == device) {
    *context = chosen;
    return kSuccess;
  }
  return primary_of(device, context);
}
DRIVER cuCtxSetCurrent(Handle context) {
  CUdevice device = 0;
  if (context != nullptr) {
    if (CUresult r = device_of(context, device); r != kSuccess) return r;
    if (CUresult r = call("cudaSetDevice", device); r != kSuccess) return r;
  }
  chosen = context;  // nullptr: the next runtime call makes the primary context current
  return kSuccess;
}
DRIVER cuCtxPushCurrent_v2(Handle context) {
  Handle before = nullptr;
  if (CUresult r = cuCtxGetCurrent(&before); r != kSuccess) return r;
  if (CUresult r = context == nullptr ? kInvalidContext : cuCtxSetCurrent(context); r != kSuccess) return r;
  pushed.push_back(before);
  return kSuccess;
}
DRIVER cuCtxPopCurrent_v2(Handle* context) {
  if (pushed.empty()) return kInvalidContext;
  if (context != nullptr)
    if (CUresult r = cuCtxGetCurrent(context); r != kSuccess) return r;
  const Handle before = pushed.back();
  pushed.pop_back();
  // if it was destroyed in the meantime, there is no current context
  return cuCtxSetCurrent(before) == kSuccess ? kSuccess : cuCtxSetCurrent(nullptr);
}
DRIVER cuCtxCreate_v2(Handle* context, unsigned, CUdevice device) {
  CUdevice same = 0;
  if (context == nullptr) return kInvalidValue;
  if (CUresult r = cuDeviceGet(&same, device); r != kSuccess) return r;
  auto made = std::make_unique<DriverContext>(DriverContext{.device = device});
  *context = made.get();
  {
    CreatedContexts& created = created_contexts();
    const std::lock_guard guard(created.lock);
    created.all.insert(std::move(made));
  }
  return cuCtxPushCurrent_v2(*context);
}
DRIVER cuCtxCreate_v3(Handle* context, const void* affinities, int n, unsigned flags, CUdevice device) {
  if (affinities == nullptr && n == 0) return cuCtxCreate_v2(context, flags, device);
  say("cuCtxCreate: an affinity to multiprocessors is not supported; pass NULL");
  return kNotSupported;
}
DRIVER cuCtxCreate_v4(Handle* context, const void* parameters, unsigned flags, CUdevice device) {
  if (parameters == nullptr) return cuCtxCreate_v2(context, flags, device);
  say("cuCtxCreate: parameters (CUctxCreateParams) are not supported; pass NULL");
  return kNotSupported;
}
DRIVER cuCtxDestroy_v2(Handle context) {
  Handle current = nullptr;
  if (CUresult r = cuCtxGetCurrent(&current); r != kSuccess) return r;
  {
    CreatedContexts& created = created_contexts();
    const std::lock_guard guard(created.lock);
    const auto found = created.find(context);
    if (found == created.all.end()) return kInvalidContext;
    created.all.erase(found);
  }
  return current == context && !pushed.empty() ? cuCtxPopCurrent_v2(nullptr) : kSuccess;
}
FORWARD(cuCtxSynchronize, cudaDeviceSynchronize, ())
FORWARD(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange, (int* least, int* greatest), least,
        greatest)
FORWARD(cuCtxGetLimit, cudaDeviceGetLimit, (std::size_t * value, int limit), value, limit)
FORWARD(cuCtxSetLimit, cudaDeviceSetLimit, (int limit, std::size_t value), limit, value)

// --- memory

namespace {
constexpr int kDefaultDirection = 4;
}  // namespace

FORWARD(cuMemGetInfo_v2, cudaMemGetInfo, (std::size_t * free, std::size_t* total), free, total)
DRIVER cuMemAlloc_v2(CUdeviceptr* p, std::size_t n_bytes) {
  return n_bytes == 0 ? kInvalidValue : call("cudaMalloc", p, n_bytes);
}
FORWARD(cuMemFree_v2, cudaFree, (CUdeviceptr p), pointer(p))
FORWARD(cuMemAllocHost_v2, cudaMallocHost, (void** p, std::size_t n_bytes), p, n_bytes)
FORWARD(cuMemHostAlloc, cudaHostAlloc, (void** p, std::size_t n_bytes, unsigned flags), p, n_bytes, flags)
FORWARD(cuMemFreeHost, cudaFreeHost, (void* p), p)
FORWARD(cuMemHostRegister_v2, cudaHostRegister, (void* p, std::size_t n_bytes, unsigned flags), p, n_bytes,
        flags)
FORWARD(cuMemHostUnregister, cudaHostUnregister, (void* p), p)
FORWARD(cuMemHostGetDevicePointer_v2, cudaHostGetDevicePointer, (CUdeviceptr * d, void* p, unsigned flags), d,
        p, flags)
FORWARD(cuMemAllocManaged, cudaMallocManaged, (CUdeviceptr * p, std::size_t n_bytes, unsigned flags), p,
        n_bytes, flags)
FORWARD(cuMemAllocAsync, cudaMallocAsync, (CUdeviceptr * p, std::size_t n_bytes, Handle stream), p, n_bytes,
        stream)
FORWARD(cuMemAllocFromPoolAsync, cudaMallocFromPoolAsync,
        (CUdeviceptr * p, std::size_t n_bytes, Handle pool, Handle stream), p, n_bytes, pool, stream)
FORWARD(cuMemFreeAsync, cudaFreeAsync, (CUdeviceptr p, Handle stream), pointer(p), stream)
FORWARD(cuMemPoolCreate, cudaMemPoolCreate, (Handle * pool, const void* properties), pool, properties)
FORWARD(cuMemPoolDestroy, cudaMemPoolDestroy, (Handle pool), pool)
FORWARD(cuMemPoolTrimTo, cudaMemPoolTrimTo, (Handle pool, std::size_t keep), pool, keep)
FORWARD(cuMemPoolSetAttribute, cudaMemPoolSetAttribute, (Handle pool, int attribute, void* value), pool,
        attribute, value)
FORWARD(cuMemPoolGetAttribute, cudaMemPoolGetAttribute, (Handle pool, int attribute, void* value), pool,
        attribute, value)
FORWARD(cuMemPoolSetAccess, cudaMemPoolSetAccess, (Handle pool, const void* access, std::size_t n), pool,
        access, n)
FORWARD(cuMemPoolGetAccess, cudaMemPoolGetAccess, (int* flags, Handle pool, void* location), flags, pool,
        location)
FORWARD(cuMemcpy, cudaMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t n_bytes), pointer(to),
        pointer(from), n_bytes, kDefaultDirection)
FORWARD(cuMemcpyAsync, cudaMemcpyAsync,
        (CUdeviceptr to, CUdeviceptr from, std::size_t n_bytes, Handle stream), pointer(to), pointer(from),
        n_bytes, kDefaultDirection, stream)
DRIVER_ALIAS(cuMemcpyHtoD_v2, cuMemcpy);
DRIVER_ALIAS(cuMemcpyDtoH_v2, cuMemcpy);
DRIVER_ALIAS(cuMemcpyDtoD_v2, cuMemcpy);
DRIVER_ALIAS(cuMemcpyHtoDAsync_v2, cuMemcpyAsync);
DRIVER_ALIAS(cuMemcpyDtoHAsync_v2, cuMemcpyAsync);
DRIVER_ALIAS(cuMemcpyDtoDAsync_v2, cuMemcpyAsync);

namespace {

template <typename T>
CUresult fill_async(CUdeviceptr to, T value, std::size_t n, Handle stream) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  if (std::all_of(bytes, bytes + sizeof(T), [&](unsigned char b) { return b == bytes[0]; }))
    return call("cudaMemsetAsync", pointer(to), int{bytes[0]}, n * sizeof(T), stream);
  int capturing = 0;
  if (CUresult r = call("cudaStreamIsCapturing", stream, &capturing); r != kSuccess) return r;
  if (capturing != 0) return kNotSupported;
  const std::vector<T> pattern(n, value);  // the copy is executed at once, so the pattern may be freed
  return cuMemcpyAsync(to, address(pattern.data()), n * sizeof(T), stream);
}
// cudaPointerAttributes.
struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};

}  // namespace

DRIVER cuMemsetD8Async(CUdeviceptr to, std::uint8_t value, std::size_t n, Handle stream) {
  return fill_async(to, value, n, stream);
}
DRIVER cuMemsetD16Async(CUdeviceptr to, std::uint16_t value, std::size_t n, Handle stream) {
  return fill_async(to, value, n, stream);
}
DRIVER cuMemsetD32Async(CUdeviceptr to, std::uint32_t value, std::size_t n, Handle stream) {
  return fill_async(to, value, n, stream);
}
DRIVER cuMemsetD8_v2(CUdeviceptr to, std::uint8_t value, std::size_t n) {
  return fill_async(to, value, n, nullptr);
}
DRIVER cuMemsetD16_v2(CUdeviceptr to, std::uint16_t value, std::size_t n) {
  return fill_async(to, value, n, nullptr);
}
DRIVER cuMemsetD32_v2(CUdeviceptr to, std::uint32_t value, std::size_t n) {
  return fill_async(to, value, n, nullptr);
}
DRIVER cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* n_bytes, CUdeviceptr p) {
  void* start = nullptr;
  if (CUresult r = call("simFindAllocation", static_cast<const void*>(pointer(p)), &start, n_bytes);
      r != kSuccess)
    return r == kNotSupported ? r : kNotFound;
  if (base != nullptr) *base = address(start);
  return kSuccess;
}
DRIVER cuPointerGetAttribute(void* out, int attribute, CUdeviceptr p) {
  enum { kUnregistered, kHost, kDevice, kManaged };
  PointerAttributes a{};
  CUdeviceptr base = 0;
  std::size_t n_bytes = 0;
  if (out == nullptr) return kInvalidValue;
  if (CUresult r = call("cudaPointerGetAttributes", &a, pointer(p)); r != kSuccess) return r;
  if (a.type == kUnregistered) return kInvalidValue;
  switch (attribute) {
    case 1: return primary_of(a.device, static_cast<Handle*>(out));
    case 2: *static_cast<unsigned*>(out) = a.type == kHost ? kHost : kDevice; break;
    case 3: *static_cast<void**>(out) = a.device_pointer; break;
    case 4: *static_cast<void**>(out) = a.host_pointer; break;
    case 8: *static_cast<bool*>(out) = a.type == kManaged; break;
    case 9: *static_cast<int*>(out) = a.device; break;
    case 10: *static_cast<bool*>(out) = false; break;  // usable for IPC, which is not supported
    case 11:
    case 12:
      if (CUresult r = cuMemGetAddressRange_v2(&base, &n_bytes, address(a.device_pointer)); r != kSuccess)
        return r;
      *static_cast<std::uint64_t*>(out) = attribute == 11 ? base : n_bytes;
      break;
    case 13: *static_cast<bool*>(out) = true; break;        // mapped
    case 14: *static_cast<std::uint64_t*>(out) = 0; break;  // exportable handle types: none
    case 15: *static_cast<bool*>(out) = false; break;       // usable for GPUDirect RDMA
    default:
      say("cuPointerGetAttribute: attribute " + std::to_string(attribute) + " is not supported");
      return kNotSupported;
  }
  return kSuccess;
}
// Returns zeros for memory that does not belong to CUDA.
DRIVER cuPointerGetAttributes(unsigned n, const int* attributes, void** out, CUdeviceptr p) {
  PointerAttributes a{};
  if (attributes == nullptr || out == nullptr) return kInvalidValue;
  if (CUresult r = call("cudaPointerGetAttributes", &a, pointer(p)); r != kSuccess) return r;
  const auto bytes_of = [](int attribute) -> std::size_t {
    const bool is_flag = attribute == 8 || attribute == 10 || attribute == 13 || attribute == 15;
    const bool is_number = attribute == 2 || attribute == 9;
    return is_flag ? sizeof(bool) : is_number ? sizeof(int) : sizeof(void*);
  };
  for (unsigned k = 0; k < n; ++k) {
    if (a.type == 0)
      std::fill_n(static_cast<std::byte*>(out[k]), bytes_of(attributes[k]), std::byte{0});
    else if (CUresult r = cuPointerGetAttribute(out[k], attributes[k], p); r != kSuccess)
      return r;
  }
  return kSuccess;
}

// --- streams and events

FORWARD(cuStreamCreate, cudaStreamCreateWithFlags, (Handle * stream, unsigned flags), stream, flags)
FORWARD(cuStreamCreateWithPriority, cudaStreamCreateWithPriority,
        (Handle * stream, unsigned flags, int priority), stream, flags, priority)
FORWARD(cuStreamDestroy_v2, cudaStreamDestroy, (Handle stream), stream)
FORWARD(cuStreamSynchronize, cudaStreamSynchronize, (Handle stream), stream)
FORWARD(cuStreamQuery, cudaStreamQuery, (Handle stream), stream)
FORWARD(cuStreamWaitEvent, cudaStreamWaitEvent, (Handle stream, Handle event, unsigned flags), stream, event,
        flags)
FORWARD(cuStreamGetPriority, cudaStreamGetPriority, (Handle stream, int* priority), stream, priority)
FORWARD(cuStreamGetFlags, cudaStreamGetFlags, (Handle stream, unsigned* flags), stream, flags)
FORWARD(cuStreamGetId, cudaStreamGetId, (Handle stream, unsigned long long* id), stream, id)
FORWARD(cuStreamIsCapturing, cudaStreamIsCapturing, (Handle stream, int* status), stream, status)
FORWARD(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (Handle stream, int mode), stream, mode)
FORWARD(cuStreamEndCapture, cudaStreamEndCapture, (Handle stream, Handle* graph), stream, graph)
FORWARD(cuLaunchHostFunc, cudaLaunchHostFunc, (Handle stream, void (*function)(void*), void* data), stream,
        function, data)
FORWARD(cuEventCreate, cudaEventCreateWithFlags, (Handle * event, unsigned flags), event, flags)
FORWARD(cuEventRecord, cudaEventRecord, (Handle event, Handle stream), event, stream)
FORWARD(cuEventRecordWithFlags, cudaEventRecordWithFlags, (Handle event, Handle stream, unsigned flags),
        event, stream, flags)
FORWARD(cuEventQuery, cudaEventQuery, (Handle event), event)
FORWARD(cuEventSynchronize, cudaEventSynchronize, (Handle event), event)
FORWARD(cuEventElapsedTime, cudaEventElapsedTime, (float* ms, Handle begin, Handle end), ms, begin, end)
FORWARD(cuEventDestroy_v2, cudaEventDestroy, (Handle event), event)

// --- code and launches

FORWARD(cuModuleLoadData, cudaLibraryLoadData, (Handle * module, const void* image), module, image, nullptr,
        nullptr, 0u, nullptr, nullptr, 0u)
DRIVER cuModuleLoadDataEx(Handle* module, const void* image, unsigned, void*, void*) {
  return cuModuleLoadData(module, image);
}
FORWARD(cuModuleUnload, cudaLibraryUnload, (Handle module), module)
DRIVER cuLibraryLoadData(Handle* library, const void* image, void*, void**, unsigned, void*, void**,
                         unsigned) {
  return cuModuleLoadData(library, image);
}
FORWARD(cuModuleGetFunction, cudaLibraryGetKernel, (Handle * function, Handle module, const char* name),
        function, module, name)
FORWARD(cuModuleGetGlobal_v2, cudaLibraryGetGlobal,
        (CUdeviceptr * p, std::size_t* n_bytes, Handle module, const char* name), p, n_bytes, module, name)
DRIVER cuKernelGetFunction(Handle* out, Handle in) {
  if (out == nullptr) return kInvalidValue;
  *out = in;
  return kSuccess;
}
namespace {
// The first fields of cudaFuncAttributes, which are equal in all versions.
struct FunctionAttributes {
  std::size_t shared, constant, local;
  // Maximum threads, registers, PTX version, machine code version, cache mode, maximum dynamic shared
  // memory, carve-out.
  int others[32];
};
}  // namespace
DRIVER cuFuncGetAttribute(int* value, int attribute, Handle function) {
  FunctionAttributes a{};
  if (value == nullptr) return kInvalidValue;
  if (CUresult r = call("cudaFuncGetAttributes", &a, function); r != kSuccess) return r;
  const int all[] = {a.others[0],
                     static_cast<int>(a.shared),
                     static_cast<int>(a.constant),
                     static_cast<int>(a.local),
                     a.others[1],
                     a.others[2],
                     a.others[3],
                     a.others[4],
                     a.others[5],
                     a.others[6]};
  if (attribute < 0 || attribute >= static_cast<int>(std::size(all))) return kNotSupported;
  *value = all[attribute];
  return kSuccess;
}
DRIVER cuKernelGetAttribute(int* value, int attribute, Handle kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
FORWARD(cuKernelSetAttribute, cudaFuncSetAttribute, (int attribute, int value, Handle kernel, CUdevice),
        kernel, attribute, value)
FORWARD(cuFuncSetAttribute, cudaFuncSetAttribute, (Handle function, int attribute, int value), function,
        attribute, value)
namespace {
struct Dim3 {
  unsigned x, y, z;
};
CUresult refuse_packed_arguments() {
  say("cuLaunchKernel: arguments in one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER) are not supported; pass "
      "kernelParams");
  return kNotSupported;
}
}  // namespace
DRIVER cuLaunchKernel(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                      unsigned bz, unsigned shared, Handle stream, void** arguments, void** packed) {
  if (packed != nullptr) return refuse_packed_arguments();
  return call("cudaLaunchKernel", function, Dim3{gx, gy, gz}, Dim3{bx, by, bz}, arguments,
              std::size_t{shared}, stream);
}
DRIVER cuLaunchCooperativeKernel(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, Handle stream, void** arguments) {
  return call("cudaLaunchCooperativeKernel", function, Dim3{gx, gy, gz}, Dim3{bx, by, bz}, arguments,
              std::size_t{shared}, stream);
}
namespace {
struct DriverLaunch {
  Dim3 grid, block;
  unsigned shared;
  Handle stream;
  void* attributes;  // cudaLaunchAttribute, as in the runtime
  unsigned n_attributes;
};
struct RuntimeLaunch {
  Dim3 grid, block;
  std::size_t shared;
  Handle stream;
  void* attributes;
  unsigned n_attributes;
};
}  // namespace
DRIVER cuLaunchKernelEx(const DriverLaunch* l, Handle function, void** arguments, void** packed) {
  if (l == nullptr) return kInvalidValue;
  if (packed != nullptr) return refuse_packed_arguments();
  const RuntimeLaunch r{l->grid, l->block, l->shared, l->stream, l->attributes, l->n_attributes};
  return call("cudaLaunchKernelExC", &r, function, arguments);
}
FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
        (int* blocks, Handle function, int threads, std::size_t shared), blocks, function, threads, shared)
FORWARD(cuGraphLaunch, cudaGraphLaunch, (Handle graph, Handle stream), graph, stream)
FORWARD(cuGraphInstantiateWithFlags, cudaGraphInstantiate,
        (Handle * executable, Handle graph, unsigned long long flags), executable, graph, flags)
FORWARD(cuGraphDestroy, cudaGraphDestroy, (Handle graph), graph)
FORWARD(cuGraphExecDestroy, cudaGraphExecDestroy, (Handle executable), executable)

// --- entry points

namespace {

// This library's own dynamic symbols.
void* own_symbol(const std::string& name) {
  static void* const self =
      dlopen(file_of(reinterpret_cast<void*>(&own_symbol)).c_str(), RTLD_NOW | RTLD_NOLOAD);
  return self == nullptr || !name.starts_with("cu") ? nullptr : dlsym(self, name.c_str());
}

// What to do if the program uses NVIDIA's runtime, which asks this library for its driver.
const char* way_to_the_simulator() {
  for (const char* soname : course::kCudartSonames) {
    void* const loaded = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
    if (loaded != nullptr && dlsym(loaded, kOnlyInSimulator) == nullptr)
      return "the libcudart that is loaded is NVIDIA's, but the libcuda.so.1 is the simulator's: put the "
             "folder with both first on LD_LIBRARY_PATH, or take it out to use a GPU";
  }
  return "the program has the CUDA runtime linked into it, which needs NVIDIA's driver: link it with nvcc's "
         "\"-cudart shared\"";
}

// What to do about a library such as cuBLAS or cuFFT, whose calls fail: a program that does not check them
// would end with wrong results and without an error.
std::string explain_library(const std::string& file) {
  return file +
         " contains a CUDA runtime of its own, which needs NVIDIA's driver. The simulator cannot run this "
         "library: its calls fail and compute nothing. Check the status that they return; run the program on "
         "a GPU, or use kernels, CUB or Thrust instead, which the simulator runs";
}

struct Missing {
  std::mutex lock;
  std::set<std::string> names;     // of functions
  std::set<std::string> runtimes;  // files that contain a runtime of NVIDIA's and have been explained
  std::size_t n_listed = 0;        // names that were reported one by one
};
Missing& missing() {
  static auto& all = *new Missing;
  return all;
}

// One of the toolkit's, other than the runtime.
bool is_nvidias_library(std::string_view file) {
  constexpr std::string_view kStarts[] = {"libcu", "libnpp", "libnv"};
  return file.find(".so") != std::string_view::npos && !file.starts_with("libcudart") &&
         std::ranges::any_of(kStarts, [&](std::string_view start) { return file.starts_with(start); });
}

// Must be called under the lock.
void explain_runtime(const std::string& file) {
  if (!missing().runtimes.insert(file).second) return;
  if (!is_nvidias_library(file))
    say(way_to_the_simulator());
  else if (call("simReportMissing", explain_library(file).c_str()) != kSuccess)
    say(explain_library(file));
  if (missing().runtimes.size() > 1) return;
  missing().n_listed = missing().names.size();
  std::atexit([] {
    if (const std::size_t n = missing().names.size() - missing().n_listed; n > 0)
      say("it asked for " + std::to_string(n) +
          " functions of the driver API that the simulator does not have");
  });
}

std::string file_name_of(const void* code) {
  const std::string path = file_of(code);
  return path.substr(path.rfind('/') + 1);
}

// Reports each name once, because libraries look up the same functions repeatedly. NVIDIA's runtime asks for
// everything that it might use, and for an empty name before that: it gets an explanation instead, and a
// count at exit.
void report_missing(const std::string& name, const void* caller) {
  const std::lock_guard guard(missing().lock);
  const bool is_nvidias_runtime = name.empty() || name == "cuGetExportTable";
  if (is_nvidias_runtime) explain_runtime(file_name_of(caller));
  if (is_nvidias_runtime || !missing().names.insert(name).second || !missing().runtimes.empty()) return;
  say(name + ": the simulator does not have this function of the driver API");
}

// The first function outside of the loader and the C library.
_Unwind_Reason_Code find_author(_Unwind_Context* frame, void* found) {
  // NOLINTNEXTLINE: the unwinder's addresses are numbers
  const std::string file = file_name_of(reinterpret_cast<const void*>(_Unwind_GetIP(frame) - 1));
  if (file.empty() || file == file_name_of(reinterpret_cast<const void*>(&find_author)) ||
      file.starts_with("ld-") || file.starts_with("libc.") || file.starts_with("libdl.") ||
      file.starts_with("libgcc_s."))
    return _URC_NO_REASON;
  *static_cast<std::string*>(found) = file;
  return _URC_END_OF_STACK;
}

// Some libraries, such as cuFFT, look up functions one by one when they are first used, and give up without a
// word. But only they load this library themselves, so they are reported when the program ends.
__attribute__((constructor)) void note_who_loads() {
  static auto& file = *new std::string;
  _Unwind_Backtrace(find_author, &file);
  if (!is_nvidias_library(file)) return;
  std::atexit([] {
    const std::lock_guard guard(missing().lock);
    if (missing().runtimes.empty()) explain_runtime(file);
  });
}

}  // namespace

// "cuMemAlloc" means cuMemAlloc_v2 in current programs. Only cuCtxCreate has other parameters in later
// versions.
static CUresult find_function(const char* name, void** function, int cuda, int* status, const void* caller) {
  enum { kFound, kSymbolNotFound };
  if (name == nullptr || function == nullptr) return kInvalidValue;
  *function = nullptr;
  constexpr int kCreateV3 = 11040, kCreateV4 = 12050;
  const bool creates = std::string_view(name) == "cuCtxCreate";
  if (creates && cuda >= kCreateV3)
    *function = own_symbol(cuda >= kCreateV4 ? "cuCtxCreate_v4" : "cuCtxCreate_v3");
  for (const char* version : {"", "_v2", "_v3"})
    if (*function == nullptr) *function = own_symbol(std::string(name) + version);
  if (status != nullptr) *status = *function == nullptr ? kSymbolNotFound : kFound;
  if (*function != nullptr) return kSuccess;
  report_missing(name, caller);
  return kNotFound;
}
DRIVER cuGetProcAddress_v2(const char* name, void** function, int cuda, std::uint64_t, int* status) {
  return find_function(name, function, cuda, status, __builtin_return_address(0));
}
DRIVER cuGetProcAddress(const char* name, void** function, int cuda, std::uint64_t) {
  return find_function(name, function, cuda, nullptr, __builtin_return_address(0));
}

DRIVER_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);
DRIVER_ALIAS(cuLibraryUnload, cuModuleUnload);
DRIVER_ALIAS(cuLibraryGetKernel, cuModuleGetFunction);
DRIVER_ALIAS(cuLibraryGetGlobal, cuModuleGetGlobal_v2);
DRIVER_ALIAS(cuLibraryGetModule, cuKernelGetFunction);
DRIVER_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);
