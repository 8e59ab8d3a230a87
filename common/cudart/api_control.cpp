// SPDX-License-Identifier: MIT
// The simulator's own controls (sim_control.h), the report at exit, and the answer of every call that is not implemented.
#include <cstring>

#include "cudart/api.hpp"
#include "cudart/memory.hpp"
#include "cudart/not_implemented.hpp"
#include "cudart/sim_control.h"

namespace course::cudart {

int not_implemented(const char* call) {
  say_once(call, fmt::format("{} is not implemented", call));
  thread_state().last_error = cudaErrorNotSupported;
  return cudaErrorNotSupported;
}

namespace {

// After the program's own exit handlers and destructors.
__attribute__((destructor)) void report_at_exit() {
  runtime().write_report();
}

}  // namespace
}  // namespace course::cudart

using namespace course::cudart;  // NOLINT: what follows is only the exported face

CUDART_EXPORT int simSetMode(unsigned mode) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  context.device().set_mode(mode);
  return 0;
}

CUDART_EXPORT int simResetReport(void) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  context.device().reset_report();
  return 0;
}

CUDART_EXPORT size_t simReport(char* buffer, size_t capacity) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  const std::string report = context.device().report_json();
  const size_t needed = report.size() + 1;
  if (buffer != nullptr && capacity >= needed) std::memcpy(buffer, report.c_str(), needed);
  return needed;
}

CUDART_EXPORT int simNameBuffer(const void* pointer, size_t n_bytes, size_t element_bytes, const char* name,
                                int is_data) {
  const auto place = locate(pointer);
  if (!place || !check_range(pointer, n_bytes, "buffer").ok()) return 1;
  const std::lock_guard guard(place->context->lock);
  place->context->device().name_buffer(
      reinterpret_cast<std::uint64_t>(pointer), n_bytes,  // NOLINT: an address of our arena
      static_cast<std::uint32_t>(element_bytes), name != nullptr ? name : "", is_data != 0);
  return 0;
}

CUDART_EXPORT int simForgetWrites(const void* pointer, size_t n_bytes) {
  const auto place = locate(pointer);
  if (!place || !check_range(pointer, n_bytes, "buffer").ok()) return 1;
  const std::lock_guard guard(place->context->lock);
  place->context->device().forget_writes(reinterpret_cast<std::uint64_t>(pointer),
                                         n_bytes);  // NOLINT: an address of our arena
  return 0;
}
