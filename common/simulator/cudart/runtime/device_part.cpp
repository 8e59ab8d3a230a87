// SPDX-License-Identifier: MIT
#include "cudart/runtime/device_part.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cudart/api/api.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/host/never_written.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/stream.hpp"
#include "sim/timing/timeline.hpp"

namespace course::cudart {
namespace {

struct Parts {
  std::mutex lock;
  std::atomic<std::size_t> n{0};  // without parts nobody takes the lock
  std::map<SimPart*, std::unique_ptr<SimPart>> all;
};
Parts& parts() {
  static auto& table = *new Parts;
  return table;
}

// What is needed to wait for a part that may end meanwhile.
struct Wait {
  SimWait wait;
  void* user;
  unsigned long long id;
};

template <typename Concerns>
std::vector<Wait> waits_of(Concerns concerns) {
  std::vector<Wait> waits;
  if (parts().n.load(std::memory_order_acquire) == 0) return waits;
  const std::lock_guard guard(parts().lock);
  for (const auto& [handle, part] : parts().all)
    if (concerns(*part)) waits.push_back({part->wait, part->user, part->id});
  return waits;
}

void wait_for(const std::vector<Wait>& waits) {
  for (const Wait& part : waits) (void)part.wait(part.user, part.id, 1);
}

std::unique_ptr<SimPart> take(SimPart* handle) {
  const std::lock_guard guard(parts().lock);
  auto part = std::move(parts().all.at(handle));
  parts().all.erase(handle);
  parts().n.fetch_sub(1, std::memory_order_release);
  return part;
}

void put(char* text, std::size_t capacity, const std::string& from) {
  if (text != nullptr && capacity > 0) std::snprintf(text, capacity, "%s", from.c_str());
}

// The default stream is that of the device, not that of the thread's current one.
Status stream_of(void* handle, int device, CUstream_st*& stream) {
  const int current = std::exchange(thread_state().device, device);
  Status status = resolve(static_cast<cudaStream_t>(handle), stream);
  thread_state().device = current;
  if (status.ok() && stream->context->ordinal != device) {
    return fail(cudaErrorInvalidResourceHandle, "the stream belongs to device {}, the rank to device {}",
                stream->context->ordinal, device);
  }
  return status;
}

void note_ranges(const SimPartWork& work, SimPart& part) {
  sim::Footprint footprint;
  const bool checks = checks_host(*part.context);
  for (std::size_t i = 0; i < work.n_ranges; ++i) {
    const SimRange& range = work.ranges[i];
    if (range.n_bytes == 0) continue;
    if (range.writes != 0) {
      const std::lock_guard guard(part.context->lock);
      part.context->device().host_wrote(address_of(range.start), range.n_bytes);
    }
    if (!checks) continue;
    footprint.add(address_of(range.start), range.n_bytes,
                  range.writes != 0 ? sim::Footprint::kWrite : sim::Footprint::kRead);
  }
  const CurrentWork doing(part.work);
  work_accessed(*part.context, part.what, false, std::move(footprint));
}

// A collective reads its send buffers as a copy reads its source.
void check_sources(const SimPartWork& work) {
  for (std::size_t i = 0; i < work.n_ranges; ++i) {
    const SimRange& range = work.ranges[i];
    if (range.writes == 0 && range.n_bytes > 0)
      check_source(linear_copy(nullptr, range.start, range.n_bytes, cudaMemcpyDeviceToDevice),
                   work.part->what);
  }
}

void advance_timelines(const SimPartWork* work, std::size_t n_parts, double start, double us) {
  for (std::size_t i = 0; i < n_parts; ++i) start = std::max(start, simPartReady(work[i].part));
  std::vector<Context*> done;
  for (std::size_t i = 0; i < n_parts; ++i) {
    Context& context = *work[i].part->context;
    const std::lock_guard guard(context.lock);
    context.device().count_sent(work[i].n_messages, work[i].bytes_sent);
    if (std::ranges::find(done, &context) != done.end()) continue;
    done.push_back(&context);
    context.device().timeline().together(start, us);
  }
}

}  // namespace

Status wait_for_parts(CUstream_st& stream) {
  const std::vector<Wait> waits = waits_of([&](const SimPart& part) {
    if (part.stream == &stream) return true;
    if (part.context != stream.context) return false;
    const auto blocking = [](const CUstream_st& s) { return (s.flags & cudaStreamNonBlocking) == 0; };
    const CUstream_st* legacy = stream.context->legacy_stream.get();
    return (legacy == &stream || legacy == part.stream) && blocking(*part.stream) && blocking(stream);
  });
  if (waits.empty()) return cudaSuccess;
  wait_for(waits);
  return stream.context->error();
}

void wait_for_parts(Context& context) {
  wait_for(waits_of([&](const SimPart& part) { return part.context == &context; }));
}

bool has_parts(CUstream_st& stream) {
  for (const Wait& part : waits_of([&](const SimPart& p) { return p.stream == &stream; }))
    if (part.wait(part.user, part.id, 0) == 0) return true;
  return false;
}

}  // namespace course::cudart

using namespace course::cudart;  // NOLINT: what follows is only the exported face

CUDART_EXPORT int simPrepareStream(void* handle, int device, char* why, size_t capacity) {
  const InsideRuntime inside;
  CUstream_st* stream = nullptr;
  Status status = stream_of(handle, device, stream);
  if (status.ok()) status = stream->context->error();
  if (status.ok()) status = forbid_if_captured(*stream, "an NCCL call");
  if (status.ok()) status = wait_for_parts(*stream);
  put(why, capacity, status.text().empty() ? error_string(status.code()) : status.text());
  return status.code();
}

CUDART_EXPORT SimPart* simEnterPart(void* handle, int device, const char* what, SimWait wait, void* user,
                                    unsigned long long id) {
  const InsideRuntime inside;
  CUstream_st* stream = nullptr;
  if (!stream_of(handle, device, stream).ok()) return nullptr;
  const OneHostClock clock(*stream->context);
  auto part = std::make_unique<SimPart>();
  *part = {stream->context, stream, begin_in(*stream), what, wait, user, id};
  SimPart* const entered = part.get();
  const std::lock_guard guard(parts().lock);
  parts().all.emplace(entered, std::move(part));
  parts().n.fetch_add(1, std::memory_order_release);
  return entered;
}

CUDART_EXPORT double simPartReady(SimPart* part) {
  const std::lock_guard guard(part->context->lock);
  return part->context->device().timeline().event();
}

CUDART_EXPORT void simRunParts(const SimPartWork* work, size_t n_parts, double start, double us,
                               void (*move)(void* user), void* user) {
  const InsideRuntime inside;
  note_activity(Activity::launch);
  for (std::size_t i = 0; i < n_parts; ++i) check_sources(work[i]);
  open_device_memory();
  move(user);
  for (std::size_t i = 0; i < n_parts; ++i) note_ranges(work[i], *work[i].part);
  advance_timelines(work, n_parts, start, us);
  for (std::size_t i = 0; i < n_parts; ++i) {
    Clock after = work[i].part->work.after;
    for (std::size_t k = 0; k < n_parts; ++k)
      if ((work[i].after_parts >> k & 1) != 0) after.join(work[k].part->work.before);
    end_in(*work[i].part->stream, after);
  }
  for (std::size_t i = 0; i < n_parts; ++i) (void)take(work[i].part);
}

CUDART_EXPORT void simFailPart(SimPart* handle, int fault) {
  const InsideRuntime inside;
  const std::unique_ptr<SimPart> part = take(handle);
  const std::lock_guard guard(part->context->lock);
  if (fault != 0) part->context->sticky = cudaErrorLaunchTimeout;
}

CUDART_EXPORT int simCheckMemory(const void* start, size_t n_bytes, int device, char* why, size_t capacity) {
  const InsideRuntime inside;
  Status status;
  const std::optional<Place> place = locate(start);
  if (start == nullptr)
    status = fail(cudaErrorInvalidValue, "it is a null pointer");
  else if (const auto where = place ? std::nullopt : past_an_array(start))
    status = fail(cudaErrorInvalidValue, "{} {}", start, *where);
  else if (!place)
    status = fail(cudaErrorInvalidValue, "{} is not device memory: a host pointer, freed, or never allocated",
                  start);
  else if (place->on_device_only() && place->context->ordinal != device)
    status = fail(cudaErrorInvalidValue, "it is memory of device {}, but the rank is on device {}",
                  place->context->ordinal, device);
  else
    status = check_range(start, n_bytes, "buffer");
  put(why, capacity, status.text());
  return status.code();
}

CUDART_EXPORT void simReadMemory(void* to, const void* from, size_t n_bytes) {
  const InsideRuntime inside;
  if (n_bytes > 0) std::memcpy(to, from, n_bytes);
}

CUDART_EXPORT void simReportFault(int device, const char* kind, const char* message, const void* code,
                                  const void* other_code, int prints) {
  const InsideRuntime inside;
  course::sim::Finding finding;
  finding.checker = course::sim::Checker::execution;
  finding.kind = kind;
  finding.where = place_of_code(code);
  finding.other_where = place_of_code(other_code);
  finding.message = message;
  if (prints != 0 && !runtime().environment().check) say(message);  // otherwise it is printed at the end
  Context& context = runtime().context(device);
  const std::lock_guard guard(context.lock);
  context.device().add_finding(std::move(finding));
}

CUDART_EXPORT void simPlaceOfCode(const void* code, char* text, size_t capacity) {
  const std::vector<course::sim::SourcePlace> place = place_of_code(code);
  put(text, capacity, place.empty() ? "" : fmt::format("{}:{}", place.front().file, place.front().line));
}

CUDART_EXPORT const char* simChipName(void) {
  return runtime().environment().device.preset.name.c_str();
}
