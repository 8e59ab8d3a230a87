// SPDX-License-Identifier: MIT
// Streams, events, and stream capture. Streams need no queue, as every operation is executed when it is submitted.
// Events carry modelled time: what their device's timeline said when they were recorded.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cudart/runtime/handles.hpp"
#include "cudart/runtime/operation.hpp"
#include "cudart/runtime/order.hpp"
#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

// One capture, shared by the streams that take part in it.
struct Capture {
  std::uint64_t id = 0;
  cudaStream_t origin = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  std::string invalidated_by;  // the first call that was not allowed or failed; empty: the capture is valid
  cudaGraph_t graph = nullptr;
  std::unique_ptr<CUgraph_st> owned_graph;  // empty when capturing into the user's graph
  std::vector<cudaStream_t> streams;        // origin and those that joined it by waiting for an event
  std::vector<cudaGraphNode_t>
      left_tips;  // of streams destroyed meanwhile: what must lead back to the origin, too

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
  course::cudart::Clock clock;  // of the work that the next one waits for; under a lock of stream.cpp
  std::shared_ptr<course::cudart::Capture> capture;  // while captured
  std::vector<cudaGraphNode_t> tips;                 // what the next captured operation depends on
  std::map<unsigned, cudaLaunchAttributeValue> attributes;
};

struct CUevent_st {
  course::cudart::Context* context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  double time_us = 0;
  course::cudart::Clock clock;  // of the work before it when last recorded; as CUstream_st::clock
  std::weak_ptr<course::cudart::Capture> capture;  // when last recorded in a captured stream
  std::vector<cudaGraphNode_t> tips;
};

namespace course::cudart {

Handles<CUstream_st>& streams();
Handles<CUevent_st>& events();

std::unique_ptr<CUstream_st> make_stream(Context& context, unsigned flags, int priority, std::string name);

// Takes the stream out of any capture, too, which goes on unless it began in this stream.
void destroy_stream(CUstream_st* stream);

// Accepts live handles and the three special ones: 0 and cudaStreamLegacy, cudaStreamPerThread.
Status resolve(cudaStream_t handle, CUstream_st*& stream);
Status resolve(cudaEvent_t handle, CUevent_st*& event);

// Where work goes, and whether the call waits for it: a copy between host and device does, others return early all the same.
struct Submission {
  cudaStream_t stream = nullptr;
  bool waits = false;
  Submission(cudaStream_t where, bool call_waits = false)
      : stream(where), waits(call_waits) {}  // NOLINT: implicit
};

// Executes now or, in a captured stream, adds a node.
Status submit(Submission where, Operation operation);
Status submit_to(CUstream_st& stream, Operation operation, bool waits = false);
// Launches an executable graph in a stream that is not captured.
Status submit_graph(CUstream_st& stream, const CUgraph_st& graph, bool frees_on_launch);

// The host has waited for the work of a stream, or of what was before the event when it was recorded.
void host_waited(const CUstream_st& stream);
void host_waited(const CUevent_st& event);
// Is there work that nothing orders with the stream's next? Since the last call, see order.hpp.
bool take_unordered_work(const CUstream_st& stream);

Status record_event(cudaEvent_t handle, cudaStream_t stream, bool external);
Status wait_event(cudaStream_t stream, cudaEvent_t handle, bool external);

Status begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode, cudaGraph_t into,
                     const std::vector<cudaGraphNode_t>& after);
Status end_capture(cudaStream_t stream, cudaGraph_t* graph);
// For calls that a capture forbids (cudaMalloc, cudaDeviceSynchronize ...): an error, and the captures are invalid.
Status forbid_while_capturing(const char* what);
// The same for a call about one stream.
Status forbid_if_captured(CUstream_st& stream, const char* what);

}  // namespace course::cudart
