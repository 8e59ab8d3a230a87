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
  std::shared_ptr<course::cudart::Capture> capture;  // while captured
  std::vector<cudaGraphNode_t> tips;                 // what the next captured operation depends on
  std::map<unsigned, cudaLaunchAttributeValue> attributes;
};

struct CUevent_st {
  course::cudart::Context* context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  double time_us = 0;
  std::weak_ptr<course::cudart::Capture> capture;  // when last recorded in a captured stream
  std::vector<cudaGraphNode_t> tips;
};

namespace course::cudart {

Handles<CUstream_st>& streams();
Handles<CUevent_st>& events();

std::unique_ptr<CUstream_st> make_stream(Context& context, unsigned flags, int priority);

// Takes the stream out of any capture, too, which goes on unless it began in this stream.
void destroy_stream(CUstream_st* stream);

// Accepts live handles and the three special ones: 0 and cudaStreamLegacy, cudaStreamPerThread.
Status resolve(cudaStream_t handle, CUstream_st*& stream);
Status resolve(cudaEvent_t handle, CUevent_st*& event);

// Executes now or, in a captured stream, adds a node.
Status submit(cudaStream_t handle, Operation operation);
Status submit_to(CUstream_st& stream, Operation operation);

// Streams whose work nothing orders. Here every operation is executed when it is submitted, so it does no harm; on a GPU it does.
// The host has waited for the work of a stream, or (nullptr) for all.
void host_waited(const CUstream_st* stream);
// It has learnt, by waiting or otherwise, that this work (nullptr: all work) is done.
void host_saw_end(const CUstream_st* stream);
// Since the last call: was work submitted to several streams that nothing orders, or is some still under way, as far as the program can
// know, in another than this?
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
