// SPDX-License-Identifier: MIT
// Errors, versions, and what every call does with its Status.
#include "cudart/api.hpp"

namespace course::cudart {

cudaError_t finish(const char* call, const Status& status) {
  if (status.ok()) return cudaSuccess;
  if (!status.text().empty()) say(fmt::format("{}: {}: {}", call, error_name(status.code()), status.text()));
  thread_state().last_error = status.code();
  return status.code();
}

namespace {

// Sticky errors are not cleared by asking, once a call has returned them.
cudaError_t last_error(bool clear) {
  ThreadState& thread = thread_state();
  const cudaError_t error = thread.last_error;
  if (!clear || error == cudaSuccess) return error;
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  if (error != context.sticky) thread.last_error = cudaSuccess;
  return error;
}

}  // namespace
}  // namespace course::cudart

using course::cudart::error_name;
using course::cudart::error_string;

CUDART_EXPORT cudaError_t cudaGetLastError(void) { return course::cudart::last_error(true); }
CUDART_EXPORT cudaError_t cudaPeekAtLastError(void) { return course::cudart::last_error(false); }
CUDART_EXPORT const char* cudaGetErrorName(cudaError_t error) { return error_name(error); }
CUDART_EXPORT const char* cudaGetErrorString(cudaError_t error) { return error_string(error); }
