// SPDX-License-Identifier: MIT
// Streams, events, and stream capture. Streams need no queue, because each operation is executed when it is
// submitted. Events contain modelled time: that of their device's timeline when they were recorded.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cudart/runtime/handles.hpp"
#include "cudart/runtime/host/work_order.hpp"
#include "cudart/runtime/operation.hpp"
#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

// One capture, shared by the streams that take part in it.
struct Capture {
  std::uint64_t id = 0;
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  // The first call that was not allowed or failed; empty while the capture is valid.
  std::string invalidated_by;
  std::unique_ptr<CUgraph_st> graph;
  std::vector<cudaStream_t> streams;  // the origin, and streams that joined by waiting for an event
  // Last nodes of streams destroyed during the capture; they must lead to the origin, too.
  std::vector<cudaGraphNode_t> left_tips;

  bool invalidated() const { return !invalidated_by.empty(); }
  void invalidate(std::string by) {
    if (!invalidated()) invalidated_by = std::move(by);
  }

  Capture();
  ~Capture();
};

}  // namespace course::cudart

struct CUstream_st {
  course::cudart::Context* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  std::string name;  // in messages
  course::cudart::OwnAgent agent;
  // Covers the work that the stream's next work waits for. Protected by a lock in stream.cpp.
  course::cudart::Clock clock;
  std::shared_ptr<course::cudart::Capture> capture;  // during a capture
  std::vector<cudaGraphNode_t> tips;                 // the nodes on which the next captured operation depends
  std::map<unsigned, cudaLaunchAttributeValue> attributes;
  unsigned n_queries = 0;  // since its last work
  std::vector<course::cudart::VainWait> vain_waits;
};

struct CUevent_st {
  course::cudart::Context* context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  unsigned n_queries = 0;                            // since it was last recorded
  double time_us = 0;                                // modelled
  std::uint64_t n_submitted = 0;                     // the device's work before it
  std::chrono::steady_clock::time_point clock_time;  // on this machine
  // Covers the work before the event when it was last recorded. Protected as CUstream_st::clock is.
  course::cudart::Clock clock;
  // With the host's checks: where it was last recorded; the same before that.
  course::cudart::CallStack recorded_by, recorded_before_by;
  course::cudart::Clock clock_before;
  // What the waits before its first record miss, if there were any.
  std::shared_ptr<course::cudart::Clock> waited_too_early;
  std::weak_ptr<course::cudart::Capture> capture;  // if last recorded in a captured stream
  std::vector<cudaGraphNode_t> tips;

  void stamp();  // under the context's lock
};

namespace course::cudart {

Handles<CUstream_st>& streams();
Handles<CUevent_st>& events();

std::unique_ptr<CUstream_st> make_stream(Context& context, unsigned flags, int priority, std::string name);

// Also removes the stream from its capture, which continues unless it began in this stream.
void destroy_stream(CUstream_st* stream);

// Accepts live handles and the three special ones: 0 (the same as cudaStreamLegacy), cudaStreamLegacy, and
// cudaStreamPerThread.
Status resolve(cudaStream_t handle, CUstream_st*& stream);
Status resolve(cudaEvent_t handle, CUevent_st*& event);

// The stream that executes an operation, and whether the call waits for copies between host and device, as
// cudaMemcpy does. Kernels, fills, copies within the device and copies from pageable memory return early in
// any case. A copy to pageable memory always waits.
struct Submission {
  cudaStream_t stream = nullptr;
  bool waits = false;
  Submission(cudaStream_t where, bool call_waits = false)
      : stream(where), waits(call_waits) {}  // NOLINT: implicit
};

// Executes the operation now, or adds a graph node if the stream is captured.
Status submit(Submission where, Operation operation);
Status submit_to(CUstream_st& stream, Operation operation, bool waits = false);
// Launches an executable graph in a stream that is not captured.
Status submit_graph(CUstream_st& stream, const CUgraph_st& graph, bool frees_on_launch);
// Begins work that other code executes (device_part.hpp), and makes the stream's next work wait for its end.
Work begin_in(CUstream_st& stream);
void end_in(CUstream_st& stream, const Clock& after);

// Must be called when the host has waited for the work of a device or a stream, or for the work before an
// event.
void host_waited(const Context& context);
void host_waited(const CUstream_st& stream);
void host_waited(const CUevent_st& event);
// Whether a query answers that the work has ended. Without kHostcheck it has always ended. With it, as long
// as the host has not waited, the first queries answer no, so that a program that polls goes on after a
// while; SIM_SCHEDULE_SEED chooses their number.
bool has_ended(CUstream_st& stream);
bool has_ended(CUevent_st& event);
// Whether there has been, since the last call, work that nothing orders before the stream's next work, or
// unordered work of other streams: see work_order.hpp.
bool take_unordered_work(const CUstream_st& stream);

Status record_event(cudaEvent_t handle, cudaStream_t stream, bool external);
Status wait_event(cudaStream_t stream, cudaEvent_t handle, bool external);

Status begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode);
Status end_capture(cudaStream_t stream, cudaGraph_t* graph);
// For calls that are not allowed during a capture (cudaMalloc, cudaDeviceSynchronize, …): returns an error
// and invalidates the capture.
Status forbid_while_capturing(const char* call);
// The same for a call that concerns one stream.
Status forbid_if_captured(CUstream_st& stream, const char* what);

}  // namespace course::cudart
