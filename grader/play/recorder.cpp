// SPDX-License-Identifier: MIT
// Records what a lab's host code asks of the device, for every task, operator and length, without running a
// kernel: player.cpp replays it where no CUDA program can run. Part of a libcudart of its own, like the
// debugger's, so that any file of a lab can be recorded; record_main.cpp calls it.
// Invariant: no answer of this device depends on data, since no kernel runs. So what was recorded for one
// input holds for all.
#include <cuda_runtime_api.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/derived_cases.hpp"
#include "play/record.hpp"
#include "registry.hpp"
#include "sim/observation/attachment.hpp"

namespace course::grader::play {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxItems = 64;
constexpr std::uint64_t kMaxElements = 128;  // of an array that is looked at

class Recorder final : public sim::Attachment {
 public:
  struct Buffer {
    std::string key;
    std::uint64_t address, n_bytes;
  };

  void module_loaded(const sim::ModuleImage&, std::string_view ptx) override { ptx_ = ptx; }
  void kernel_decoded(const sim::Program&, const sim::ModuleImage&, sim::SlotNames) override {}
  sim::Observer& observer(const sim::Arena&, std::vector<sim::KernelChecker*>) override { std::abort(); }

  bool runs(const sim::LaunchRequest& launch, const sim::KernelFacts& facts) override {
    Json pointers = Json::array();
    std::vector<std::uint32_t> parameters((launch.parameters.size() + 3) / 4);
    std::memcpy(parameters.data(), launch.parameters.data(), launch.parameters.size());
    for (std::size_t k = 0; k + 2 <= parameters.size(); k += 2) {
      const std::uint64_t word = std::uint64_t{parameters[k + 1]} << 32 | parameters[k];
      if (word < kMinAddress) continue;
      const Json pointer = pointer_to(word);
      if (pointer.is_null()) continue;
      pointers.push_back({4 * k, pointer});
      parameters[k] = parameters[k + 1] = 0;
    }
    const auto dims = [](const sim::Dim3& d) { return Json{d.x, d.y, d.z}; };
    Json one{{"kernel", facts.name},
             {"grid", dims(launch.grid)},
             {"block", dims(launch.block)},
             {"parameters", parameters},
             {"pointers", std::move(pointers)}};
    if (launch.dynamic_shared != 0) one["shared"] = launch.dynamic_shared;
    if (launch.cooperative) one["cooperative"] = true;
    if (launch.cluster.count() > 1) complete_ = false;
    work_.push_back(std::move(one));
    return false;
  }
  void fills(std::uint64_t dst, std::uint32_t value, std::uint32_t width, std::uint64_t count) override {
    add_fill(dst, {{"value", value}, {"width", width}, {"count", count}});
  }
  void copies(std::uint64_t dst, std::span<const std::byte> bytes) override {
    std::vector<std::uint8_t> numbers(bytes.size());
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    add_fill(dst, {{"bytes", numbers}});
  }

  // Forgets what was recorded. These buffers are what host code may use.
  void begin(std::vector<Buffer> buffers) {
    buffers_ = std::move(buffers);
    work_ = Json::array();
    complete_ = true;
  }
  // null if it cannot be replayed: it used memory of its own or clusters, or launched and filled nothing.
  Json work() const { return complete_ && !work_.empty() ? work_ : Json(); }
  const std::string& ptx() const { return ptx_; }

 private:
  static constexpr std::uint64_t kMinAddress = std::uint64_t{1} << 32;

  // ["in0", 16], with the end of a buffer still belonging to it; null for what is no pointer to a buffer.
  Json pointer_to(std::uint64_t word) const {
    for (const Buffer& b : buffers_)
      if (word - b.address <= b.n_bytes) return {b.key, word - b.address};
    return {};
  }
  void add_fill(std::uint64_t dst, Json what) {
    what["to"] = pointer_to(dst);
    if (what["to"].is_null()) complete_ = false;
    work_.push_back(std::move(what));
  }

  std::vector<Buffer> buffers_;
  Json work_ = Json::array();
  bool complete_ = true;
  std::string ptx_;
};

// Device memory of one case.
class Memory {
 public:
  Memory(const lab::Shape& shape, std::vector<Recorder::Buffer>& buffers) {
    const auto make = [&](const std::string& key, std::uint64_t n_bytes) {
      void* place = nullptr;
      if (cudaMalloc(&place, std::max<std::uint64_t>(n_bytes, 1)) != cudaSuccess) std::abort();
      all_.push_back(place);
      buffers.push_back({key, reinterpret_cast<std::uint64_t>(place), n_bytes});
      return place;
    };
    for (std::size_t i = 0; i < shape.inputs.size(); ++i)
      inputs.push_back({make("in" + std::to_string(i), shape.inputs[i].n_bytes()), shape.inputs[i].count,
                        shape.inputs[i].dtype});
    for (std::size_t i = 0; i < shape.outputs.size(); ++i)
      outputs.push_back({make("out" + std::to_string(i), shape.outputs[i].n_bytes()), shape.outputs[i].count,
                         shape.outputs[i].dtype});
    workspace = make("workspace", shape.workspace.n_bytes());
  }
  ~Memory() {
    for (void* place : all_) static_cast<void>(cudaFree(place));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::vector<lab::DeviceBuffer> inputs, outputs;
  void* workspace = nullptr;

 private:
  std::vector<void*> all_;
};

class Records {
 public:
  Records(Recorder& recorder, Run* run) : recorder_(recorder), run_(run) {}

  // Of one copy: what each task asks for, by variant and length. A task whose host code crashes, for example
  // because it needs larger blocks, is left out.
  Json of(const lab::Problem& problem) {
    Json tasks = Json::object();
    for (const auto* list : {&problem.manifest().tasks, &problem.manifest().further_rungs})
      for (const lab::Task& task : *list) {
        const Json variants = in_a_process(problem, task);
        for (const auto& [variant, lengths] : variants.items())
          for (const Json& one : lengths)
            tasks[std::string(task.id)][variant].push_back({one[0], number_of(one[1])});
      }
    return tasks;
  }
  const Json& works() const { return works_; }
  Json ptx;

  // For each variant, the patterns of items that all tasks accept.
  static Json items(const lab::Problem& problem) {
    Json names = Json::object();
    for (int k = 0; k <= static_cast<int>(lab::Pattern::example); ++k) {
      const auto pattern = static_cast<lab::Pattern>(k);
      std::map<std::string, bool> can;
      for (const auto* list : {&problem.manifest().tasks, &problem.manifest().further_rungs})
        for (const lab::Task& task : *list)
          for (const lab::Case& like : lab::variants(problem, task)) {
            const bool one_can = problem.with_items(task, like, kMaxItems, pattern).has_value();
            const auto [known, fresh] = can.try_emplace(like.words.variant, one_can);
            if (!fresh) known->second = known->second && one_can;
          }
      for (const auto& [variant, all_can] : can)
        if (all_can) names[variant].push_back(lab::name_of(pattern));
    }
    return names;
  }

 private:
  Json of(const lab::Problem& problem, const lab::Task& task) {
    Json variants = Json::object();
    for (const lab::Case& like : lab::variants(problem, task))
      for (std::uint64_t n = 0; n <= kMaxItems; ++n) {
        const auto c = problem.with_items(task, like, n, lab::Pattern::random);
        if (!c || c->misalign != 0 || c->n != n || problem.refuses(task, *c) || is_large(problem, task, *c))
          continue;
        Json work = of(problem, task, *c);
        if (!work.is_null()) variants[like.words.variant].push_back({n, std::move(work)});
      }
    return variants;
  }
  static bool is_large(const lab::Problem& problem, const lab::Task& task, const lab::Case& c) {
    const std::vector<lab::BufferSpec> outputs = problem.shape(task, c).outputs;
    return std::ranges::any_of(outputs,
                               [](const lab::BufferSpec& spec) { return spec.count > kMaxElements; });
  }
  // The same in a process of its own; {} if that crashes.
  Json in_a_process(const lab::Problem& problem, const lab::Task& task) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) {
      FILE* out = fdopen(ends[1], "w");
      Json all{{"variants", of(problem, task)}};
      all["ptx"] = recorder_.ptx();  // loaded at the first launch
      std::fputs(all.dump().c_str(), out);
      std::fclose(out);
      std::_Exit(0);
    }
    close(ends[1]);
    std::string text;
    char piece[65536];
    for (ssize_t n = 0; (n = read(ends[0], piece, sizeof piece)) > 0;)
      text.append(piece, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return Json::object();
    Json all = Json::parse(text);
    if (all["ptx"] != "") ptx = std::move(all["ptx"]);
    return std::move(all["variants"]);
  }
  Json of(const lab::Problem& problem, const lab::Task& task, const lab::Case& c) {
    const lab::Shape shape = problem.shape(task, c);
    std::vector<Recorder::Buffer> buffers;
    const Memory memory(shape, buffers);
    lab::Request request = lab::request_of(problem, task, c);
    request.workspace_bytes = shape.workspace.n_bytes();
    request.inputs = memory.inputs;
    request.outputs = memory.outputs;
    request.d_workspace = memory.workspace;
    request.stream = stream_;
    request.multiprocessors = kMultiprocessors;
    static_cast<void>(cudaDeviceSynchronize());
    recorder_.begin(std::move(buffers));
    const lab::Status status = run_(request);
    static_cast<void>(cudaDeviceSynchronize());
    static_cast<void>(cudaGetLastError());
    return status == lab::Status::ok ? recorder_.work() : Json();
  }
  std::size_t number_of(const Json& work) {
    const auto [at, fresh] = numbers_.try_emplace(work.dump(), works_.size());
    if (fresh) works_.push_back(work);
    return at->second;
  }

  static constexpr int kMultiprocessors = 2;  // few enough that a grid of resident blocks can be looked at
  Recorder& recorder_;
  Run* run_;
  cudaStream_t stream_ = nullptr;
  Json works_ = Json::array();
  std::map<std::string, std::size_t> numbers_;
};

}  // namespace
}  // namespace course::grader::play

extern "C" __attribute__((visibility("default"))) void playRecord(const char* lab_id,
                                                                  course::grader::play::Run* run, int n_names,
                                                                  char** names) {
  using namespace course;                // NOLINT: only the exported face
  using namespace course::grader::play;  // NOLINT
  Recorder recorder;
  sim::attachment = &recorder;
  Records records(recorder, run);
  Json all{{"lab", lab_id}, {"copies", Json::object()}};
  for (const lab::Problem* problem : lab::all_problems()) {
    if (problem->manifest().id != lab_id) continue;
    all["items"] = Records::items(*problem);
    for (char* name : std::span(names, static_cast<std::size_t>(n_names))) {
      program_invocation_short_name = name;  // by which make_mutant.py's `run` chooses
      all["copies"][name] = records.of(*problem);
    }
  }
  all["works"] = records.works();
  all["ptx"] = records.ptx;
  std::puts(all.dump().c_str());
  std::fflush(stdout);
  std::_Exit(0);  // without the report at a program's end
}
