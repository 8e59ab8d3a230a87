// SPDX-License-Identifier: MIT
// An exported function consists of CUDART_API, the CUDA signature, and one call of api(), device_api() or
// uncaptured_api() whose body returns a Status. These store an error as the thread's last error and print its
// text to stderr (with SIM_CHECK=1, it becomes a finding instead), with the name of the function that called
// them, which is their argument by default. Functions with
// a stream have a second version for programs built with --default-stream per-thread: such files are compiled
// twice, the second time with CUDART_PER_THREAD, and write these names with TWIN (asynchronous) or TWIN_SYNC.
#pragma once

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "cudart/runtime/host/host_access.hpp"
#include "cudart/runtime/runtime.hpp"
#include "cudart/runtime/status.hpp"
#include "cudart/runtime/stream.hpp"

#define CUDART_EXPORT extern "C" __attribute__((visibility("default")))
#define CUDART_API CUDART_EXPORT cudaError_t
#define CALLER __builtin_FUNCTION()  // as a default argument: the name of the function with the call

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

// Stores a value where the caller asked for it.
template <typename T>
Status give(T* out, std::type_identity_t<T> value) {
  if (out == nullptr) return cudaErrorInvalidValue;
  *out = std::move(value);
  return cudaSuccess;
}

// Calls `body` with all arguments, or with those after the first one if it does not take that.
template <typename Body, typename First, typename... Rest>
Status call_with(Body& body, First& first, Rest&... rest) {
  if constexpr (std::is_invocable_v<Body&, First&, Rest&...>) {
    return body(first, rest...);
  } else {
    return body(rest...);
  }
}

// For calls that also work after a fault: queries, errors, choice of the device.
template <typename Body>
cudaError_t api(Body&& body, const char* call = CALLER) {
  const InsideRuntime inside;
  try {
    return finish(call, body());
  } catch (const std::bad_alloc&) {
    return finish(call, Status(cudaErrorMemoryAllocation, "the host is out of memory"));
  } catch (const std::exception& problem) {
    return finish(call, Status(cudaErrorUnknown, problem.what()));
  }
}

// For calls that use the current device, whose context `body` may take. After a kernel's fault they all
// return its error.
template <typename Body>
cudaError_t device_api(Body&& body, const char* call = CALLER) {
  return api(
      [&]() -> Status {
        if (InsideHostFunction::n_active > 0)
          return fail(cudaErrorNotPermitted, "a function of cudaLaunchHostFunc must not call CUDA");
        Context& context = current_context();
        {
          const std::lock_guard guard(context.lock);
          if (context.sticky != cudaSuccess) return context.sticky;
        }
        return call_with(body, context);
      },
      call);
}

// For calls that a capture does not allow.
template <typename Body>
cudaError_t uncaptured_api(Body&& body, const char* call = CALLER) {
  return device_api(
      [&](Context& context) -> Status {
        Status status = forbid_while_capturing(call);
        return status.ok() ? call_with(body, context) : status;
      },
      call);
}

}  // namespace course::cudart
