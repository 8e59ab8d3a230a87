// SPDX-License-Identifier: MIT
// Launches. Compiled twice, see api.hpp.
#include "cudart/api/api.hpp"
#include "cudart/runtime/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

Status launch(Context& context, const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
              cudaStream_t stream, const cudaLaunchAttribute* attributes, unsigned n_attributes,
              bool cooperative) {
  CUstream_st* where = nullptr;
  if (Status status = resolve(stream_or_default(stream), where); !status.ok()) return status;
  if (where->context != &context) {
    return fail(cudaErrorInvalidResourceHandle,
                "the stream belongs to device {0}, the current device is {1}: call cudaSetDevice({0}) before "
                "the launch",
                where->context->ordinal, context.ordinal);
  }
  KernelOp kernel;
  if (Status status = make_kernel(context, function, grid, block, arguments, shared, kernel); !status.ok())
    return status;
  kernel.cooperative = cooperative;
  if (Status status = apply_attributes(attributes, n_attributes, kernel); !status.ok()) return status;
  return submit_to(*where, std::move(kernel));
}

cudaError_t plain_launch(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                         cudaStream_t stream, bool cooperative, const char* call = CALLER) {
  return device_api(
      [&](Context& context) {
        return launch(context, function, grid, block, arguments, shared, stream, nullptr, 0, cooperative);
      },
      call);
}

}  // namespace

// The function that <<<>>> calls in code of CUDA 13's nvcc. It reports impossible grids and blocks as
// cudaErrorInvalidValue, like CUDA 13 on an H200.
CUDART_API TWIN(__cudaLaunchKernel)(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared, cudaStream_t stream) {
  return device_api(
      [&](Context& context) -> Status {
        Status status = launch(context, kernel, grid, block, arguments, shared, stream, nullptr, 0, false);
        return status.code() == cudaErrorInvalidConfiguration
                   ? Status(cudaErrorInvalidValue, status.text()).of_kernel(status.kernel())
                   : status;
      },
      "<<<>>>");
}

CUDART_API TWIN(cudaLaunchKernel)(const void* function, dim3 grid, dim3 block, void** arguments,
                                  size_t shared, cudaStream_t stream) {
  return plain_launch(function, grid, block, arguments, shared, stream, false);
}

CUDART_API TWIN(cudaLaunchCooperativeKernel)(const void* function, dim3 grid, dim3 block, void** arguments,
                                             size_t shared, cudaStream_t stream) {
  return plain_launch(function, grid, block, arguments, shared, stream, true);
}

CUDART_API TWIN(cudaLaunchKernelExC)(const cudaLaunchConfig_t* config, const void* function,
                                     void** arguments) {
  return device_api([&](Context& context) -> Status {
    if (config == nullptr) return fail(cudaErrorInvalidConfiguration, "the configuration is a null pointer");
    return launch(context, function, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                  config->stream, config->attrs, config->numAttrs, false);
  });
}

CUDART_API TWIN(cudaLaunchHostFunc)(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return device_api([&] {
    HostOp host;
    host.function = function;
    host.data = data;
    return submit(stream_or_default(stream), host);
  });
}
