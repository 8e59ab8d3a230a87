// SPDX-License-Identifier: MIT
// Creation and destruction of streams and events, and functions that do not depend on the default stream.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "cudart/api/api.hpp"
#include "cudart/device_properties.hpp"
#include "cudart/runtime/device_part.hpp"
#include "cudart/runtime/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

Status create_stream(Context& context, cudaStream_t* out, unsigned flags, int priority) {
  if (out == nullptr) return fail(cudaErrorInvalidValue, "the address of the stream is null");
  if ((flags & ~static_cast<unsigned>(cudaStreamNonBlocking)) != 0)
    return fail(cudaErrorInvalidValue, "unknown flags {:#x}", flags);
  (void)context.device();  // as on a GPU, the first stream initialises the device
  static std::atomic<int> n_created{0};
  *out =
      streams().add(make_stream(context, flags, std::clamp(priority, kStreamPriorityHigh, kStreamPriorityLow),
                                fmt::format("stream {}", ++n_created)));
  return cudaSuccess;
}

Status create_event(Context& context, cudaEvent_t* out, unsigned flags) {
  constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  if (out == nullptr) return fail(cudaErrorInvalidValue, "the address of the event is null");
  if ((flags & ~kKnown) != 0) return fail(cudaErrorInvalidValue, "unknown flags {:#x}", flags);
  auto event = std::make_unique<CUevent_st>();
  event->context = &context;
  event->flags = flags;
  *out = events().add(std::move(event));
  return cudaSuccess;
}

Status wait_for(cudaEvent_t handle, const char* what, CUevent_st*& event) {
  if (Status status = resolve(handle, event); !status.ok()) return status;
  if (const auto capture = event->capture.lock()) {
    capture->invalidate(fmt::format("{} was called for an event of a captured stream", what));
    return fail(cudaErrorCapturedEvent, "{} for an event that was recorded in a captured stream", what);
  }
  return cudaSuccess;
}

}  // namespace

CUDART_API cudaStreamCreate(cudaStream_t* out) {
  return device_api([&](Context& context) { return create_stream(context, out, cudaStreamDefault, 0); });
}

CUDART_API cudaStreamCreateWithFlags(cudaStream_t* out, unsigned flags) {
  return device_api([&](Context& context) { return create_stream(context, out, flags, 0); });
}

CUDART_API cudaStreamCreateWithPriority(cudaStream_t* out, unsigned flags, int priority) {
  return device_api([&](Context& context) { return create_stream(context, out, flags, priority); });
}

CUDART_API cudaStreamDestroy(cudaStream_t stream) {
  return device_api([&]() -> Status {
    if (!streams().contains(stream))
      return fail(cudaErrorInvalidResourceHandle, "that is not a stream: destroyed, or never created");
    if (Status status = wait_for_parts(*stream); !status.ok()) return status;
    destroy_stream(stream);
    return cudaSuccess;
  });
}

CUDART_API cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return api([&]() -> Status {
    if (mode == nullptr || *mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    std::swap(*mode, thread_state().capture_mode);
    return cudaSuccess;
  });
}

CUDART_API cudaEventCreate(cudaEvent_t* out) {
  return device_api([&](Context& context) { return create_event(context, out, cudaEventDefault); });
}

CUDART_API cudaEventCreateWithFlags(cudaEvent_t* out, unsigned flags) {
  return device_api([&](Context& context) { return create_event(context, out, flags); });
}

CUDART_API cudaEventDestroy(cudaEvent_t event) {
  return device_api([&]() -> Status {
    if (events().take(event) == nullptr)
      return fail(cudaErrorInvalidResourceHandle, "that is not an event: destroyed, or never created");
    return cudaSuccess;
  });
}

CUDART_API cudaEventQuery(cudaEvent_t event) {
  return device_api([&] {
    CUevent_st* known = nullptr;
    Status status = wait_for(event, "cudaEventQuery", known);
    if (status.ok() && !has_ended(*known)) return Status(cudaErrorNotReady);
    if (status.ok()) host_waited(*known);
    return status;
  });
}

CUDART_API cudaEventSynchronize(cudaEvent_t event) {
  return device_api([&](Context& context) {
    CUevent_st* known = nullptr;
    Status status = wait_for(event, "cudaEventSynchronize", known);
    if (status.ok()) status = context.synchronise();
    if (status.ok()) host_waited(*known);
    return status;
  });
}

CUDART_API cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return device_api([&]() -> Status {
    CUevent_st *first = nullptr, *last = nullptr;
    if (ms == nullptr) return cudaErrorInvalidValue;
    if (Status status = resolve(start, first); !status.ok()) return status;
    if (Status status = resolve(end, last); !status.ok()) return status;
    if (!first->recorded || !last->recorded) {
      return fail(cudaErrorInvalidResourceHandle, "the {} event was never recorded",
                  first->recorded ? "end" : "start");
    }
    if (((first->flags | last->flags) & cudaEventDisableTiming) != 0)
      return fail(cudaErrorInvalidResourceHandle, "an event made with cudaEventDisableTiming holds no time");
    for (const auto& [event, name] : {std::pair{last, "end"}, std::pair{first, "start"}})
      if (!has_ended(*event))
        return fail(cudaErrorNotReady,
                    "the work before the {0} event may still be under way: call cudaEventSynchronize({0}) "
                    "first",
                    name)
            .as("missing-wait");
    host_waited(*last);
    constexpr double kUsPerMs = 1000;
    double us = last->time_us - first->time_us;
    // Without work of the device between them, the two enclose host code, whose time is not modelled.
    if (last->n_submitted == first->n_submitted) {
      const std::chrono::duration<double, std::micro> own = last->clock_time - first->clock_time;
      us = own.count() < 0 ? std::min(us, own.count()) : std::max(us, own.count());
    }
    *ms = static_cast<float>(us / kUsPerMs);
    return cudaSuccess;
  });
}
