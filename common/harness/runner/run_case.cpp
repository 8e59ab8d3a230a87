// SPDX-License-Identifier: MIT
// Reading order: serve_cases, Case::run.
#include "runner/run_case.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/cuda_check.hpp"
#include "protocol/shared_memory.hpp"
#include "runner/device_buffers.hpp"

namespace course::lab {
namespace {

using protocol::CaseEnd;
using protocol::CaseReply;
using protocol::CaseRequest;

// A case's memory on the device. It may be kept for the next case.
struct Memory {
  std::vector<GuardedBuffer> on_device;   // inputs, then outputs
  std::vector<DeviceBuffer> described;    // the same buffers, as the student's code gets them
  std::vector<GuardedBuffer> workspaces;  // one on each device
  std::vector<Rank> ranks;                // without streams and communicators
};

// One case: its buffers on the device, its runs, its reply.
class Case {
 public:
  // `memory` is of a case that had the same buffers, or empty: then the case allocates it.
  Case(const Device& device, Submission& submission, const CaseRequest& request, std::span<std::byte> shared,
       Memory& memory)
      : device_(device), submission_(submission), request_(request), shared_(shared), memory_(memory) {}

  // Performs the run that the request asks for. std::nullopt if the submission's process ended or broke the
  // protocol.
  std::optional<CaseReply> run() {
    CaseReply reply;
    empty_heap();
    if (auto r = allocate(); !r) return failed(CaseEnd::out_of_memory, r.error().text);
    if (is_keyed()) {
      // Everything is prepared again after the rehearsal, which must leave nothing usable.
      if (auto r = prepare(); !r) return failed(CaseEnd::harness_error, r.error().text);
      start_at_go(kRehearsal);
      stop_the_clock(kRehearsal);
    }
    if (auto r = prepare(); !r) return failed(CaseEnd::harness_error, r.error().text);
    if (is_keyed()) start_at_go(kRun);
    if (auto stop = call(reply)) return *stop;
    if (lost_ != 0) return std::nullopt;
    if (auto r = download(); !r) return failed(CaseEnd::harness_error, r.error().text);
    reply.end = CaseEnd::done;
    reply.report_bytes = fetch_report();
    return reply;
  }
  // The exit code of the device's process if the host process was lost, broke the protocol or ended before
  // the call; else 0.
  int lost() const { return lost_; }

 private:
  std::span<const protocol::Buffer> buffers() const {
    return std::span(request_.buffers).first(request_.n_inputs + request_.n_outputs);
  }
  bool is_input(std::size_t i) const { return i < request_.n_inputs; }
  // Makes the device of buffer i current.
  void use_device_of(std::size_t i) const {
    use_device((is_input(i) ? i : i - request_.n_inputs) % n_devices());
  }
  std::size_t n_devices() const { return request_.n_devices; }
  void use_device(std::size_t device) const {
    if (n_devices() > 1) static_cast<void>(cudaSetDevice(static_cast<int>(device)));
  }
  // Calls f() with each device as the current one, the first one last.
  template <typename F>
  void on_each_device(F f) const {
    for (std::size_t device = n_devices(); device-- > 0;) {
      use_device(device);
      f(device);
    }
  }
  Result<void> synchronise() const {
    Result<void> all;
    on_each_device([&](std::size_t) {
      if (auto r = checked(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); !r) all = r;
    });
    return all;
  }

  CaseReply failed(CaseEnd end, const std::string& text) const {
    CaseReply reply;
    reply.end = end;
    reply.text.set(text);
    return reply;
  }

  Result<void> allocate() {
    if (!memory_.on_device.empty()) return {};  // it has the memory of the case before
    for (const auto& buffer : buffers()) {
      use_device_of(memory_.on_device.size());
      auto allocated = GuardedBuffer::allocate(buffer.count * bytes_of(static_cast<DType>(buffer.dtype)),
                                               request_.guard_bytes, buffer.misalign);
      if (!allocated) return allocated.error();
      memory_.on_device.push_back(std::move(*allocated));
      memory_.described.push_back(
          {memory_.on_device.back().data(), buffer.count, static_cast<DType>(buffer.dtype)});
    }
    for (std::size_t device = 0; device < n_devices(); ++device) {
      use_device(device);
      auto workspace = GuardedBuffer::allocate(request_.workspace_bytes, request_.guard_bytes, 0);
      if (!workspace) return workspace.error();
      memory_.workspaces.push_back(std::move(*workspace));
      memory_.ranks.push_back(
          {static_cast<std::int32_t>(device), nullptr, nullptr, memory_.workspaces.back().data()});
    }
    use_device(0);
    // A buffer that is overwritten before a timed run, to evict the data of earlier ones from the cache.
    if (request_.is_timed != 0) {
      auto sweep = GuardedBuffer::allocate(2 * device_.l2_bytes, 0, 0);
      if (!sweep) return sweep.error();
      sweep_.emplace(std::move(*sweep));
    }
    return {};
  }

  // Frees memory that kernels of an earlier run left on the device's heap.
  void empty_heap() const {
    if (device_.simulator) on_each_device([&](std::size_t) { device_.simulator->empty_heap(); });
  }

  // Sets the contents before a run: outputs and workspace are poisoned, inputs are as the verifier sent them.
  Result<void> prepare() {
    for (std::size_t i = 0; i < memory_.on_device.size(); ++i) {
      GuardedBuffer& buffer = memory_.on_device[i];
      use_device_of(i);
      if (is_input(i)) {
        if (auto r = buffer.poison_bands(); !r) return r;
        if (auto r = buffer.upload(shared_.subspan(buffers()[i].data_offset, buffer.data_bytes())); !r)
          return r;
      } else if (auto r = buffer.poison(); !r) {
        return r;
      }
    }
    for (std::size_t device = 0; device < n_devices(); ++device) {
      use_device(device);
      if (memory_.workspaces[device].whole_bytes() == 0) continue;
      if (device_.simulator) device_.simulator->confine(memory_.workspaces[device].data(), 0);
      if (auto r = memory_.workspaces[device].poison(); !r) return r;
      if (device_.simulator) continue;
      if (auto r = vary(memory_.workspaces[device]); !r) return r;
    }
    use_device(0);
    if (sweep_ && !is_keyed())
      if (auto r = sweep_->poison(); !r) return r;
    if (const auto& sim = device_.simulator) {
      for (std::size_t i = 0; i < memory_.on_device.size(); ++i) {
        const auto& buffer = buffers()[i];
        // An empty buffer also has one byte, which gets the name.
        sim->name_buffer(
            memory_.on_device[i].data(), std::max<std::uint64_t>(memory_.on_device[i].data_bytes(), 1),
            bytes_of(static_cast<DType>(buffer.dtype)), buffer.name.str().c_str(), is_input(i) ? 1 : 0);
      }
      for (const GuardedBuffer& workspace : memory_.workspaces) name_workspace(*sim, workspace);
      // Then all devices begin at the same modelled time.
      for (int round = 0; n_devices() > 1 && round < 2; ++round)
        if (auto r = synchronise(); !r) return r;
      on_each_device([&](std::size_t) {
        sim->reset_report();
        sim->set_mode(request_.sim_mode);
        sim->set_schedule(request_.schedule_seed);
      });
      if (request_.forget_poison != 0) {
        for (std::size_t i = request_.n_inputs; i < memory_.on_device.size(); ++i)
          sim->forget_writes(memory_.on_device[i].data(), memory_.on_device[i].data_bytes());
        for (const GuardedBuffer& workspace : memory_.workspaces)
          sim->forget_writes(workspace.data(), workspace.data_bytes());
      }
      if (request_.n_parts > 0)
        for (const GuardedBuffer& workspace : memory_.workspaces) sim->confine(workspace.data(), 1);
    }
    // Copies and fills use the default stream, which is not ordered with the task's stream.
    return synchronise();
  }

  // On a GPU, no checker sees that a task reads what it has not written: there the arrays of the workspace
  // have other contents in each run.
  Result<void> vary(const GuardedBuffer& workspace) const {
    const auto value =
        static_cast<int>(std::chrono::steady_clock::now().time_since_epoch().count() >> 10 & 255);
    for (const auto& part : std::span(request_.parts).first(request_.n_parts)) {
      void* const start = static_cast<std::byte*>(workspace.data()) + part.first_byte;
      const std::size_t n_bytes = part.count * bytes_of(static_cast<DType>(part.dtype));
      if (auto r = checked(cudaMemset(start, value, n_bytes), "cudaMemset"); !r) return r;
    }
    return {};
  }

  // An empty array has one byte, as an empty buffer has.
  void name_workspace(const Simulator& sim, const GuardedBuffer& workspace) const {
    if (request_.n_parts == 0)
      sim.name_buffer(workspace.data(), std::max<std::uint64_t>(workspace.data_bytes(), 1), 1, "d_workspace",
                      0);
    for (const auto& part : std::span(request_.parts).first(request_.n_parts)) {
      const std::size_t element = bytes_of(static_cast<DType>(part.dtype));
      sim.name_buffer(static_cast<std::byte*>(workspace.data()) + part.first_byte,
                      std::max<std::uint64_t>(part.count * element, 1), element, part.name.str().c_str(), 0);
    }
  }

  // --- Keyed runs, see go.hpp.
  bool is_keyed() const { return request_.is_keyed != 0 && device_.go != nullptr; }
  GoBlock& block() const { return *GoBlock::at(shared_, request_.go_offset); }

  // Waits for the key. The verifier's clock starts when it sends the key.
  void start_at_go(std::uint32_t round) {
    static_cast<void>(cudaMemset(device_.digest, 0, sizeof(Digest)));
    static_cast<void>(cudaDeviceSynchronize());
    block().set(round, GoStage::ready);
    while (!block().is(round, GoStage::go)) {
    }
    key_ = block().key;
    for (std::size_t i = 0; i < request_.n_inputs; ++i)
      device_.go->unmask(memory_.on_device[i].data(), memory_.on_device[i].data_bytes(),
                         key_of_buffer(key_, i), device_.stream);
    // Unmasking brought the items into the cache; evict them.
    if (sweep_) static_cast<void>(cudaMemsetAsync(sweep_->data(), 0, sweep_->data_bytes(), device_.stream));
  }

  // Writes the digest of the outputs after all earlier work in the stream.
  void stop_the_clock(std::uint32_t round) {
    for (std::size_t i = request_.n_inputs; i < memory_.on_device.size(); ++i)
      device_.go->digest(memory_.on_device[i].data(), memory_.on_device[i].data_bytes(),
                         key_of_buffer(key_, i), device_.digest, device_.stream);
    static_cast<void>(cudaMemcpyAsync(device_.host_digest, device_.digest, sizeof(Digest),
                                      cudaMemcpyDeviceToHost, device_.stream));
    // the error is reported at the end of the run
    if (cudaStreamSynchronize(device_.stream) != cudaSuccess) return;
    block().digest = *device_.host_digest;
    block().set(round, GoStage::done);
  }

  // Calls the student's code. std::nullopt if it finished or its process is lost; else the final reply.
  std::optional<CaseReply> call(CaseReply& reply) {
    Request request;
    request.task = request_.task;
    request.op = request_.op;
    request.dtype = static_cast<DType>(request_.dtype);
    request.n = request_.n;
    request.params = request_.params;
    request.inputs = std::span(memory_.described).first(request_.n_inputs);
    request.outputs = std::span(memory_.described).subspan(request_.n_inputs);
    request.d_workspace = memory_.workspaces[0].data();
    request.ranks = memory_.ranks;
    request.workspace_bytes = request_.workspace_bytes;
    request.stream = device_.stream;
    request.multiprocessors = device_.multiprocessors;
    if (const auto most = static_cast<std::int32_t>(request_.multiprocessors); most > 0)
      request.multiprocessors = std::min(request.multiprocessors, most);

    // Without the gate of bench/stopwatch.hpp: while it is closed, a submission could work on the host or in
    // another stream, and no clock would count it.
    static_cast<void>(cudaEventRecord(device_.start, device_.stream));
    const CallResult result = submission_.run(request);
    lost_ = result.end == CallResult::End::lost                ? kExitHostLost
            : result.end == CallResult::End::protocol_error    ? kExitProtocolError
            : result.end == CallResult::End::ended_before_call ? kExitEndedBeforeCall
                                                               : 0;
    if (lost_ != 0) return std::nullopt;
    if (result.end == CallResult::End::crashed) return failed(CaseEnd::crashed, result.why);
    if (result.end == CallResult::End::not_ready) return failed(CaseEnd::harness_error, result.why);
    if (result.end == CallResult::End::refused) return failed(CaseEnd::refused, result.why);
    if (result.end == CallResult::End::out_of_memory) return failed(CaseEnd::host_memory, result.why);
    static_cast<void>(cudaEventRecord(device_.stop, device_.stream));
    if (is_keyed()) stop_the_clock(kRun);
    cudaError_t code = cudaGetLastError();
    if (code == cudaSuccess) code = static_cast<cudaError_t>(result.cuda_code);
    on_each_device([&](std::size_t) {
      if (const cudaError_t ended = cudaDeviceSynchronize(); code == cudaSuccess) code = ended;
    });
    if (code != cudaSuccess) {
      CaseReply stop =
          failed(CaseEnd::cuda_error, std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code));
      stop.cuda_code = static_cast<std::int32_t>(code);
      stop.report_bytes = fetch_report();
      return stop;
    }
    if (result.status != Status::ok || result.unordered) {
      const CaseEnd end =
          result.status == Status::not_implemented ? CaseEnd::not_implemented : CaseEnd::unsupported;
      CaseReply stop = failed(result.unordered ? CaseEnd::unordered_work : end, "");
      stop.report_bytes = fetch_report();
      return stop;
    }
    if (request_.is_timed != 0) {
      float milliseconds = 0;
      static_cast<void>(cudaEventElapsedTime(&milliseconds, device_.start, device_.stop));
      reply.time_us = static_cast<double>(milliseconds) * 1e3;
    }
    return std::nullopt;
  }

  Result<void> download() {
    for (std::size_t i = 0; i < memory_.on_device.size(); ++i) {
      const auto to = shared_.subspan(buffers()[i].back_offset, memory_.on_device[i].whole_bytes());
      use_device_of(i);
      if (auto r = memory_.on_device[i].download(0, to); !r) return r;
    }
    use_device(0);
    std::uint64_t back = request_.workspace_back_offset;
    for (const protocol::Band& band : protocol::bands_of(request_)) {
      if (auto r = memory_.workspaces[0].download(band.first_byte, shared_.subspan(back, band.n_bytes)); !r)
        return r;
      back += band.n_bytes;
    }
    return {};
  }

  // Writes the simulator's report into the shared memory. Returns its length; 0 if there is none or it does
  // not fit.
  std::uint64_t fetch_report() const {
    if (!device_.simulator || request_.report_capacity == 0) return 0;
    const auto to = shared_.subspan(request_.report_offset, request_.report_capacity);
    const auto report_at = [&](std::size_t at) {
      return device_.simulator->report(reinterpret_cast<char*>(to.data()) + at, to.size() - at);
    };
    if (n_devices() == 1) {
      const std::size_t needed = report_at(0);
      return needed > 0 && needed <= to.size() ? needed - 1 : 0;
    }
    // An array of the devices' reports (verifier/sim_report.hpp).
    std::size_t n_bytes = 0;
    for (std::size_t device = 0; device < n_devices(); ++device) {
      use_device(device);
      const std::size_t needed = n_bytes + 1 < to.size() ? report_at(n_bytes + 1) : 0;
      if (needed == 0 || needed > to.size() - n_bytes - 1) return 0;
      to[n_bytes] = static_cast<std::byte>(device == 0 ? '[' : ',');
      n_bytes += needed;  // the NUL is overwritten
    }
    use_device(0);
    to[n_bytes] = std::byte{']'};
    return n_bytes + 1 < to.size() ? n_bytes + 1 : 0;
  }

  const Device& device_;
  Submission& submission_;
  const CaseRequest& request_;
  std::span<std::byte> shared_;
  Memory& memory_;
  std::optional<GuardedBuffer> sweep_;
  std::uint64_t key_ = 0;
  int lost_ = 0;
};

}  // namespace

Device::Device(std::optional<Simulator> controls, const GoKernels* kernels)
    : simulator(controls), go(kernels) {
  cudaDeviceProp properties{};
  Result<void> r = checked(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  // Not ordered with the default stream: work that a task puts there is not timed, and its end is not waited
  // for before the clock stops.
  if (r) r = checked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  if (r) r = checked(cudaEventCreate(&start), "cudaEventCreate");
  if (r) r = checked(cudaEventCreate(&stop), "cudaEventCreate");
  if (r && go != nullptr)
    r = checked(cudaMalloc(reinterpret_cast<void**>(&digest), sizeof(Digest)), "cudaMalloc");
  if (r && go != nullptr)
    r = checked(cudaMallocHost(reinterpret_cast<void**>(&host_digest), sizeof(Digest)), "cudaMallocHost");
  if (!r) {
    text = r.error().text;
    return;
  }
  multiprocessors = properties.multiProcessorCount;
  l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  text = properties.name;
}

protocol::Hello hello_of(const Device& device) {
  protocol::Hello hello;
  hello.simulated = device.simulator ? 1 : 0;
  hello.multiprocessors = static_cast<std::uint32_t>(device.multiprocessors);
  hello.device.set(device.text);
  return hello;
}

int serve_cases(const Device& device, Submission& submission) {
  if (!protocol::send_message(protocol::kChannelFd,
                              make_message(protocol::MessageKind::hello, 0, 0, hello_of(device))))
    return 1;
  Memory kept;
  for (;;) {
    auto received = protocol::receive_message(protocol::kChannelFd, true);
    if (!received) return 1;
    if (received->eof) return 0;
    auto memory = SharedMemory::open(received->fd);
    if (!memory) return 1;
    const auto& header = received->message.header;
    CaseReply reply;
    if (auto request = protocol::parse_request(received->message, memory->bytes().size())) {
      if (request->same_memory == 0) kept = {};
      Case one(device, submission, *request, memory->bytes(), kept);
      const auto answer = one.run();
      if (!answer) return one.lost();
      reply = *answer;
      // Others use a GPU, too, and cudaMalloc often returns the addresses that were freed last.
      if (!device.simulator || reply.end != CaseEnd::done) kept = {};
    } else {
      reply.text.set(request.error().text);
    }
    const auto answer = make_message(protocol::MessageKind::reply, header.sequence, header.nonce, reply);
    if (!protocol::send_message(protocol::kChannelFd, answer)) return 1;
    // After a CUDA error the context is unusable.
    if (reply.end == CaseEnd::cuda_error || reply.end == CaseEnd::harness_error ||
        reply.end == CaseEnd::host_memory)
      return 0;
  }
}

}  // namespace course::lab
