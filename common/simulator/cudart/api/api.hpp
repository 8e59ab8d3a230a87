// SPDX-License-Identifier: MIT
// An exported function consists of CUDART_EXPORT, the CUDA signature, and one call of api() or device_api()
// whose body returns a Status. These store the Status as the thread's last error and print its text to
// stderr. Functions with a stream have a second version for programs built with --default-stream per-thread:
// such files are compiled twice, the second time with CUDART_PER_THREAD, and write these names with TWIN
// (asynchronous) or TWIN_SYNC.
#pragma once

#include <exception>
#include <new>

#include "cudart/runtime/host_access.hpp"
#include "cudart/runtime/runtime.hpp"
#include "cudart/runtime/status.hpp"
#include "cudart/runtime/stream.hpp"

#define CUDART_EXPORT extern "C" __attribute__((visibility("default")))

#ifdef CUDART_PER_THREAD
#define TWIN(name) name##_ptsz
#define TWIN_SYNC(name) name##_ptds
#else
#define TWIN(name) name
#define TWIN_SYNC(name) name
#endif

namespace course::cudart {

#ifdef CUDART_PER_THREAD
inline namespace per_thread {
#else
inline namespace legacy {
#endif

// Replaces a null handle by the default stream of this compilation.
inline cudaStream_t stream_or_default(cudaStream_t stream) {
#ifdef CUDART_PER_THREAD
  if (stream == nullptr) return reinterpret_cast<cudaStream_t>(2);  // NOLINT: cudaStreamPerThread of the ABI
#endif
  return stream;
}

}  // namespace

cudaError_t finish(const char* call, const Status& status);

// For calls that also work after a fault: queries, errors, choice of the device.
template <typename Body>
cudaError_t api(const char* call, Body&& body) {
  const InsideRuntime inside;
  try {
    return finish(call, body());
  } catch (const std::bad_alloc&) {
    return finish(call, Status(cudaErrorMemoryAllocation, "the host is out of memory"));
  } catch (const std::exception& problem) {
    return finish(call, Status(cudaErrorUnknown, problem.what()));
  }
}

// For calls that use the current device. After a kernel's fault they all return its error.
template <typename Body>
cudaError_t device_api(const char* call, Body&& body) {
  return api(call, [&]() -> Status {
    if (InsideHostFunction::n_active > 0)
      return fail(cudaErrorNotPermitted, "a function of cudaLaunchHostFunc must not call CUDA");
    Context& context = current_context();
    {
      const std::lock_guard guard(context.lock);
      if (context.sticky != cudaSuccess) return context.sticky;
    }
    Status status = body(context);
    return status;
  });
}

// For calls that a capture does not allow.
template <typename Body>
cudaError_t uncaptured_api(const char* call, Body&& body) {
  return device_api(call, [&](Context& context) -> Status {
    Status status = forbid_while_capturing(call);
    return status.ok() ? Status(body(context)) : status;
  });
}

}  // namespace course::cudart
