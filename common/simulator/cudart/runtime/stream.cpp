// SPDX-License-Identifier: MIT
#include "cudart/runtime/stream.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "cudart/graph/graph.hpp"
#include "cudart/runtime/device_part.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/memory/registered.hpp"

void CUevent_st::stamp() {
  const course::sim::Timeline& timeline = context->device().timeline();
  time_us = timeline.event();
  n_submitted = timeline.submitted();
  clock_time = std::chrono::steady_clock::now();
}

namespace course::cudart {
namespace {

const auto kLegacyHandle = reinterpret_cast<cudaStream_t>(1);     // NOLINT: cudaStreamLegacy of the ABI
const auto kPerThreadHandle = reinterpret_cast<cudaStream_t>(2);  // NOLINT: cudaStreamPerThread

// Captures in progress, for calls that are not allowed during a capture.
struct ActiveCaptures {
  std::mutex lock;
  std::vector<std::shared_ptr<Capture>> all;
};
ActiveCaptures& active_captures() {
  static auto& captures = *new ActiveCaptures;
  return captures;
}

void join(CUstream_st& stream, const std::shared_ptr<Capture>& capture,
          const std::vector<cudaGraphNode_t>& after) {
  if (stream.capture == nullptr) {
    stream.capture = capture;
    stream.tips.clear();
    capture->streams.push_back(&stream);
  }
  for (const cudaGraphNode_t node : after)
    if (std::ranges::find(stream.tips, node) == stream.tips.end()) stream.tips.push_back(node);
}

Status invalidated(const Capture& capture) {
  return fail(cudaErrorStreamCaptureInvalidated, "the capture is invalid since {}", capture.invalidated_by)
      .as(sim::kConsequence);
}

Status add_captured(CUstream_st& stream, Operation operation) {
  if (stream.capture->invalidated()) return invalidated(*stream.capture);
  cudaGraphNode_t node = nullptr;
  Status status = check(*stream.context, operation);
  if (status.ok())
    status = add_node(*stream.capture->graph, *stream.context, stream.tips.data(), stream.tips.size(),
                      std::move(operation), &node);
  if (!status.ok()) {
    stream.capture->invalidate(
        fmt::format("work for a captured stream was refused: {}",
                    status.text().empty() ? error_string(status.code()) : status.text()));
    return status;
  }
  stream.tips.assign(1, node);
  return cudaSuccess;
}

// The streams execute operations at once again.
void end_for_all(const std::shared_ptr<Capture>& capture) {
  for (const cudaStream_t member : capture->streams) {
    member->capture.reset();
    member->tips.clear();
  }
  ActiveCaptures& active = active_captures();
  const std::lock_guard guard(active.lock);
  std::erase(active.all, capture);
}

// The legacy stream waits for all blocking streams, which is impossible while one of them is captured.
Status check_legacy_stream(const CUstream_st& stream) {
  if (&stream != stream.context->legacy_stream.get()) return cudaSuccess;
  ActiveCaptures& active = active_captures();
  const std::lock_guard guard(active.lock);
  for (const auto& capture : active.all) {
    const bool blocking = (capture->origin->flags & cudaStreamNonBlocking) == 0;
    if (capture->origin->context != stream.context || !blocking ||
        capture->mode == cudaStreamCaptureModeRelaxed)
      continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal && capture->thread != std::this_thread::get_id())
      continue;
    capture->invalidate("work was given to the default stream");
    return fail(cudaErrorStreamCaptureImplicit,
                "work for the default stream while another stream is captured: use that stream "
                "or one made with cudaStreamNonBlocking");
  }
  return cudaSuccess;
}

// Whether everything that forked streams added leads back to the origin.
bool all_joined(const Capture& capture) {
  std::set<const CUgraphNode_st*> reached;
  std::vector<const CUgraphNode_st*> open(capture.origin->tips.begin(), capture.origin->tips.end());
  while (!open.empty()) {
    const CUgraphNode_st* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  const auto all_reached = [&](const std::vector<cudaGraphNode_t>& tips) {
    return std::ranges::all_of(tips, [&](cudaGraphNode_t tip) { return reached.contains(tip); });
  };
  return all_reached(capture.left_tips) &&
         std::ranges::all_of(capture.streams, [&](cudaStream_t stream) { return all_reached(stream->tips); });
}

// Whether the operation needs to be ordered. Copies and fills of no bytes do not.
bool is_work(const Operation& operation) {
  const auto volume = [](const auto& op) { return op.width * op.height * op.depth; };
  if (const auto* copy = std::get_if<CopyOp>(&operation)) return volume(*copy) != 0;
  if (const auto* fill = std::get_if<FillOp>(&operation)) return volume(*fill) != 0;
  return !std::holds_alternative<RecordOp>(operation) && !std::holds_alternative<WaitOp>(operation);
}

// Protects the clocks of streams and events. For each device, `blocking` is what the next work of its legacy
// stream waits for, and `submitted` is all work of its streams.
struct Clocks {
  std::mutex lock;
  std::map<const Context*, Clock> blocking, submitted;
};
Clocks& clocks() {
  static auto& all = *new Clocks;
  return all;
}

// The legacy stream and streams created without cudaStreamNonBlocking wait for each other's earlier work.
bool is_legacy(const CUstream_st& stream) {
  return &stream == stream.context->legacy_stream.get();
}
bool is_blocking(const CUstream_st& stream) {
  return (stream.flags & cudaStreamNonBlocking) == 0;
}

// What the stream's next work waits for. Must be called under the lock.
Clock work_before(const CUstream_st& stream) {
  Clock clock = stream.clock;
  if (is_legacy(stream))
    clock.join(clocks().blocking[stream.context]);
  else if (is_blocking(stream) && stream.context->legacy_stream != nullptr)
    clock.join(stream.context->legacy_stream->clock);
  return clock;
}

// Makes the stream's next work wait for `clock`, too. Must be called under the lock.
void advance(CUstream_st& stream, const Clock& clock) {
  stream.clock.join(clock);
  clocks().submitted[stream.context].join(clock);
  if (is_blocking(stream)) clocks().blocking[stream.context].join(clock);
}

Work next_work(CUstream_st& stream) {
  const std::lock_guard guard(clocks().lock);
  Work work =
      begin_work(stream.agent, work_before(stream), stream.name, stream.context->ordinal, stream.vain_waits);
  advance(stream, work.after);
  stream.n_queries = 0;
  return work;
}

// Whether the host waits for this copy before the call returns. It always does if the copy writes pageable
// memory.
bool waits_for(const CopyOp& copy, bool call_waits) {
  const std::optional<Place> dst = locate(copy.dst), src = locate(copy.src);
  if (!dst && !registered_range(copy.dst)) return true;
  return call_waits && src && !(src->on_device_only() && dst && dst->on_device_only());
}

}  // namespace

void host_waited(const CUstream_st& stream) {
  const std::lock_guard guard(clocks().lock);
  host_waited_for(work_before(stream));
}

void host_waited(const Context& context) {
  const std::lock_guard guard(clocks().lock);
  host_waited_for(clocks().submitted[&context]);
}

void host_waited(const CUevent_st& event) {
  const std::lock_guard guard(clocks().lock);
  host_waited_for(event.clock);
}

namespace {

bool answers_that_it_ended(Context& context, const Clock& clock, unsigned& n_queries) {
  constexpr unsigned kFewestNo = 2, kChoices = 3;
  if (!checks_host(context) || host_may_have_waited_for_all(clock)) return true;
  const std::lock_guard guard(context.lock);
  return n_queries++ >= kFewestNo + context.device().options().schedule_seed % kChoices;
}

}  // namespace

bool has_ended(CUstream_st& stream) {
  std::unique_lock guard(clocks().lock);
  const Clock clock = work_before(stream);
  guard.unlock();  // the context's lock is never taken under this one
  return answers_that_it_ended(*stream.context, clock, stream.n_queries);
}

bool has_ended(CUevent_st& event) {
  std::unique_lock guard(clocks().lock);
  const Clock clock = event.clock;
  guard.unlock();
  return answers_that_it_ended(*event.context, clock, event.n_queries);
}

bool take_unordered_work(const CUstream_st& stream) {
  const std::lock_guard guard(clocks().lock);
  return take_unordered_work(work_before(stream));
}

Capture::Capture() = default;
Capture::~Capture() = default;

Handles<CUstream_st>& streams() {
  static auto& table = *new Handles<CUstream_st>;
  return table;
}

Handles<CUevent_st>& events() {
  static auto& table = *new Handles<CUevent_st>;
  return table;
}

std::unique_ptr<CUstream_st> make_stream(Context& context, unsigned flags, int priority, std::string name) {
  static std::atomic<std::uint64_t> next_id{1};
  auto stream = std::make_unique<CUstream_st>();
  stream->context = &context;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = next_id++;
  stream->name = std::move(name);
  return stream;
}

void destroy_stream(CUstream_st* stream) {
  if (const std::shared_ptr<Capture> capture = stream->capture) {
    if (capture->origin == stream) {
      capture->invalidate("cudaStreamDestroy destroyed the stream where it began");
      end_for_all(capture);
    }
    std::erase(capture->streams, stream);
    capture->left_tips.insert(capture->left_tips.end(), stream->tips.begin(), stream->tips.end());
  }
  (void)streams().take(stream);
}

Status resolve(cudaStream_t handle, CUstream_st*& stream) {
  if (handle == nullptr || handle == kLegacyHandle) {
    Context& context = current_context();
    const std::lock_guard guard(context.lock);
    if (context.legacy_stream == nullptr)
      context.legacy_stream = make_stream(context, cudaStreamDefault, 0, "the default stream");
    stream = context.legacy_stream.get();
    return cudaSuccess;
  }
  if (handle == kPerThreadHandle) {
    Context& context = current_context();
    auto& mine = thread_state().default_streams[context.ordinal];
    if (mine == nullptr) mine = make_stream(context, cudaStreamDefault, 0, "a thread's default stream");
    stream = mine.get();
    return cudaSuccess;
  }
  if (!streams().contains(handle)) {
    return fail(cudaErrorInvalidResourceHandle, "{} is not a stream: destroyed, or never created",
                static_cast<void*>(handle));
  }
  stream = handle;
  return cudaSuccess;
}

Status resolve(cudaEvent_t handle, CUevent_st*& event) {
  if (!events().contains(handle)) {
    return fail(cudaErrorInvalidResourceHandle, "{} is not an event: destroyed, or never created",
                static_cast<void*>(handle));
  }
  event = handle;
  return cudaSuccess;
}

Status submit(Submission where, Operation operation) {
  CUstream_st* stream = nullptr;
  if (Status status = resolve(where.stream, stream); !status.ok()) return status;
  return submit_to(*stream, std::move(operation), where.waits);
}

Status submit_to(CUstream_st& stream, Operation operation, bool waits) {
  if (stream.capture != nullptr) return add_captured(stream, std::move(operation));
  if (Status status = wait_for_parts(stream); !status.ok()) return status;
  const OneHostClock clock(*stream.context);
  if (Status status = check_legacy_stream(stream); !status.ok()) return status;
  if (Status status = check(*stream.context, operation); !status.ok()) return status;
  Status status;
  if (is_work(operation)) {
    Work work = next_work(stream);
    const CurrentWork doing(work);
    status = execute(*stream.context, operation);
    const auto* copy = std::get_if<CopyOp>(&operation);
    if (status.ok() && copy != nullptr && waits_for(*copy, waits))
      host_waited_for(work.after);
    else if (status.ok() && copy != nullptr && waits && !locate(copy->src))
      host_may_have_waited_for(work.before);  // cudaMemcpy of pageable memory waits for its stream
  } else {
    status = execute(*stream.context, operation);
  }
  return status;
}

Work begin_in(CUstream_st& stream) {
  return next_work(stream);
}

void end_in(CUstream_st& stream, const Clock& after) {
  const std::lock_guard guard(clocks().lock);
  advance(stream, after);
}

Status submit_graph(CUstream_st& stream, const CUgraph_st& graph, bool frees_on_launch) {
  if (Status status = wait_for_parts(stream); !status.ok()) return status;
  const OneHostClock clock(*stream.context);
  Work work = next_work(stream);
  work.where = fmt::format("a graph in {}", stream.name);
  const CurrentWork doing(work);
  Status status = run_graph(graph, frees_on_launch);
  end_in(stream, work.after);
  return status;
}

Status record_event(cudaEvent_t handle, cudaStream_t stream_handle, bool external) {
  CUevent_st* event = nullptr;
  CUstream_st* stream = nullptr;
  if (Status status = resolve(handle, event); !status.ok()) return status;
  if (Status status = resolve(stream_handle, stream); !status.ok()) return status;
  if (event->context != stream->context) {
    return fail(cudaErrorInvalidResourceHandle, "the event belongs to device {}, the stream to device {}",
                event->context->ordinal, stream->context->ordinal);
  }
  if (stream->capture != nullptr && !external) {
    if (stream->capture->invalidated()) return invalidated(*stream->capture);
    event->capture = stream->capture;
    event->tips = stream->tips;
    event->recorded = false;
    return cudaSuccess;
  }
  event->capture.reset();
  Status status = submit_to(*stream, RecordOp{event});
  if (!status.ok() || stream->capture != nullptr) return status;
  CallStack here = checks_host(*event->context) ? call_stack() : CallStack{};
  const std::lock_guard guard(clocks().lock);
  event->recorded_before_by = std::exchange(event->recorded_by, std::move(here));
  event->clock_before = std::exchange(event->clock, work_before(*stream));
  if (event->waited_too_early) std::exchange(event->waited_too_early, nullptr)->join(event->clock);
  event->n_queries = 0;
  return status;
}

namespace {

// Must be called under the lock, when the stream has waited for the event.
void note_vain_wait(CUstream_st& stream, CUevent_st& event) {
  constexpr std::size_t kMost = 8;
  std::erase_if(stream.vain_waits, [&](const VainWait& wait) { return stream.clock.covers(*wait.missed); });
  if (event.recorded && stream.clock.covers(event.clock_before)) return;
  const auto at = [](const CallStack& calls) {
    const std::string line = text_of(place_of(calls));
    return line.empty() ? "" : " at " + line;
  };
  const std::string waits = fmt::format("the event for which {} waits{} ", stream.name, at(call_stack()));
  if (!event.recorded) {
    if (!event.waited_too_early) event.waited_too_early = std::make_shared<Clock>();
    event.waited_too_early->join(clocks().submitted[stream.context]);
    stream.vain_waits.push_back(
        {event.waited_too_early, waits + "had not been recorded then: record it before"});
  } else {
    stream.vain_waits.push_back(
        {std::make_shared<Clock>(event.clock_before),
         fmt::format("{}was recorded{} and again{}: a wait is for the last record, so use two events", waits,
                     at(event.recorded_before_by), at(event.recorded_by))});
  }
  if (stream.vain_waits.size() > kMost) stream.vain_waits.erase(stream.vain_waits.begin());
}

}  // namespace

Status wait_event(cudaStream_t stream_handle, cudaEvent_t handle, bool external) {
  CUevent_st* event = nullptr;
  CUstream_st* stream = nullptr;
  if (Status status = resolve(handle, event); !status.ok()) return status;
  if (Status status = resolve(stream_handle, stream); !status.ok()) return status;
  if (external) return submit_to(*stream, WaitOp{event});
  const std::shared_ptr<Capture> captured = event->capture.lock();
  if (captured != nullptr) {
    if (stream->capture != nullptr && stream->capture != captured) return cudaErrorStreamCaptureMerge;
    if (stream == stream->context->legacy_stream.get()) return cudaErrorStreamCaptureImplicit;
    join(*stream, captured, event->tips);
    return cudaSuccess;
  }
  if (stream->capture != nullptr) {
    stream->capture->invalidate("cudaStreamWaitEvent waited for an event that was recorded outside of it");
    return fail(cudaErrorStreamCaptureIsolation,
                "a captured stream waits for an event that was recorded outside of the capture");
  }
  const bool checked = checks_host(*stream->context);
  const std::lock_guard guard(clocks().lock);
  advance(*stream, event->clock);
  if (checked) note_vain_wait(*stream, *event);
  return cudaSuccess;
}

Status begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  CUstream_st* stream = nullptr;
  if (Status status = resolve(handle, stream); !status.ok()) return status;
  if (mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
  if (stream == stream->context->legacy_stream.get())
    return fail(cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured: create a stream");
  if (stream->capture != nullptr) return fail(cudaErrorIllegalState, "the stream is being captured already");
  static std::atomic<std::uint64_t> next_id{1};
  auto capture = std::make_shared<Capture>();
  capture->id = next_id++;
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->graph = std::make_unique<CUgraph_st>();
  join(*stream, capture, {});
  ActiveCaptures& active = active_captures();
  const std::lock_guard guard(active.lock);
  active.all.push_back(std::move(capture));
  return cudaSuccess;
}

Status end_capture(cudaStream_t handle, cudaGraph_t* graph) {
  CUstream_st* stream = nullptr;
  if (Status status = resolve(handle, stream); !status.ok()) return status;
  if (graph != nullptr) *graph = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return fail(cudaErrorIllegalState, "the stream is not being captured");
  if (capture->origin != stream) {
    capture->invalidate("cudaStreamEndCapture was called for a stream where it did not begin");
    return fail(cudaErrorStreamCaptureUnmatched, "a capture ends in the stream where it began");
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
    return cudaErrorStreamCaptureWrongThread;

  Status status;
  if (capture->invalidated()) {
    status = fail(cudaErrorStreamCaptureInvalidated, "the capture is invalid since {}; there is no graph",
                  capture->invalidated_by)
                 .as(sim::kConsequence);
  } else if (!all_joined(*capture)) {
    status = fail(cudaErrorStreamCaptureUnjoined,
                  "another captured stream holds work that the first one does not wait for: "
                  "record an event there and cudaStreamWaitEvent for it");
  }
  end_for_all(capture);
  if (!status.ok()) return status;
  cudaGraph_t const made = graphs().add(std::move(capture->graph));
  if (graph != nullptr) *graph = made;
  return cudaSuccess;
}

Status forbid_while_capturing(const char* call) {
  const cudaStreamCaptureMode mine = thread_state().capture_mode;
  if (mine == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  ActiveCaptures& active = active_captures();
  const std::lock_guard guard(active.lock);
  for (const auto& capture : active.all) {
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    const bool same_thread = capture->thread == std::this_thread::get_id();
    const bool everywhere =
        capture->mode == cudaStreamCaptureModeGlobal && mine == cudaStreamCaptureModeGlobal;
    if (!same_thread && !everywhere) continue;
    capture->invalidate(fmt::format("{} was called", name_of_call(call)));
    return fail(cudaErrorStreamCaptureUnsupported, "{} is not allowed while a stream is captured",
                name_of_call(call));
  }
  return cudaSuccess;
}

Status forbid_if_captured(CUstream_st& stream, const char* what) {
  if (stream.capture == nullptr) return cudaSuccess;
  stream.capture->invalidate(fmt::format("{} was called for a captured stream", what));
  return fail(cudaErrorStreamCaptureUnsupported, "{} of a stream that is being captured", what);
}

}  // namespace course::cudart
