// SPDX-License-Identifier: MIT
// The functions that nvcc's generated code calls before main and around <<<>>>: fat binaries, kernels,
// variables, launch configurations. They must be fast, because static constructors call them for every kernel
// of every library.
#include "cudart/api/api.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

FatBinary* image_of(void** handle) {
  return reinterpret_cast<FatBinary*>(handle);
}  // NOLINT: the ABI's opaque handle

}  // namespace

CUDART_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(
      runtime().registry().add_image(wrapper));  // NOLINT: the ABI's opaque handle
}

CUDART_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

CUDART_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  runtime().registry().remove_image(image_of(handle));
}

CUDART_EXPORT void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int,
                                          uint3*, uint3*, dim3*, dim3*, int*) {
  runtime().registry().add_function(image_of(handle), host, name);
}

CUDART_EXPORT void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size,
                                     int, int) {
  runtime().registry().add_variable(image_of(handle), host, name, size, nullptr);
}

CUDART_EXPORT void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                                            size_t size, int, int) {
  runtime().registry().add_variable(image_of(handle), host_pointer, name, size, host_pointer);
}

// Called before the host's first access to a __managed__ variable.
CUDART_EXPORT char __cudaInitModule(void** handle) {
  const cudaError_t error = device_api([&](Context& context) {
    course::sim::ModuleId module = 0;
    return load_module(context, *image_of(handle), module);
  });
  return error == cudaSuccess ? '\1' : '\0';
}

CUDART_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                   CUstream_st* stream) {
  thread_state().launches.push_back({grid, block, shared, stream});
  return 0;
}

CUDART_API __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  return api(
      [&]() -> Status {
        auto& launches = thread_state().launches;
        if (launches.empty())
          return fail(cudaErrorMissingConfiguration, "a kernel's stub was called without <<<>>>");
        const LaunchConfiguration configuration = launches.back();
        launches.pop_back();
        *grid = configuration.grid;
        *block = configuration.block;
        *shared = configuration.shared;
        *static_cast<cudaStream_t*>(stream) = configuration.stream;
        return cudaSuccess;
      },
      "<<<>>>");
}

CUDART_API __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  // Called from static initialisers in the kernel's stub, so it uses neither the error state nor a device.
  Function* function = runtime().registry().find_function(host);
  *kernel = reinterpret_cast<cudaKernel_t>(function);  // NOLINT: the ABI's opaque handle
  return function != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}
