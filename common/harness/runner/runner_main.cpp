// SPDX-License-Identifier: MIT
// The fixed main program around one student's object (or a solution's). It executes requests from its channel
// and holds nothing of value: no seed, no expected value, no score, no clock that counts.
// On a GPU it has the device and serves the verifier's cases. On the simulator (`--called`) the device is
// another process, which calls this one: this process gets addresses and sizes, and its libcudart sends each
// launch as a message. Compiled once per lab with -DCOURSE_LAB=<lab>, the namespace of the `run` that it
// calls.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "cudart/sim_control.h"
#include "protocol/call.hpp"
#include "runner/crash.hpp"
#include "runner/run_case.hpp"
#ifdef COURSE_SEVERAL_DEVICES
#include <map>
#include <memory>
#include <vector>

#include "runner/ranks.hpp"
#endif

#ifndef COURSE_LAB
#error "compile with -DCOURSE_LAB=<lab>"
#endif

namespace course::COURSE_LAB {
lab::Status run(const lab::Request& request);
}

namespace course::lab {
namespace {

class Linked : public Submission {
 public:
  CallResult run(const Request& request) override {
    CallResult result;
    try {
      result.status = COURSE_LAB::run(request);
    } catch (const std::bad_alloc&) {  // any other exception ends the program and is reported as a crash
      result.end = CallResult::End::out_of_memory;
    }
    std::fflush(stdout);  // so that it counts as this case's output
    return result;
  }
};

#ifdef COURSE_SEVERAL_DEVICES
// On GPUs: adds the communicators, which it keeps for later calls.
class OnSeveralGpus : public Submission {
 public:
  CallResult run(const Request& request) override {
    std::unique_ptr<Kept>& kept = kept_[request.ranks.size()];
    if (!kept) kept = std::make_unique<Kept>(request.ranks);
    if (!kept->communicators.ready()) {
      CallResult result;
      result.end = CallResult::End::not_ready;
      result.why = kept->communicators.why();
      return result;
    }
    Request whole = request;
    for (std::size_t i = 0; i < kept->ranks.size(); ++i)
      kept->ranks[i].d_workspace = request.ranks[i].d_workspace;
    whole.ranks = kept->ranks;
    return linked_.run(whole);
  }

 private:
  struct Kept {
    explicit Kept(Slice<const Rank> given) : ranks(given.begin(), given.end()), communicators(ranks) {}
    std::vector<Rank> ranks;
    Ranks communicators;
  };
  Linked linked_;
  std::map<std::size_t, std::unique_ptr<Kept>> kept_;  // by the number of ranks
};
#endif

// Serves calls until the device's process closes the channel.
int serve_calls() {
  cudaStream_t stream = nullptr;
  // As on a GPU (run_case.cpp), work in the default stream is not ordered with this stream.
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
      !send_packet(kDeviceFd, PacketKind::ready))
    return 1;
  const auto unordered_work =
      reinterpret_cast<decltype(&simUnorderedWork)>(dlsym(RTLD_DEFAULT, "simUnorderedWork"));
  if (unordered_work == nullptr) return 1;
  note_crashes(kDeviceFd);
  Linked linked;
  for (;;) {
    const auto packet = receive_packet(kDeviceFd);
    if (!packet) return 1;
    if (!*packet) return 0;
    auto call = decode_call(**packet);
    if (!call) return 1;
    call->request.stream = stream;
    FinishedCall finished;
#ifdef COURSE_SEVERAL_DEVICES
    Ranks ranks(call->ranks);
    if (!ranks.ready()) return 1;
#endif
    const CallResult result = linked.run(call->request);
    finished.out_of_memory = result.end == CallResult::End::out_of_memory ? 1 : 0;
    finished.status = result.status;
    finished.cuda_code = static_cast<std::int32_t>(cudaGetLastError());
#ifdef COURSE_SEVERAL_DEVICES
    if (const cudaError_t code = ranks.wait(); finished.cuda_code == cudaSuccess)
      finished.cuda_code = static_cast<std::int32_t>(code);
#endif
    finished.unordered = unordered_work(stream) != 0 ? 1 : 0;
    if (!send_packet(kDeviceFd, PacketKind::finished, encode_finished(finished).body())) return 1;
  }
}

bool is_a_channel(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace
}  // namespace course::lab

int main(int argc, char** argv) {
  using namespace course::lab;
  // Each line at once, so that it comes before what a kernel prints later, and is there after a crash.
  static_cast<void>(std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ));
  if (!is_a_channel(protocol::kChannelFd)) {
    std::fputs(
        "This program runs a lab's kernels for the grader and is not meant to be run directly: try ./lab "
        "grade\n",
        stderr);
    return 2;
  }
  if (argc > 1 && std::strcmp(argv[1], kCalled) == 0) return serve_calls();
#ifdef COURSE_SEVERAL_DEVICES
  OnSeveralGpus submission;
#else
  Linked submission;
#endif
  return serve_cases(Device(std::nullopt, &kGoKernels), submission);
}
