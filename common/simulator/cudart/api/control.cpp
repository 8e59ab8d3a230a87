// SPDX-License-Identifier: MIT
// The simulator's own controls (sim_control.h), the report at exit, and the result of calls that are not
// implemented.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cudart/api/api.hpp"
#include "cudart/api/not_implemented.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/stream.hpp"
#include "cudart/sim_control.h"

namespace course::cudart {

namespace {

void add_missing(const char* kind, std::string message) {
  sim::Finding finding;
  finding.checker = sim::Checker::execution;
  finding.kind = kind;
  finding.where = place_of(call_stack());
  finding.message = std::move(message);
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  context.device().add_finding(std::move(finding));
}

}  // namespace

int not_implemented(const char* call) {
  const std::string message = fmt::format("{} is not implemented", call);
  if (runtime().environment().check) {
    const InsideRuntime inside;
    add_missing("not-simulated", message);
  } else
    say_once(call, message);
  thread_state().last_error = cudaErrorNotSupported;
  return cudaErrorNotSupported;
}

namespace {

static_assert(unsigned{SIM_COUNTERS} == sim::kCounters && unsigned{SIM_DATAFLOW} == sim::kDataflow &&
              unsigned{SIM_CHECKS} == sim::kAllChecks && unsigned{SIM_HOSTCHECK} == sim::kHostcheck &&
              unsigned{SIM_TRACE} == sim::kTrace && unsigned{SIM_PROFILE} == sim::kProfile);

constexpr int kExitWithErrors = 86;

enum class End { normal, with_error, by_signal };

// Writes the report, and with SIM_CHECK prints the findings. Returns the number of errors among them.
std::size_t report_once(End end) {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return 0;
  const InsideRuntime inside;
  if (end == End::normal) check_waits();
  for (int i = 0; i < runtime().n_devices() && end != End::by_signal; ++i) check_leaks(runtime().context(i));
  const std::size_t errors = runtime().environment().check ? print_findings() : 0;
  runtime().write_report();
  return errors;
}

// Runs after the program's own exit handlers and destructors, which are registered later.
void report_at_exit(int status, void*) {
  if (status == 1 && runtime().environment().check) check_exit();
  const std::size_t n_errors = report_once(status == 0 ? End::normal : End::with_error);
  if ((n_errors == 0 && !has_missing()) || status != 0) return;
  std::fflush(nullptr);
  std::_Exit(kExitWithErrors);
}

// A failed assertion in host code, for example, is often caused by a kernel, so the report must be written as
// well.
void report_at_death(int number) {
  report_once(End::by_signal);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

__attribute__((constructor)) void prepare_report() {
  on_exit(report_at_exit, nullptr);
  if (std::getenv("SIM_CHECK") == nullptr && std::getenv("SIM_REPORT") == nullptr) return;
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, report_at_death);
}

}  // namespace
}  // namespace course::cudart

using namespace course::cudart;  // NOLINT: what follows is only the exported face

CUDART_EXPORT int simReportMissing(const char* message) {
  const InsideRuntime inside;
  note_missing();
  if (runtime().environment().check)
    add_missing("library-not-simulated", message);
  else
    say(message);
  return 0;
}

CUDART_EXPORT int simSwapLastError(int error) {
  return std::exchange(thread_state().last_error, static_cast<cudaError_t>(error));
}

CUDART_EXPORT int simSetMode(unsigned mode) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  context.device().set_mode(mode);
  return 0;
}

CUDART_EXPORT int simSetSchedule(unsigned long long seed) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  context.device().set_schedule(seed & ~SIM_STARTS_IN_ORDER, (seed & SIM_STARTS_IN_ORDER) == 0);
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

CUDART_EXPORT int simConfine(const void* pointer, int to_parts) {
  const auto place = locate(pointer);
  if (!place) return 1;
  const std::lock_guard guard(place->context->lock);
  place->context->device().confine(
      reinterpret_cast<std::uint64_t>(pointer),  // NOLINT: an address of our arena
      to_parts != 0);
  return 0;
}

CUDART_EXPORT int simUnorderedWork(void* handle) {
  CUstream_st* stream = nullptr;
  if (Status status = resolve(static_cast<cudaStream_t>(handle), stream); !status.ok()) return 1;
  return take_unordered_work(*stream) ? 1 : 0;
}

CUDART_EXPORT int simForgetWrites(const void* pointer, size_t n_bytes) {
  const auto place = locate(pointer);
  if (!place || !check_range(pointer, n_bytes, "buffer").ok()) return 1;
  const std::lock_guard guard(place->context->lock);
  place->context->device().forget_writes(reinterpret_cast<std::uint64_t>(pointer),
                                         n_bytes);  // NOLINT: an address of our arena
  return 0;
}

CUDART_EXPORT int simEmptyHeap(void) {
  Context& context = current_context();
  const std::lock_guard guard(context.lock);
  context.device().empty_heap();
  return 0;
}
