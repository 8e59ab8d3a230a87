// SPDX-License-Identifier: MIT
// Streams and events; modules, kernels and launches.
#include "cudart/driver/driver.hpp"

namespace course::driver {

// --- streams and events

FORWARD(cuStreamCreate, cudaStreamCreateWithFlags)
FORWARD(cuStreamCreateWithPriority, cudaStreamCreateWithPriority)
FORWARD(cuStreamDestroy_v2, cudaStreamDestroy)
FORWARD(cuStreamSynchronize, cudaStreamSynchronize)
FORWARD(cuStreamQuery, cudaStreamQuery)
FORWARD(cuStreamWaitEvent, cudaStreamWaitEvent)
FORWARD(cuStreamGetPriority, cudaStreamGetPriority)
FORWARD(cuStreamGetFlags, cudaStreamGetFlags)
FORWARD(cuStreamGetId, cudaStreamGetId)
FORWARD(cuStreamIsCapturing, cudaStreamIsCapturing)
FORWARD(cuStreamBeginCapture_v2, cudaStreamBeginCapture)
FORWARD(cuStreamEndCapture, cudaStreamEndCapture)
FORWARD(cuLaunchHostFunc, cudaLaunchHostFunc)
FORWARD(cuEventCreate, cudaEventCreateWithFlags)
FORWARD(cuEventRecord, cudaEventRecord)
FORWARD(cuEventRecordWithFlags, cudaEventRecordWithFlags)
FORWARD(cuEventQuery, cudaEventQuery)
FORWARD(cuEventSynchronize, cudaEventSynchronize)
FORWARD(cuEventElapsedTime, cudaEventElapsedTime)
FORWARD(cuEventDestroy_v2, cudaEventDestroy)
DRIVER_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);

// --- code and launches

DRIVER cuModuleLoadData(Handle* module, const void* image) {
  return call("cudaLibraryLoadData", module, image, nullptr, nullptr, 0u, nullptr, nullptr, 0u);
}
DRIVER cuModuleLoadDataEx(Handle* module, const void* image, unsigned, void*, void*) {
  return cuModuleLoadData(module, image);
}
FORWARD(cuModuleUnload, cudaLibraryUnload)
DRIVER cuLibraryLoadData(Handle* library, const void* image, void*, void**, unsigned, void*, void**,
                         unsigned) {
  return cuModuleLoadData(library, image);
}
FORWARD(cuModuleGetFunction, cudaLibraryGetKernel)
FORWARD(cuModuleGetGlobal_v2, cudaLibraryGetGlobal)
DRIVER cuKernelGetFunction(Handle* out, Handle in) {
  if (out == nullptr) return kInvalidValue;
  *out = in;
  return kSuccess;
}
// The first fields of cudaFuncAttributes, which are equal in all versions.
struct FunctionAttributes {
  std::size_t shared, constant, local;
  // Maximum threads, registers, PTX version, machine code version, cache mode, maximum dynamic shared
  // memory, carve-out.
  int others[32];
};
DRIVER cuFuncGetAttribute(int* value, int attribute, Handle function) {
  FunctionAttributes a{};
  if (value == nullptr) return kInvalidValue;
  if (CUresult r = call("cudaFuncGetAttributes", &a, function); r != kSuccess) return r;
  if (attribute < 0 || attribute > 9) return kNotSupported;
  const std::size_t sizes[] = {a.shared, a.constant, a.local};  // attributes 1 to 3
  *value = attribute < 1 || attribute > 3 ? a.others[attribute == 0 ? 0 : attribute - 3]
                                          : static_cast<int>(sizes[attribute - 1]);
  return kSuccess;
}
DRIVER cuKernelGetAttribute(int* value, int attribute, Handle kernel, CUdevice) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
DRIVER cuKernelSetAttribute(int attribute, int value, Handle kernel, CUdevice) {
  return call("cudaFuncSetAttribute", kernel, attribute, value);
}
FORWARD(cuFuncSetAttribute, cudaFuncSetAttribute)
struct Dim3 {
  unsigned x, y, z;
};
static CUresult refuse_packed_arguments() {
  say("cuLaunchKernel: arguments in one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER) are not supported; pass "
      "kernelParams");
  return kNotSupported;
}
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
DRIVER cuLaunchKernelEx(const DriverLaunch* l, Handle function, void** arguments, void** packed) {
  if (l == nullptr) return kInvalidValue;
  if (packed != nullptr) return refuse_packed_arguments();
  const RuntimeLaunch r{l->grid, l->block, l->shared, l->stream, l->attributes, l->n_attributes};
  return call("cudaLaunchKernelExC", &r, function, arguments);
}
FORWARD(cuOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxActiveBlocksPerMultiprocessor)
DRIVER_ALIAS(cuLibraryUnload, cuModuleUnload);
DRIVER_ALIAS(cuLibraryGetKernel, cuModuleGetFunction);
DRIVER_ALIAS(cuLibraryGetGlobal, cuModuleGetGlobal_v2);
DRIVER_ALIAS(cuLibraryGetModule, cuKernelGetFunction);

}  // namespace course::driver
