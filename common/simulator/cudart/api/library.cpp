// SPDX-License-Identifier: MIT
// Code loaded at run time (cudaLibrary*), and the entry points of the driver API.
#include <dlfcn.h>

#include "cudart/api/api.hpp"
#include "cudart/code/fatbin.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

FatBinary* image_of(cudaLibrary_t library) {
  return reinterpret_cast<FatBinary*>(library);
}  // NOLINT: the ABI's opaque handle

// Calls `body` with an existing library and its module on the current device.
template <typename Body>
cudaError_t with_library(cudaLibrary_t library, Body&& body, const char* call = CALLER) {
  return device_api(
      [&](Context& context) -> Status {
        FatBinary* image = image_of(library);
        if (!runtime().registry().is_library(image))
          return fail(cudaErrorInvalidResourceHandle, "that is not a library");
        return call_with(body, context, *image);
      },
      call);
}

Function* function_of(FatBinary& image, const char* name) {
  for (Function* known : image.functions)
    if (known->name == name) return known;
  return runtime().registry().add_function(&image, nullptr, name);
}

Status open_library(const void* code, std::string owned, cudaLibrary_t* out) {
  if (code == nullptr || out == nullptr) return cudaErrorInvalidValue;
  FatBinary* image = runtime().registry().add_image(code);
  if (!owned.empty()) {
    image->owned_image = std::move(owned);
    image->image = image->owned_image.c_str();
  }
  *out = reinterpret_cast<cudaLibrary_t>(image);  // NOLINT: the ABI's opaque handle
  return cudaSuccess;
}

Status find_global(Context& context, FatBinary& image, const char* name, void** address, size_t* n_bytes) {
  if (name == nullptr) return cudaErrorInvalidValue;
  course::sim::ModuleId module = 0;
  if (Status status = load_module(context, image, module); !status.ok()) return status;
  const std::lock_guard guard(context.lock);
  const auto found = context.device().find_symbol(module, name);
  if (!found) return {cudaErrorSymbolNotFound, found.error().text};
  if (address != nullptr)
    *address = reinterpret_cast<void*>(found->address);  // NOLINT: an address of our arena
  if (n_bytes != nullptr) *n_bytes = found->size;
  return cudaSuccess;
}

using GetProcAddress = int (*)(const char* symbol, void** function, int version, std::uint64_t flags,
                               int* found);

// The driver API is libcuda.so.1 in the folder of this library, built from driver/; where there is none, as
// for the debugger, nullptr. NVIDIA's is never used.
GetProcAddress driver() {
  static const auto found = []() -> GetProcAddress {
    Dl_info self{};
    if (dladdr(reinterpret_cast<void*>(&driver), &self) == 0) return nullptr;
    const std::string path = self.dli_fname;
    void* library = dlopen((path.substr(0, path.rfind('/') + 1) + "libcuda.so.1").c_str(), RTLD_NOW);
    return library == nullptr ? nullptr
                              : reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  }();
  return found;
}

cudaError_t driver_entry(const char* symbol, void** function, unsigned version,
                         cudaDriverEntryPointQueryResult* result, const char* call = CALLER) {
  return api(
      [&]() -> Status {
        if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
        *function = nullptr;
        if (const auto get = driver(); get != nullptr)  // reports missing functions itself
          static_cast<void>(get(symbol, function, static_cast<int>(version), 0, nullptr));
        else
          say_once("libcuda",
                   fmt::format("{}: there is no libcuda.so.1 beside this library", name_of_call(call)));
        if (result != nullptr)
          *result = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
        return *function != nullptr || result != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
      },
      call);
}

}  // namespace

CUDART_API cudaLibraryLoadData(cudaLibrary_t* out, const void* code, cudaJitOption*, void**, unsigned,
                               cudaLibraryOption*, void**, unsigned) {
  return device_api([&]() -> Status {
    if (code == nullptr) return cudaErrorInvalidValue;
    // The caller may free its copy after this call.
    switch (kind_of_image(code)) {
      case CodeImage::wrapper: return open_library(code, "", out);
      case CodeImage::ptx_text: return open_library(code, static_cast<const char*>(code), out);
      case CodeImage::container: {
        const auto bytes = span_of_container(code);
        return open_library(code, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                            out);
      }
      case CodeImage::unknown: break;
    }
    return fail(cudaErrorInvalidKernelImage,
                "the code is neither a fat binary nor PTX; machine code alone cannot be simulated");
  });
}

CUDART_API cudaLibraryUnload(cudaLibrary_t library) {
  return with_library(library, [&](FatBinary& image) -> Status {
    runtime().registry().unload_image(&image);
    return cudaSuccess;
  });
}

CUDART_API cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return with_library(library, [&](Context& context, FatBinary& image) -> Status {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    Function* function = function_of(image, name);
    course::sim::KernelId id = 0;
    if (Status status = find_kernel(context, *function, id); !status.ok())
      return status.code() == cudaErrorInvalidDeviceFunction ? Status(cudaErrorSymbolNotFound, status.text())
                                                             : status;
    *kernel = reinterpret_cast<cudaKernel_t>(function);  // NOLINT: the ABI's opaque handle
    return cudaSuccess;
  });
}

CUDART_API cudaLibraryGetGlobal(void** address, size_t* n_bytes, cudaLibrary_t library, const char* name) {
  return with_library(library, [&](Context& context, FatBinary& image) {
    return find_global(context, image, name, address, n_bytes);
  });
}

CUDART_API cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                                   cudaDriverEntryPointQueryResult* result) {
  return driver_entry(symbol, function, 0, result);
}

CUDART_API cudaGetDriverEntryPoint_ptsz(const char* symbol, void** function, unsigned long long,
                                        cudaDriverEntryPointQueryResult* result) {
  return driver_entry(symbol, function, 0, result);
}

CUDART_API cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                            unsigned long long, cudaDriverEntryPointQueryResult* result) {
  return driver_entry(symbol, function, version, result);
}

CUDART_API cudaGetDriverEntryPointByVersion_ptsz(const char* symbol, void** function, unsigned version,
                                                 unsigned long long,
                                                 cudaDriverEntryPointQueryResult* result) {
  return driver_entry(symbol, function, version, result);
}

CUDART_EXPORT cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
