// SPDX-License-Identifier: MIT
// Errors, versions, and the handling of the Status of every call.
#include "cudart/api/api.hpp"
#include "cudart/runtime/host/host_checks.hpp"

namespace course::cudart {

cudaError_t finish(const char* function, const Status& status) {
  if (status.ok() && thread_state().failed_calls.empty()) return cudaSuccess;
  const std::string call = name_of_call(function);
  if (status.ok()) return call_succeeded(call, status.kernel()), cudaSuccess;
  // With SIM_CHECK, a failing call is a finding, which is printed at the end.
  const bool is_finding = runtime().environment().check && !is_an_answer(status.code());
  if (!status.text().empty() && !is_finding)
    say(fmt::format("{}: {}: {}", call, error_name(status.code()), status.text()));
  check_call(call, status);
  thread_state().last_error = status.code();
  return status.code();
}

}  // namespace course::cudart

using course::cudart::error_name;
using course::cudart::error_string;

CUDART_API cudaPeekAtLastError(void) {
  const cudaError_t error = course::cudart::thread_state().last_error;
  if (error != cudaSuccess) course::cudart::error_was_read(error);
  return error;
}
CUDART_API cudaGetLastError(void) {
  const cudaError_t error = cudaPeekAtLastError();
  course::cudart::thread_state().last_error = cudaSuccess;
  return error;
}
CUDART_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  return error_name(error);
}
CUDART_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  return error_string(error);
}
