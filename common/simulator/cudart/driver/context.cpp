// SPDX-License-Identifier: MIT
// Errors, devices and contexts.
#include "cudart/driver/driver.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace course::driver {

// --- initialisation, errors

// The other names are the runtime's in capitals: cudaErrorNotReady, CUDA_ERROR_NOT_READY.
constexpr std::pair<CUresult, const char*> kNames[] = {
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},     {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED"},     {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"}, {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},  {500, "CUDA_ERROR_NOT_FOUND"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"}};

static const char* runtimes_text(const char* function, int code) {
  auto* const text_of = reinterpret_cast<const char* (*)(int)>(runtime_symbol(function));
  return text_of != nullptr ? text_of(code) : "";
}

DRIVER cuGetErrorName(CUresult code, const char** name) {
  static auto& made = *new std::map<CUresult, std::string>(std::begin(kNames), std::end(kNames));
  static std::mutex lock;
  if (name == nullptr) return kInvalidValue;
  const std::string_view runtimes = runtimes_text("cudaGetErrorName", code);
  const std::lock_guard guard(lock);
  auto found = made.find(code);
  if (found == made.end() && runtimes.starts_with("cuda") && result_of(code) == code) {
    found = made.emplace(code, "CUDA").first;
    for (const char c : runtimes.substr(4)) {
      if (c >= 'A' && c <= 'Z') found->second += '_';
      found->second += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
  }
  *name = found == made.end() ? nullptr : found->second.c_str();
  return found == made.end() ? kInvalidValue : kSuccess;
}
DRIVER cuGetErrorString(CUresult code, const char** text) {
  if (CUresult r = cuGetErrorName(code, text); r != kSuccess) return r;
  *text = runtimes_text("cudaGetErrorString", code);
  return kSuccess;
}
DRIVER cuInit(unsigned flags) {
  int n = 0;
  return flags != 0 ? kInvalidValue : call("cudaGetDeviceCount", &n);
}
FORWARD(cuDriverGetVersion, cudaDriverGetVersion)

// --- devices

FORWARD(cuDeviceGetCount, cudaGetDeviceCount)
DRIVER cuDeviceGet(CUdevice* device, int ordinal) {
  int n = 0;
  if (CUresult r = call("cudaGetDeviceCount", &n); r != kSuccess) return r;
  constexpr CUresult kInvalidDevice = 101;
  if (device == nullptr) return kInvalidValue;
  if (ordinal < 0 || ordinal >= n) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
// The first fields of cudaDeviceProp, which are equal in all versions.
struct Properties {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_mask;
  std::size_t global_memory;
  char rest[4096];
};
static CUresult properties_of(CUdevice device, Properties& out) {
  const char* name = "cudaGetDeviceProperties_v2";  // the name in CUDA 12
  return call(runtime_symbol(name) != nullptr ? name : "cudaGetDeviceProperties", &out, device);
}

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
FORWARD(cuDeviceGetAttribute, cudaDeviceGetAttribute)
FORWARD(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer)
FORWARD(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool)
FORWARD(cuDeviceGetMemPool, cudaDeviceGetMemPool)
FORWARD(cuDeviceSetMemPool, cudaDeviceSetMemPool)

DRIVER_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2);

// --- contexts: each device has its primary context and any number of contexts that programs create. All
// contexts of a device share its memory and code, so allocations outlive the context in which they were made.

namespace {

struct DriverContext {
  CUdevice device = 0;
  int retained = 0;  // reference count of a primary context
};
constexpr int kMaxDevices = 64;
std::array<DriverContext, kMaxDevices> primary_contexts;

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
}  // namespace

static CUresult primary_of(CUdevice device, Handle* context) {
  CUdevice same = 0;
  if (context == nullptr) return kInvalidValue;
  if (CUresult r = cuDeviceGet(&same, device); r != kSuccess) return r;
  *context = &primary_contexts.at(static_cast<std::size_t>(device));
  return kSuccess;
}

FORWARD(cuCtxGetDevice, cudaGetDevice)
FORWARD(cuCtxGetFlags, cudaGetDeviceFlags)
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
  if (CUresult r = call("cudaGetDevice", &device); r != kSuccess) return r;
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
  chosen = context;  // nullptr: the primary context of the runtime's current device
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
  // if it was destroyed in the meantime, the primary context of the current device is current
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
FORWARD(cuCtxSynchronize, cudaDeviceSynchronize)
FORWARD(cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange)
FORWARD(cuCtxGetLimit, cudaDeviceGetLimit)
FORWARD(cuCtxSetLimit, cudaDeviceSetLimit)

}  // namespace course::driver
