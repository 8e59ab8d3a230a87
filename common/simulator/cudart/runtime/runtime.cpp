// SPDX-License-Identifier: MIT
#include "cudart/runtime/runtime.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "cudart/runtime/device_part.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/memory/pool.hpp"
#include "cudart/runtime/stream.hpp"
#include "sim/memory/memory.hpp"
#include "sim/timing/timeline.hpp"

namespace course::cudart {

std::map<unsigned, std::uint64_t> default_limits() {
  return {{cudaLimitStackSize, 1024},
          {cudaLimitPrintfFifoSize, 8650752},
          {cudaLimitMallocHeapSize, sim::kHeapBytes},
          {cudaLimitDevRuntimePendingLaunchCount, 2048},
          {cudaLimitMaxL2FetchGranularity, 64},
          {cudaLimitPersistingL2CacheSize, 11796480}};
}

Context::Context(int which) : ordinal(which) {}
Context::~Context() = default;

namespace {
// The modelled time of the host in µs, shared by all devices.
std::atomic<double>& host_clock() {
  static auto& clock = *new std::atomic<double>(0);
  return clock;
}
}  // namespace

OneHostClock::OneHostClock(Context& context) : context_(context) {
  if (runtime().n_devices() == 1) return;
  const std::lock_guard guard(context.lock);
  context.device().timeline().host_at_least(host_clock().load());
}

OneHostClock::~OneHostClock() {
  if (runtime().n_devices() == 1) return;
  const std::lock_guard guard(context_.lock);
  const double now = context_.device().timeline().host();
  double before = host_clock().load();
  while (before < now && !host_clock().compare_exchange_weak(before, now)) {
  }
}

Status Context::error() {
  const std::lock_guard guard(lock);
  return sticky;
}

Status Context::synchronise() {
  const OneHostClock clock(*this);
  const std::lock_guard guard(lock);
  device().timeline().synchronise();
  return sticky;
}

sim::Device& Context::device() {
  if (device_ == nullptr) {
    const Environment& env = runtime().environment();
    try {
      sim::DeviceOptions options = env.device;
      options.ordinal = ordinal;
      device_ = std::make_unique<sim::Device>(std::move(options));
    } catch (const std::runtime_error& none) {  // no kernel can run on this processor
      silence(false);
      say(none.what());
      std::_Exit(1);
    }
    device_->set_mode(env.mode);
    created.store(true, std::memory_order_release);
    note_activity(Activity::other);
    if (env.verbose) {
      const sim::DevicePreset& chip = env.device.preset;
      say(
          fmt::format("no GPU is used: device {} is a {} (sm_{}{}, {} multiprocessors) on {} host threads; "
                      "times are modelled",
                      ordinal, chip.name, chip.compute_major, chip.compute_minor, chip.multiprocessors,
                      env.device.host_threads > 0 ? static_cast<unsigned>(env.device.host_threads)
                                                  : std::thread::hardware_concurrency()));
    }
  }
  return *device_;
}

ThreadState::ThreadState() = default;
ThreadState::~ThreadState() {
  // A stream with pending work of several devices must outlive its thread.
  for (auto& [ordinal, stream] : default_streams)
    if (stream != nullptr && has_parts(*stream)) (void)stream.release();
}

Runtime::Runtime() : environment_(parse_environment([](const char* name) { return std::getenv(name); })) {
  silence(environment_.quiet);
  for (const std::string& complaint : environment_.complaints) say(complaint);
  for (int i = 0; i < environment_.n_devices; ++i) contexts_.push_back(std::make_unique<Context>(i));
}

std::vector<Context*> Runtime::created() {
  std::vector<Context*> all;
  for (const auto& context : contexts_)
    if (context->created.load(std::memory_order_acquire)) all.push_back(context.get());
  return all;
}

void Runtime::write_report() {
  if (environment_.report_file.empty()) return;
  std::vector<std::string> reports;
  for (Context* const context : created()) {
    const std::lock_guard guard(context->lock);
    reports.push_back(context->device().report_json());
  }
  if (reports.empty()) return;
  // With one device, its report; with several, an array of reports.
  std::string out = reports.front();
  if (reports.size() > 1) {
    for (std::size_t i = 1; i < reports.size(); ++i) out += ",\n" + reports[i];
    out = "[" + out + "]";
  }
  std::FILE* file = std::fopen(environment_.report_file.c_str(), "w");
  const bool written = file != nullptr && std::fwrite(out.data(), 1, out.size(), file) == out.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (!written || !closed)
    say(fmt::format("SIM_REPORT={}: cannot write that file", environment_.report_file));
}

Runtime& runtime() {
  static auto& instance = *new Runtime;  // never destroyed, see the invariants
  return instance;
}

ThreadState& thread_state() {
  // The main thread's state is never destroyed, because exit handlers and destructors of static objects still
  // call in.
  thread_local ThreadState* state = nullptr;
  struct Cleaner {
    bool armed = false;
    ~Cleaner() {
      if (armed) delete std::exchange(state, nullptr);
    }
  };
  thread_local Cleaner cleaner;
  if (state == nullptr) {
    state = new ThreadState;
    cleaner.armed = ::gettid() != ::getpid();
  }
  return *state;
}

Context& current_context() {
  return runtime().context(thread_state().device);
}

void say_once(const std::string& key, const std::string& text) {
  static std::mutex lock;
  static auto& said = *new std::set<std::string>;
  {
    const std::lock_guard guard(lock);
    if (!said.insert(key).second) return;
  }
  say(text);
}

}  // namespace course::cudart
