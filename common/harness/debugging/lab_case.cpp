// SPDX-License-Identifier: MIT
#include "debugging/lab_case.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/cuda_check.hpp"
#include "base/rng.hpp"
#include "cudart/sim_control.h"
#include "lab/derived_cases.hpp"
#include "lab/differs.hpp"
#include "lab/problem.hpp"
#include "registry.hpp"
#include "runner/device_buffers.hpp"

namespace course::debug {
namespace {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(const Result<void>& done) {
  if (!done) throw Refused(done.error().text);
}

template <typename Function>
Function control(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// Memory on the device without guard bands, so that an access past its end is found.
lab::GuardedBuffer allocate(std::uint64_t n_bytes, std::uint32_t misalign) {
  auto buffer = lab::GuardedBuffer::allocate(n_bytes, 0, misalign);
  if (!buffer) throw Refused(buffer.error().text);
  check(buffer->poison());
  // The poison does not count as a value: the checker is to find reads of it.
  static const auto forget = control<decltype(&simForgetWrites)>("simForgetWrites");
  if (forget != nullptr && n_bytes > 0) forget(buffer->data(), n_bytes);
  return std::move(*buffer);
}

const lab::Problem& problem_of(std::string_view name) {
  for (const lab::Problem* p : lab::all_problems())
    if (p->manifest().id == name) return *p;
  throw Refused(fmt::format("There is no lab \"{}\": \"./lab list\" shows them.", name));
}

struct Chosen {
  const lab::Problem& problem;
  const lab::Task& task;
  lab::Case example;
  std::optional<std::uint64_t> seed;
};

Chosen choose(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) throw Refused("usage: LAB TASK [--case NAME | --n ITEMS] [--seed NUMBER]");
  const lab::Problem& problem = problem_of(arguments[0]);
  const lab::Task* task = lab::find_task(problem.manifest(), arguments[1]);
  if (task == nullptr)
    throw Refused(
        fmt::format("{} has no task \"{}\": \"./lab list\" shows them.", arguments[0], arguments[1]));
  std::uint64_t n = 8;
  std::optional<lab::Case> named;
  std::optional<std::uint64_t> seed;
  for (std::size_t k = 2; k + 1 < arguments.size(); k += 2) {
    const std::string& value = arguments[k + 1];
    if (arguments[k] == "--n") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
      if (error != std::errc{} || end != value.data() + value.size() || n > (1 << 20))
        throw Refused(fmt::format("--n takes a number of items, 1048576 at most, not \"{}\".", value));
    } else if (arguments[k] == "--case") {
      named = lab::find_case(problem, *task, value);
      if (!named) throw Refused(fmt::format("{} has no case \"{}\".", arguments[1], value));
    } else if (arguments[k] == "--seed") {
      char* end = nullptr;
      seed = std::strtoull(value.c_str(), &end, 0);
      if (value.empty() || *end != '\0')
        throw Refused(fmt::format("--seed takes the number from a report, not \"{}\".", value));
    }
  }
  return {problem, *task, named ? *named : problem.example(*task, n), seed};
}

void name(const void* data, std::uint64_t n_bytes, std::size_t element, const std::string& name,
          bool is_input) {
  static const auto name_buffer = control<decltype(&simNameBuffer)>("simNameBuffer");
  if (name_buffer != nullptr && n_bytes > 0)
    name_buffer(data, n_bytes, element, name.c_str(), is_input ? 1 : 0);
}

// For the debugger's command "wrong": "right" or "wrong", then the output elements that are wrong, one in a
// line: about kMax of them.
void list_wrong_elements(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                         std::span<const lab::HostBuffer> inputs, std::span<const lab::HostBuffer> outputs,
                         std::span<const lab::DeviceBuffer> on_device,
                         const std::optional<lab::Mismatch>& mismatch) {
  const char* path = std::getenv("LAB_DEBUG_WRONG");
  if (path == nullptr) return;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), std::fclose);
  if (file == nullptr) return;
  fmt::print(file.get(), "{}\n", mismatch ? "wrong" : "right");
  if (!mismatch) return;
  std::vector<lab::HostBuffer> expected(outputs.begin(), outputs.end());
  problem.baseline(task, c, inputs, expected);
  constexpr std::size_t kMax = 256;
  std::size_t n = 0;
  const auto list = [&](std::size_t k, std::uint64_t i) {
    const auto& spec = outputs[k].spec;
    const std::size_t width = lab::bytes_of(spec.dtype);
    const auto text = [&](const lab::HostBuffer& buffer) {
      return problem.print(c, spec.dtype, buffer.bytes.data() + i * width);
    };
    const bool is_judged = mismatch->buffer == spec.name && mismatch->index == i;
    if (!is_judged && (n >= kMax || !lab::differs(text(expected[k]), text(outputs[k])))) return;
    fmt::print(file.get(), "{}[{}]\t{}\t{}\t{}\t{}\n", spec.name, i,
               reinterpret_cast<std::uintptr_t>(on_device[k].data) + i * width, width, text(expected[k]),
               text(outputs[k]));
    ++n;
  };
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (std::uint64_t i = 0; i < outputs[k].spec.count; ++i) list(k, i);
}

int run(const Chosen& chosen, lab::Status (*solve)(const lab::Request&)) {
  const auto& [problem, task, c, seed] = chosen;
  fmt::print("{} / {}: case {}\n", problem.manifest().id, task.id, c.name);
  std::fflush(stdout);
  const lab::Shape shape = problem.shape(task, c);
  std::vector<lab::HostBuffer> outputs = lab::buffers_of(shape.outputs);
  // Items and order as in lab::Session: without a seed those of "./lab trace".
  const std::uint64_t case_seed = seed_for(seed.value_or(1), c.name);
  const std::vector<lab::HostBuffer> inputs = lab::inputs_of(problem, task, c, case_seed);
  static const auto set_schedule = control<decltype(&simSetSchedule)>("simSetSchedule");
  if (seed && set_schedule != nullptr)
    set_schedule(seed_for(case_seed, "schedule") & ~(SIM_CALM_SCHEDULE | SIM_STARTS_IN_ORDER));

  std::vector<lab::GuardedBuffer> memory;
  std::vector<lab::DeviceBuffer> on_device;
  const auto place = [&](const lab::HostBuffer& buffer, bool is_input) {
    const std::uint32_t misalign = is_input                   ? misalign_of(c, buffer.spec, memory.size())
                                   : shape.misaligned_outputs ? misalign_of(c, buffer.spec, 0)
                                                              : 0;
    memory.push_back(allocate(buffer.bytes.size(), misalign));
    void* data = memory.back().data();
    if (is_input) check(memory.back().upload(buffer.bytes));
    name(data, buffer.bytes.size(), lab::bytes_of(buffer.spec.dtype), buffer.spec.name, is_input);
    on_device.push_back({data, buffer.spec.count, buffer.spec.dtype});
  };
  for (const auto& buffer : inputs) place(buffer, true);
  for (const auto& buffer : outputs) place(buffer, false);
  const lab::GuardedBuffer workspace = allocate(shape.workspace.n_bytes(), 0);
  for (const lab::Workspace::Array& array : shape.workspace.arrays()) {
    const std::size_t element = lab::bytes_of(array.dtype);
    name(static_cast<std::byte*>(workspace.data()) + array.first_byte,
         std::max<std::uint64_t>(array.count * element, 1), element, std::string(array.name), false);
  }
  static const auto confine = control<decltype(&simConfine)>("simConfine");
  if (confine != nullptr && shape.workspace.n_bytes() > 0) confine(workspace.data(), 1);

  cudaStream_t stream = nullptr;
  check(checked(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"));
  int multiprocessors = 1;
  check(checked(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
                "cudaDeviceGetAttribute"));
  check(checked(cudaDeviceSynchronize(), "cudaDeviceSynchronize"));
  lab::Request request = lab::request_of(problem, task, c);
  request.workspace_bytes = shape.workspace.n_bytes();
  request.inputs = std::span(on_device).first(inputs.size());
  request.outputs = std::span(on_device).subspan(inputs.size());
  request.d_workspace = workspace.data();
  request.stream = stream;
  request.multiprocessors = c.multiprocessors != 0 ? static_cast<int>(c.multiprocessors) : multiprocessors;
  const lab::Status status = solve(request);
  if (status == lab::Status::not_implemented)
    throw Refused("The task is not written yet: it returns not_implemented.");
  if (status == lab::Status::unsupported)
    throw Refused("The task returns Status::unsupported for this case.");
  check(checked(cudaDeviceSynchronize(), "the kernel"));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const lab::GuardedBuffer& from = memory[inputs.size() + k];
    check(from.download(from.whole_bytes() - from.data_bytes(), outputs[k].bytes));
  }
  const auto wrong = problem.check(task, c, inputs, outputs);
  list_wrong_elements(problem, task, c, inputs, outputs, request.outputs, wrong);
  if (wrong)
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
