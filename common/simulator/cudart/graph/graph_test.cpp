// SPDX-License-Identifier: MIT
// Graphs: capture, explicit construction, repeated launches, changes, memory nodes.
#include "cudart/testing/fixture.hpp"

namespace course::cudart {
namespace {

using sim::fake;

class Graph : public Api {
 protected:
  void SetUp() override {
    Api::SetUp();
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }

  // An executable graph of the work that `body` submits to the captured stream.
  template <typename Body>
  cudaGraphExec_t captured(Body body) {
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    body();
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaSuccess);
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaSuccess);
    return executable;
  }

  std::size_t n_nodes() const {
    std::size_t n = 0;
    EXPECT_EQ(cudaGraphGetNodes(graph_, nullptr, &n), cudaSuccess);
    return n;
  }

  // The parameters of a kernel node; the fixture holds the arguments.
  cudaKernelNodeParams kernel_params(unsigned blocks) {
    cudaKernelNodeParams p{};
    p.func = &sample_stub_;
    p.gridDim = dim3(blocks);
    p.blockDim = dim3(32);
    p.kernelParams = arguments;
    return p;
  }

  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

TEST_F(Graph, CaptureRecordsAndLaunchReplays) {
  int host = 5, back = 0;
  int* d = device_array<int>(1);
  cudaGraphExec_t executable = captured([&] {
    EXPECT_EQ(cudaMemcpyAsync(d, &host, 4, cudaMemcpyHostToDevice, stream_), cudaSuccess);
    EXPECT_EQ(launch(7, 32, 0, stream_), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(&back, d, 4, cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  });
  EXPECT_TRUE(fake().launches.empty()) << "nothing runs while capturing";
  EXPECT_EQ(back, 0);
  EXPECT_EQ(n_nodes(), 3u);
  for (int round = 1; round <= 3; ++round) {
    host = round;
    EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    EXPECT_EQ(back, round);
    EXPECT_EQ(fake().launches.size(), static_cast<std::size_t>(round));
  }
  EXPECT_EQ(fake().launches[0].grid.x, 7u);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess) << "an executable graph outlives its graph";
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaErrorInvalidValue);
}

TEST_F(Graph, ArgumentsAreCopiedAtCapture) {
  pointer_argument = device_array<int>(1);
  cudaGraphExec_t executable = captured([&] { EXPECT_EQ(launch(1, 1, 0, stream_), cudaSuccess); });
  int* const first = pointer_argument;
  pointer_argument = nullptr;
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  int* seen = nullptr;
  std::memcpy(&seen, fake().launches.at(0).parameters.data(), 8);
  EXPECT_EQ(seen, first);
}

TEST_F(Graph, ForkedStreamsJoinThroughEvents) {
  cudaStream_t side = make_stream();
  cudaEvent_t fork = make_event(), join = make_event();
  (void)captured([&] {
    EXPECT_EQ(launch(1, 1, 0, stream_), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
    EXPECT_EQ(launch(2, 1, 0, side), cudaSuccess);
    EXPECT_EQ(launch(3, 1, 0, stream_), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(join, side), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
    EXPECT_EQ(launch(4, 1, 0, stream_), cudaSuccess);
  });
  EXPECT_EQ(n_nodes(), 4u);
  std::size_t roots = 0;
  EXPECT_EQ(cudaGraphGetRootNodes(graph_, nullptr, &roots), cudaSuccess);
  EXPECT_EQ(roots, 1u);
}

TEST_F(Graph, JoinedStreamMayBeDestroyedWhileCapturing) {
  (void)captured([&] {
    cudaStream_t side = make_stream();
    cudaEvent_t fork = make_event(), join = make_event();
    EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
    EXPECT_EQ(launch(2, 1, 0, side), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(join, side), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(side), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(stream_, join, 0), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(fork), cudaSuccess);
    EXPECT_EQ(cudaEventDestroy(join), cudaSuccess);
    EXPECT_EQ(launch(3, 1, 0, stream_), cudaSuccess);
  });
  EXPECT_EQ(n_nodes(), 2u);
}

TEST_F(Graph, UnjoinedForkIsAnError) {
  for (const bool is_destroyed : {true, false}) {
    cudaStream_t side = make_stream();
    cudaEvent_t fork = make_event();
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(fork, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
    EXPECT_EQ(launch(1, 1, 0, side), cudaSuccess);
    if (is_destroyed) {
      EXPECT_EQ(cudaStreamDestroy(side), cudaSuccess);
    }
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaErrorStreamCaptureUnjoined);
    EXPECT_EQ(graph_, nullptr);
    if (!is_destroyed) {
      EXPECT_EQ(launch(1, 1, 0, side), cudaSuccess) << "the streams execute again";
    }
  }
  EXPECT_EQ(fake().launches.size(), 1u);
}

TEST_F(Graph, SynchronousCallsInvalidateACapture) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamIsCapturing(stream_, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  EXPECT_EQ(launch(1, 1, 0, stream_), cudaErrorStreamCaptureInvalidated);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaErrorStreamCaptureInvalidated);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("cudaStreamSynchronize"), std::string::npos) << said;
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
}

TEST_F(Graph, MallocRequiresRelaxedCaptureMode) {
  void* pointer = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaSuccess);
  EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graph, TheDefaultStreamCannotBeCaptured) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(cudaStreamPerThread, &graph_), cudaSuccess);
}

TEST_F(Graph, RefusesLegacyStreamWorkDuringCapture) {
  cudaStream_t blocking = make_stream();
  EXPECT_EQ(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(cudaStreamEndCapture(blocking, &graph_), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch(1, 1), cudaSuccess) << "stream_ is non-blocking";
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph_), cudaSuccess);
}

TEST_F(Graph, NodesRunAfterTheirDependencies) {
  EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  cudaGraphNode_t last = nullptr, first = nullptr, bystander = nullptr;
  cudaKernelNodeParams p = kernel_params(2);
  EXPECT_EQ(cudaGraphAddKernelNode(&last, graph_, nullptr, 0, &p), cudaSuccess);
  p.gridDim = dim3(1);
  EXPECT_EQ(cudaGraphAddKernelNode(&first, graph_, nullptr, 0, &p), cudaSuccess);
  EXPECT_EQ(cudaGraphAddEmptyNode(&bystander, graph_, &first, 1), cudaSuccess);
#if CUDART_VERSION >= 13000
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &bystander, &last, nullptr, 1), cudaSuccess);
#else
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &bystander, &last, 1), cudaSuccess);
#endif
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  ASSERT_EQ(fake().launches.size(), 2u);
  EXPECT_EQ(fake().launches[0].grid.x, 1u);
  EXPECT_EQ(fake().launches[1].grid.x, 2u);
#if CUDART_VERSION >= 13000
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &last, &first, nullptr, 1), cudaSuccess);
#else
  EXPECT_EQ(cudaGraphAddDependencies(graph_, &last, &first, 1), cudaSuccess);
#endif
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaErrorInvalidValue) << "a cycle";
}

TEST_F(Graph, EveryKindOfNodeRuns) {
  int* d = device_array<int>(4);
  int back[4] = {};
  EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  cudaGraphNode_t set = nullptr, kernel = nullptr, copy = nullptr, host = nullptr, record = nullptr;
  cudaMemsetParams fill{};
  fill.dst = d;
  fill.value = 0x01020304;
  fill.elementSize = 4;
  fill.width = 4;
  fill.height = 1;
  EXPECT_EQ(cudaGraphAddMemsetNode(&set, graph_, nullptr, 0, &fill), cudaSuccess);
  cudaKernelNodeParams p = kernel_params(1);
  EXPECT_EQ(cudaGraphAddKernelNode(&kernel, graph_, &set, 1, &p), cudaSuccess);
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph_, &kernel, 1, back, d, 16, cudaMemcpyDeviceToHost),
            cudaSuccess);
  int calls = 0;
  const cudaHostNodeParams call{[](void* data) { ++*static_cast<int*>(data); }, &calls};
  EXPECT_EQ(cudaGraphAddHostNode(&host, graph_, &copy, 1, &call), cudaSuccess);
  cudaEvent_t event = make_event();
  EXPECT_EQ(cudaGraphAddEventRecordNode(&record, graph_, &host, 1, event), cudaSuccess);

  cudaGraph_t parent = nullptr;
  cudaGraphNode_t child = nullptr;
  EXPECT_EQ(cudaGraphCreate(&parent, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess) << "the node holds a copy";
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, parent, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(back[3], 0x01020304);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(fake().launches.size(), 1u);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, event, event), cudaSuccess) << "recorded";
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  EXPECT_EQ(cudaGraphNodeGetType(child, &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeGraph);
}

TEST_F(Graph, KernelParametersCanBeReadAndChanged) {
  EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  cudaGraphNode_t node = nullptr;
  cudaKernelNodeParams p = kernel_params(3);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &p), cudaSuccess);
  cudaKernelNodeParams shown{};
  EXPECT_EQ(cudaGraphKernelNodeGetParams(node, &shown), cudaSuccess);
  EXPECT_EQ(shown.func, &sample_stub_);
  EXPECT_EQ(shown.gridDim.x, 3u);
  EXPECT_EQ(*static_cast<double*>(shown.kernelParams[2]), 2.5);

  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaSuccess);
  p = kernel_params(9);
  EXPECT_EQ(cudaGraphExecKernelNodeSetParams(executable, node, &p), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(fake().launches.at(0).grid.x, 9u);
  EXPECT_EQ(cudaGraphKernelNodeGetParams(node, &shown), cudaSuccess);
  EXPECT_EQ(shown.gridDim.x, 3u) << "the graph itself is as it was";
}

TEST_F(Graph, UpdateRequiresTheSameTopology) {
  cudaGraphExec_t executable = captured([&] { EXPECT_EQ(launch(1, 1, 0, stream_), cudaSuccess); });
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch(5, 1, 0, stream_), cudaSuccess);
  cudaGraph_t same = nullptr, longer = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &same), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(launch(5, 1, 0, stream_), cudaSuccess);
  EXPECT_EQ(launch(6, 1, 0, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &longer), cudaSuccess);
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_EQ(cudaGraphExecUpdate(executable, longer, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGraphExecUpdate(executable, same, &info), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(fake().launches.at(0).grid.x, 5u);
}

TEST_F(Graph, GraphMemoryKeepsItsAddress) {
  void* pointer = nullptr;
  cudaGraphExec_t executable = captured([&] {
    EXPECT_EQ(cudaMallocAsync(&pointer, 256, stream_), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(pointer, 7, 256, stream_), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(pointer, stream_), cudaSuccess);
  });
  ASSERT_NE(pointer, nullptr);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  std::size_t before = 0, after = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(after - before, 256u) << "released with the last graph that refers to it";
}

TEST_F(Graph, UnfreedGraphMemoryPreventsTheNextLaunch) {
  void* pointer = nullptr;
  cudaGraphExec_t executable =
      captured([&] { EXPECT_EQ(cudaMallocAsync(&pointer, 256, stream_), cudaSuccess); });
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
}

TEST_F(Graph, FaultEndsTheLaunch) {
  cudaGraphExec_t executable = captured([&] {
    EXPECT_EQ(launch(1, 1, 0, stream_), cudaSuccess);
    EXPECT_EQ(launch(2, 1, 0, stream_), cudaSuccess);
  });
  fault(sim::Fault::illegal_address, "");
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorIllegalAddress);
}

#if CUDART_VERSION >= 12040  // the first version with conditional nodes
TEST_F(Graph, ConditionalNodesAreRefusedWithAnExplanation) {
  EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  cudaGraphConditionalHandle handle = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph_, 1, 0), cudaErrorNotSupported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("conditional graph nodes are not simulated"),
            std::string::npos);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
}
#endif

#if CUDART_VERSION >= 12080
TEST_F(Graph, KernelsOfUnloadedLibrariesAreRefused) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  ASSERT_EQ(cudaLibraryLoadData(&library, container().data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaSuccess);
  ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "sample"), cudaSuccess);
  cudaKernelNodeParams p = kernel_params(1);
  p.func = kernel;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t executable = nullptr;
  EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphAddKernelNode(&node, graph_, nullptr, 0, &p), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&executable, graph_, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(fake().launches.size(), 1u);
}
#endif

TEST_F(Graph, StaleHandlesAreRefused) {
  EXPECT_EQ(cudaGraphCreate(&graph_, 0), cudaSuccess);
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph_, nullptr, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaSuccess);
  cudaGraphNodeType type{};
  EXPECT_EQ(cudaGraphNodeGetType(node, &type), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph_), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace course::cudart
