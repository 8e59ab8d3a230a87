// SPDX-License-Identifier: MIT
#include "debug/lab_case.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/cuda_check.hpp"
#include "cudart/sim_control.h"
#include "lab/poison.hpp"
#include "lab/problem.hpp"
#include "registry.hpp"

namespace course::debug {
namespace {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(cudaError_t code, const char* what) {
  if (const auto done = checked(code, what); !done) throw Refused(done.error().text);
}

template <typename Function>
Function control(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Memory on the device, exactly as long as asked for, so that an access past its end is found.
class Memory {
 public:
  Memory(std::uint64_t n_bytes, std::uint32_t misalign) : misalign_(misalign) {
    check(cudaMalloc(&start_, std::max<std::uint64_t>(n_bytes + misalign, 1)), "cudaMalloc");
    check(cudaMemset(start_, static_cast<int>(lab::kPoison), n_bytes + misalign), "cudaMemset");
    // The poison does not count as a value: the checker is to find reads of it.
    static const auto forget = control<decltype(&simForgetWrites)>("simForgetWrites");
    if (forget != nullptr && n_bytes + misalign > 0) forget(start_, n_bytes + misalign);
  }
  ~Memory() { static_cast<void>(cudaFree(start_)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return static_cast<std::byte*>(start_) + misalign_; }

 private:
  void* start_ = nullptr;
  std::uint32_t misalign_;
};

const lab::Problem& problem_of(std::string_view name) {
  for (const lab::Problem* p : lab::all_problems())
    if (p->manifest().id == name) return *p;
  throw Refused(fmt::format("There is no lab \"{}\": \"./lab list\" shows them.", name));
}

struct Chosen {
  const lab::Problem& problem;
  const lab::Task& task;
  lab::Case example;
};

Chosen choose(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) throw Refused("usage: LAB TASK [--case NAME | --n ITEMS]");
  const lab::Problem& problem = problem_of(arguments[0]);
  const lab::Task* task = lab::find_task(problem.manifest(), arguments[1]);
  if (task == nullptr)
    throw Refused(
        fmt::format("{} has no task \"{}\": \"./lab list\" shows them.", arguments[0], arguments[1]));
  std::uint64_t n = 8;
  std::optional<lab::Case> named;
  for (std::size_t k = 2; k + 1 < arguments.size(); k += 2) {
    const std::string& value = arguments[k + 1];
    if (arguments[k] == "--n") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
      if (error != std::errc{} || end != value.data() + value.size() || n > (1 << 20))
        throw Refused(fmt::format("--n takes a number of items, 1048576 at most, not \"{}\".", value));
    } else if (arguments[k] == "--case") {
      for (lab::Case& c : problem.cases(*task))
        if (c.name == value) named = std::move(c);
      if (!named) throw Refused(fmt::format("{} has no case \"{}\".", arguments[1], value));
    }
  }
  return {problem, *task, named ? *named : problem.example(*task, n)};
}

void name(const void* data, std::uint64_t n_bytes, std::size_t element, const std::string& name,
          bool is_input) {
  static const auto name_buffer = control<decltype(&simNameBuffer)>("simNameBuffer");
  if (name_buffer != nullptr && n_bytes > 0)
    name_buffer(data, n_bytes, element, name.c_str(), is_input ? 1 : 0);
}

int run(const Chosen& chosen, lab::Status (*solve)(const lab::Request&)) {
  const auto& [problem, task, c] = chosen;
  fmt::print("{} / {}: case {}\n", problem.manifest().id, task.id, c.name);
  std::fflush(stdout);
  const lab::Shape shape = problem.shape(task, c);
  std::vector<lab::HostBuffer> inputs, outputs;
  for (const auto& spec : shape.inputs)
    inputs.push_back({spec, std::vector<std::byte>(spec.count * lab::bytes_of(spec.dtype))});
  for (const auto& spec : shape.outputs)
    outputs.push_back({spec, std::vector<std::byte>(spec.count * lab::bytes_of(spec.dtype))});
  constexpr std::uint64_t kSeed = 1;  // as in "./lab trace"
  problem.fill(task, c, kSeed, inputs);

  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<lab::DeviceBuffer> on_device;
  const auto place = [&](const lab::HostBuffer& buffer, bool is_input) {
    memory.push_back(std::make_unique<Memory>(buffer.bytes.size(), c.misalign));
    void* data = memory.back()->data();
    if (is_input && !buffer.bytes.empty())
      check(cudaMemcpy(data, buffer.bytes.data(), buffer.bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    name(data, buffer.bytes.size(), lab::bytes_of(buffer.spec.dtype), buffer.spec.name, is_input);
    on_device.push_back({data, buffer.spec.count, buffer.spec.dtype});
  };
  for (const auto& buffer : inputs) place(buffer, true);
  for (const auto& buffer : outputs) place(buffer, false);
  const Memory workspace(shape.workspace_bytes, 0);
  name(workspace.data(), shape.workspace_bytes, 1, "d_workspace", false);
  for (const auto& part : shape.workspace_parts) {
    const std::size_t element = lab::bytes_of(part.spec.dtype);
    name(static_cast<std::byte*>(workspace.data()) + part.first_byte, part.spec.count * element, element,
         part.spec.name, false);
  }

  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  int multiprocessors = 1;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
        "cudaDeviceGetAttribute");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  lab::Request request;
  request.task = lab::index_of(problem.manifest(), task);
  request.op = c.op;
  request.dtype = c.dtype;
  request.n = c.n;
  request.params = c.params;
  request.inputs = std::span(on_device).first(inputs.size());
  request.outputs = std::span(on_device).subspan(inputs.size());
  request.d_workspace = workspace.data();
  request.workspace_bytes = shape.workspace_bytes;
  request.stream = stream;
  request.multiprocessors = multiprocessors;
  const lab::Status status = solve(request);
  if (status == lab::Status::not_implemented)
    throw Refused("The task is not written yet: it returns not_implemented.");
  if (status == lab::Status::unsupported)
    throw Refused("The task returns Status::unsupported for this case.");
  check(cudaDeviceSynchronize(), "the kernel");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (!outputs[k].bytes.empty())
      check(cudaMemcpy(outputs[k].bytes.data(), request.outputs[k].data, outputs[k].bytes.size(),
                       cudaMemcpyDeviceToHost),
            "cudaMemcpy");
  if (const auto wrong = problem.check(task, c, inputs, outputs))
    fmt::print("wrong: {}[{}] is {}, expected {} ({} of {} are wrong)\n", wrong->buffer, wrong->index,
               wrong->got, wrong->expected, wrong->n_wrong, wrong->n_total);
  else
    fmt::print("right\n");
  return 0;
}

}  // namespace

int run_lab_case(int argc, char** argv, lab::Status (*solve)(const lab::Request&)) {
  try {
    return run(choose(std::vector<std::string>(argv + 1, argv + argc)), solve);
  } catch (const Refused& e) {
    fmt::print("{}\n", e.what());
    return 2;
  }
}

}  // namespace course::debug
