// SPDX-License-Identifier: MIT
// Times every rung of a lab, the library baselines, the CPU baselines and the memory's ceilings in one run.
// Writes JSON to a file or stdout, progress to stderr. It is one process without a verifier: for the
// project's own solutions and for students' experiments, never for points. On the simulator (its libcudart
// first on LD_LIBRARY_PATH) events give modelled time. There each rung runs once, and its instructions and
// bytes are counted as well.
//   bench_<lab> [--sizes 65536,1048576] [--runs 200] [--kinds] [--no-cpu] [--json FILE]
//               [--peers FILE]   (library baselines once more, compiled with another CCCL)
//               [--gpus 2]   (of a lab for several devices: compiled with -DCOURSE_SEVERAL_DEVICES)
// Method: inputs and outputs rotate through copies (copies_for), and other memory fills the cache before each
// run, so that they are never in it. Outputs are poisoned, and those of the last timed run are checked.
// stopwatch.hpp says what is timed.
// Compiled once per lab with -DCOURSE_LAB=<lab>.
// Reading order: main, measure_case, Sets; stopwatch.hpp.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "bench/bench_device.hpp"
#include "bench/ceilings.hpp"
#include "bench/peer.hpp"
#include "bench/stopwatch.hpp"
#include "lab/problem.hpp"
#include "lab/request.hpp"
#ifdef COURSE_SEVERAL_DEVICES
#include "bench/collectives.hpp"
#include "runner/ranks.hpp"
#endif

namespace course::COURSE_LAB {
lab::Status run(const lab::Request& request);
const lab::Problem& problem();
#ifdef COURSE_HAS_PEERS
lab::Peers peers();
#else
static lab::Peers peers() {
  return {};
}
#endif
}  // namespace course::COURSE_LAB

namespace course::lab {
namespace {

using Json = nlohmann::json;

struct Options {
  std::vector<std::uint64_t> sizes{1 << 20, 1 << 24, 1 << 28};
  unsigned runs = 200;  // at most, of each kind
  unsigned gpus = 1;
  std::string json, peers;
  bool no_cpu = false, kinds = false;
};

// How many copies of n_bytes are used in turn: more than 1 GiB together, but at most 256; and six where they
// fit into a third of the free memory, since the time of a large array depends on where it lies. On the
// simulator one.
std::size_t copies_for(const BenchDevice& device, std::uint64_t n_bytes) {
  constexpr std::uint64_t kRotation = std::uint64_t{1} << 30;
  if (device.simulated) return 1;
  n_bytes = std::max<std::uint64_t>(n_bytes, 1);
  std::size_t free_bytes = 0, all_bytes = 0;
  must(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  const std::uint64_t placements = std::clamp<std::uint64_t>(free_bytes / 3 / n_bytes, 2, 6);
  return std::clamp<std::uint64_t>(kRotation / n_bytes + 1, placements, 256);
}

// Copies of a case's buffers, used in turn.
class Sets {
 public:
  Sets(const BenchDevice& device, const Problem& problem, const Task& task, const Case& c)
      : device_(device), shape_(problem.shape(task, c)), ranks_(device.ranks) {
    for (Rank& rank : ranks_) {
      device.use(static_cast<std::size_t>(rank.device));
      workspaces_.emplace_back(shape_.workspace.n_bytes());
      rank.d_workspace = workspaces_.back().data();
    }
    host_inputs_ = inputs_of(problem, task, c, 1);
    std::uint64_t bytes = 0;
    for (const auto* specs : {&shape_.inputs, &shape_.outputs})
      for (const BufferSpec& spec : *specs) bytes += spec.n_bytes();
    const std::size_t n = copies_for(device, bytes);
    for (std::size_t k = 0; k < n; ++k) {
      Set set;
      for (const HostBuffer& input : host_inputs_) {
        device.use(set.inputs.size());
        set.memory.emplace_back(input.bytes.size());
        must(cudaMemcpy(set.memory.back().data(), input.bytes.data(), input.bytes.size(),
                        cudaMemcpyHostToDevice),
             "cudaMemcpy");
        set.inputs.push_back({set.memory.back().data(), input.spec.count, input.spec.dtype});
      }
      for (const BufferSpec& spec : shape_.outputs) {
        device.use(set.outputs.size());
        set.memory.emplace_back(spec.n_bytes());
        set.outputs.push_back({set.memory.back().data(), spec.count, spec.dtype});
      }
      sets_.push_back(std::move(set));
    }
    for (std::size_t k = 0; k < n; ++k) poison_outputs(k);
    device.use(0);
  }

  Request request(const Problem& problem, const Task& task, const Case& c, std::size_t turn) const {
    const Set& set = sets_[turn % sets_.size()];
    Request r = request_of(problem, task, c);
    r.workspace_bytes = shape_.workspace.n_bytes();
    r.inputs = set.inputs;
    r.outputs = set.outputs;
    r.d_workspace = ranks_.front().d_workspace;
    r.ranks = ranks_;
    r.stream = device_.stream;
    r.multiprocessors = device_.properties.multiProcessorCount;
    return r;
  }

  // Before the run `turn`. Poisoned outputs stay in the cache for a while, so it poisons those of a later
  // run.
  void poison(std::size_t turn) const {
    poison_outputs(turn + sets_.size() / 2);
    device_.on_each([&](const Rank& rank) {
      must(cudaMemset(ranks_[static_cast<std::size_t>(rank.device)].d_workspace, 0xA5,
                      shape_.workspace.n_bytes()),
           "cudaMemset");
    });
    device_.synchronise();
  }

  // Copies the outputs of a run to the host.
  std::vector<HostBuffer> outputs(std::size_t turn) const {
    std::vector<HostBuffer> outputs = buffers_of(shape_.outputs);
    const Set& set = sets_[turn % sets_.size()];
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      device_.use(k);
      must(cudaMemcpy(outputs[k].bytes.data(), set.outputs[k].data, outputs[k].bytes.size(),
                      cudaMemcpyDeviceToHost),
           "cudaMemcpy");
    }
    device_.use(0);
    return outputs;
  }

  std::span<const HostBuffer> host_inputs() const { return host_inputs_; }
  const Shape& shape() const { return shape_; }

 private:
  struct Set {
    std::vector<DeviceBytes> memory;
    std::vector<DeviceBuffer> inputs, outputs;
  };
  void poison_outputs(std::size_t turn) const {
    std::size_t k = 0;
    for (const DeviceBuffer& out : sets_[turn % sets_.size()].outputs) {
      device_.use(k++);
      must(cudaMemset(out.data, 0xA5, out.count * bytes_of(out.dtype)), "cudaMemset");
    }
    device_.use(0);
  }
  const BenchDevice& device_;
  Shape shape_;
  std::vector<DeviceBytes> workspaces_;  // one on each device
  std::vector<Rank> ranks_;
  std::vector<HostBuffer> host_inputs_;
  std::vector<Set> sets_;
};

// Whether rows are right: outputs are checked in other threads while the next rows are measured, because a
// large case's expected outputs take the CPU longer than its runs take the device.
class Checks {
 public:
  // Each check may need 50 bytes for an item: at 2^31 items, a second one at the same time would not fit
  // into 128 GiB.
  explicit Checks(std::uint64_t n_items) : at_once_(n_items < std::uint64_t{1} << 29 ? 3 : 1) {}
  // The outputs of row `row` of the table. Waits if the outputs of several rows are still being checked.
  void add(std::size_t row, std::function<bool()> check) {
    if (checks_.size() >= at_once_) checks_[checks_.size() - at_once_].second.wait();
    checks_.emplace_back(row, std::async(std::launch::async, std::move(check)));
  }
  // Writes "right" into the rows.
  void finish(nlohmann::json& rows) {
    for (auto& [row, check] : checks_) {
      const bool right = check.get();
      rows[row]["right"] = right;
      if (!right) fmt::print(stderr, "  WRONG: {}\n", rows[row]["name"].get<std::string>());
    }
    checks_.clear();
  }

 private:
  std::size_t at_once_;
  std::vector<std::pair<std::size_t, std::future<bool>>> checks_;
};

struct Call {
  std::function<bool(const Request&)> run;
  // Not timed, before and after `run`; may be empty.
  std::function<void(const Request&)> prepare = {}, finish = {};
};
// The times of a call; its last outputs are those of run last_turn. Null if `call` refuses the request.
Json measured(const BenchDevice& device, const Options& options, const Problem& problem, const Task& task,
              const Case& c, const Sets& sets, const Call& call, std::size_t& last_turn) {
  Stopwatch stopwatch(device, options.runs);
  const auto request = [&](std::size_t turn) { return sets.request(problem, task, c, turn); };
  Json j = stopwatch.measure(
      [&](std::size_t turn) {
        sets.poison(turn);
        if (call.prepare) call.prepare(request(turn));
        device.synchronise();
        device.start_counting();
      },
      [&](std::size_t turn) { return call.run(request(turn)); });
  if (j.is_null()) return j;
  if (device.simulated) j["counted"] = device.counted(c.n);
  if (call.finish) call.finish(request(stopwatch.last_turn()));
  last_turn = stopwatch.last_turn();
  return j;
}

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Json cpu_time(const Problem& problem, const Task& task, const Case& c, const Sets& sets) {
  std::vector<HostBuffer> outputs = buffers_of(sets.shape().outputs);
  Times times;
  for (int k = 0; k < 3; ++k)
    times.add(1e6 * seconds_of([&] { problem.baseline(task, c, sets.host_inputs(), outputs); }));
  Json row = json_of(times);
  row["name"] = "one CPU thread";
  row["kind"] = "cpu";
  return row;
}

Json ceilings(const BenchDevice& device, const Options& options, std::uint64_t n_bytes) {
  n_bytes = std::max<std::uint64_t>(n_bytes / 16 * 16, 16);
  std::vector<DeviceBytes> from, to;
  for (std::size_t k = copies_for(device, 2 * n_bytes); k > 0; --k) {
    from.emplace_back(n_bytes);
    to.emplace_back(n_bytes);
    must(cudaMemset(from.back().data(), static_cast<int>(k), n_bytes), "cudaMemset");
  }
  Json result = {{"bytes", n_bytes}};
  const auto add = [&](const char* name, decltype(&ceiling_copy) kernel, double bytes_moved) {
    Json j = Stopwatch(device, options.runs)
                 .measure([](std::size_t) {},
                          [&](std::size_t turn) {
                            const std::size_t at = turn % from.size();
                            kernel(from[at].data(), to[at].data(), n_bytes,
                                   device.properties.multiProcessorCount, device.stream);
                            return true;
                          });
    j["gb_per_s"] = 1e-3 * bytes_moved / j["median_us"].get<double>();
    result[name] = std::move(j);
  };
  add("copy", &ceiling_copy, 2 * static_cast<double>(n_bytes));
  add("read", &ceiling_read, static_cast<double>(n_bytes));
  return result;
}

// A hash of the inputs and expected outputs of a short case of the same kind. Tasks may need special inputs
// (sorted tiles) or produce less than other tasks with the same inputs (only sorted tiles).
std::uint64_t work_of(const Problem& problem, const Task& task, const Case& like) {
  constexpr std::uint64_t kShort = 16384;
  for (const Case& c : problem.bench_cases(task, kShort)) {
    if (c.op != like.op || c.dtype != like.dtype || c.pattern != like.pattern) continue;
    const std::vector<HostBuffer> inputs = inputs_of(problem, task, c, 1);
    std::vector<HostBuffer> outputs = buffers_of(problem.shape(task, c).outputs);
    problem.baseline(task, c, inputs, outputs);
    std::uint64_t hash = inputs.size();
    for (const std::span<const HostBuffer> buffers :
         {std::span(inputs), std::span<const HostBuffer>(outputs)})
      for (const HostBuffer& buffer : buffers)
        hash = mix(hash + hash_of({reinterpret_cast<const char*>(buffer.bytes.data()), buffer.bytes.size()}));
    return hash;
  }
  return 0;
}

// Rungs with the same work; they are the rows of one table.
struct Table {
  Case c;
  std::vector<const Task*> rungs;
};
// With --kinds: the top rung alone, with every kind of input (operator, type, pattern) that it is tested
// with.
constexpr std::string_view kTopRung = "state_of_the_art";
std::vector<Table> kinds_for(const Problem& problem, std::uint64_t n) {
  std::vector<Table> tables;
  const auto& rungs = problem.manifest().further_rungs;
  const auto top = std::ranges::find(rungs, kTopRung, &Task::id);
  if (top == rungs.end()) return tables;
  for (const Case& c : problem.cases(*top)) {
    if (c.misalign != 0 || c.pattern == Pattern::example || problem.refuses(*top, c)) continue;
    std::optional<Case> kind = problem.with_items(*top, c, n, c.pattern);
    if (!kind) continue;
    const auto same = [&](const Table& t) { return t.c.name == kind->name; };
    if (std::ranges::none_of(tables, same)) tables.push_back({std::move(*kind), {&*top}});
  }
  return tables;
}

std::vector<Table> tables_for(const Problem& problem, const Options& options, std::uint64_t n) {
  std::vector<Table> tables;
  const Manifest& manifest = problem.manifest();
  for (const auto* list : {&manifest.tasks, &manifest.further_rungs}) {
    for (const Task& task : *list) {
      for (Case& c : problem.bench_cases(task, n)) {
        c = problem.on_devices(task, c, options.gpus);
        const auto same = [&](const Table& t) {
          return t.c.op == c.op && t.c.dtype == c.dtype && t.c.n == c.n && t.c.params == c.params &&
                 t.c.pattern == c.pattern &&
                 problem.ideal(*t.rungs.front(), t.c).bytes == problem.ideal(task, c).bytes &&
                 work_of(problem, *t.rungs.front(), c) == work_of(problem, task, c);
        };
        const auto found = std::ranges::find_if(tables, same);
        if (found != tables.end())
          found->rungs.push_back(&task);
        else
          tables.push_back({std::move(c), {&task}});
      }
    }
  }
  return tables;
}

// The libraries of the toolkit, then those in the file that ./lab bench --cccl has compiled.
std::vector<Peers> libraries(const Options& options) {
  std::vector<Peers> all;
  if (const Peers own = COURSE_LAB::peers(); !own.list.empty()) all.push_back(own);
  if (options.peers.empty()) return all;
  void* file = dlopen(options.peers.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string_view id = COURSE_LAB::problem().manifest().id;
  const std::string name = fmt::format("_ZN6course{}{}5peersEv", id.size(), id);  // course::<lab>::peers()
  void* peers = file == nullptr ? nullptr : dlsym(file, name.c_str());
  if (peers == nullptr) stop(fmt::format("{}: {}", options.peers, dlerror()));
  all.push_back(reinterpret_cast<Peers (*)()>(peers)());
  return all;
}

// "CUB 3.5 DeviceScan" for "CUB DeviceScan" of version 300500.
std::string with_version(std::string_view name, int version) {
  const std::size_t space = std::min(name.find(' '), name.size());
  return fmt::format("{} {}.{}{}", name.substr(0, space), version / 100000, version / 100 % 1000,
                     name.substr(space));
}

// A library's call for requests like `asked`; it keeps the library's temporary storage.
Call call_of(const Peer& peer, const Request& asked) {
  std::size_t temp_bytes = 0;
  must(peer.run(asked, nullptr, temp_bytes), "a library's query");
  const auto temp = std::make_shared<DeviceBytes>(temp_bytes);
  Call call{[=, &peer](const Request& r) {
    std::size_t n_bytes = temp_bytes;
    must(peer.run(r, temp->data(), n_bytes), "a library's call");
    return true;
  }};
  if (peer.prepare != nullptr)
    call.prepare = [&peer](const Request& r) { must(peer.prepare(r), "a library's preparation"); };
  if (peer.finish != nullptr)
    call.finish = [=, &peer](const Request& r) { must(peer.finish(r, temp->data()), "a conversion"); };
  return call;
}

Json measure_case(const BenchDevice& device, const Options& options, const Problem& problem,
                  const Table& table, std::span<const Peers> libraries) {
  const Case& c = table.c;
  const Task& first = *table.rungs.front();
  const Sets sets(device, problem, first, c);
  const double ideal_bytes = problem.ideal(first, c).bytes;
  Json rows = Json::array();
  Checks checks(c.n);
  const auto add = [&](const Task& task, const Call& call, Json row, std::string_view name,
                       const char* kind) {
    std::size_t last_turn = 0;
    Json times = measured(device, options, problem, task, c, sets, call, last_turn);
    if (times.is_null()) return;
    row.update(times);
    row["name"] = name;
    row["kind"] = kind;
    row["gb_per_s"] = 1e-3 * ideal_bytes / row["median_us"].get<double>();
    fmt::print(stderr, "  {:<24} {:>12.1f} us {:>8.0f} GB/s\n", name, row["median_us"].get<double>(),
               row["gb_per_s"].get<double>());
    checks.add(rows.size(), [&, outputs = sets.outputs(last_turn)] {
      return !problem.check(task, c, sets.host_inputs(), outputs);
    });
    rows.push_back(std::move(row));
  };
  for (const Task* rung : table.rungs)
    add(*rung, {[](const Request& r) { return COURSE_LAB::run(r) == Status::ok; }}, Json::object(), rung->id,
        "rung");
  for (const Peers& library : libraries) {
    for (const Peer& peer : library.list) {
      const Request asked = sets.request(problem, first, c, 0);
      const auto rung =
          std::ranges::find_if(table.rungs, [&](const Task* t) { return peer.offers(asked, t->id); });
      if (rung == table.rungs.end()) continue;
      const bool is_first = &library == libraries.data();
      add(**rung, call_of(peer, asked), {{"call", peer.call}},
          is_first ? std::string(peer.name) : with_version(peer.name, library.version), "peer");
    }
  }
  checks.finish(rows);
  constexpr std::uint64_t kMaxForCpu = std::uint64_t{1} << 26;
  if (!options.no_cpu && c.n <= kMaxForCpu) rows.push_back(cpu_time(problem, first, c, sets));
  return {{"case", c.name}, {"n", c.n}, {"ideal_bytes", ideal_bytes}, {"rows", std::move(rows)}};
}

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Times every rung of a lab, libraries, the CPU and the memory");
  app.add_option("--sizes", options.sizes)->delimiter(',');
  app.add_option("--runs", options.runs)->check(CLI::Range(1u, 1000u));
#ifdef COURSE_SEVERAL_DEVICES
  app.add_option("--gpus", options.gpus)->check(CLI::Range(1u, static_cast<unsigned>(kMaxDevices)));
#endif
  app.add_option("--json", options.json);
  app.add_option("--peers", options.peers);
  app.add_flag("--kinds", options.kinds);
  app.add_flag("--no-cpu", options.no_cpu);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

}  // namespace
}  // namespace course::lab

int main(int argc, char** argv) {
  using namespace course::lab;
  const Options options = parse(argc, argv);
  BenchDevice device(options.gpus);
#ifdef COURSE_SEVERAL_DEVICES
  const Ranks communicators(device.ranks);
  if (!communicators.ready()) stop(communicators.why());
#endif
  const Problem& problem = course::COURSE_LAB::problem();
  const std::vector<Peers> peers = libraries(options);
  Json sizes = Json::array(), versions = Json::array();
  for (const Peers& p : peers)
    versions.push_back(fmt::format("{}.{}.{}", p.version / 100000, p.version / 100 % 1000, p.version % 100));
  double clock_mhz = 0;  // of the last row that took long enough
  for (const std::uint64_t n : options.sizes) {
    Json tables = Json::array();
    for (const Table& table : options.kinds ? kinds_for(problem, n) : tables_for(problem, options, n)) {
      fmt::print(stderr, "{} {}\n", problem.manifest().id, table.c.name);
      tables.push_back(measure_case(device, options, problem, table, peers));
      for (const Json& row : tables.back()["rows"]) clock_mhz = row.value("clock_mhz", clock_mhz);
    }
    sizes.push_back({{"n", n},
                     {"ceilings", ceilings(device, options, 4 * n / options.gpus)},
                     {"tables", std::move(tables)}});
#ifdef COURSE_SEVERAL_DEVICES
    sizes.back()["nccl"] = measure_collectives(device, options.runs, 4 * n / options.gpus);
#endif
  }
  Json result = {{"schema", 1},
                 {"lab", problem.manifest().id},
                 {"title", problem.manifest().title},
                 {"device", device.properties.name},
                 {"modelled", device.simulated},
                 {"driver", device.driver},
                 {"runtime", device.runtime},
                 {"cccl", std::move(versions)},
                 {"multiprocessors", device.properties.multiProcessorCount},
                 {"clocks",
                  {{"highest_mhz", device.clock_khz / 1000},
                   {"memory_mhz", device.memory_clock_khz / 1000},
                   {"while_measuring_mhz", device.simulated ? device.clock_khz / 1000 : clock_mhz}}},
                 {"sizes", std::move(sizes)}};
#ifdef COURSE_SEVERAL_DEVICES
  result["gpus"] = options.gpus;
#endif
  const std::string text = result.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::FILE* file = options.json.empty() ? stdout : std::fopen(options.json.c_str(), "w");
  if (file == nullptr || std::fputs(text.c_str(), file) < 0) stop("can't write " + options.json);
  return 0;
}
