// SPDX-License-Identifier: MIT
// Reading order: Session::run at the end, Impl::attempt (one case, start to end), Impl::ensure_runner.
#include "verifier/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>
#include <future>

#include "base/clock.hpp"
#include "base/cuda_versions.hpp"
#include "base/rng.hpp"
#include "cudart/sim_control.h"
#include "lab/all_cores.hpp"
#include "lab/diagnosis.hpp"
#include "protocol/go.hpp"
#include "protocol/shared_memory.hpp"
#include "sim/checker.hpp"
#include "verifier/case_layout.hpp"
#include "verifier/judge.hpp"
#include "verifier/judge_times.hpp"
#include "verifier/live_runner.hpp"
#include "verifier/sim_report.hpp"

namespace course::lab {
namespace {

using protocol::CaseEnd;
using protocol::CaseReply;
using protocol::CaseRequest;
using Event = LiveRunner::Event;

std::uint64_t fresh_nonce() {
  std::uint64_t nonce = 0;
  while (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) {
  }
  return nonce;
}

// Whether the case has outputs. Without any, it is right to launch no kernel.
bool has_outputs(const Shape& shape) {
  return std::ranges::any_of(shape.outputs, [](const BufferSpec& spec) { return spec.count > 0; });
}

// Whether the first finding is an uninitialised read. An element can be left unwritten because a rank or a
// position was wrong before.
bool reads_unwritten(const Failure& failure) {
  return failure.proved && !failure.findings.empty() && failure.findings.front().checker == "initcheck";
}

// The judgement for a runner that ended, by the signal that ended it.
Judgement judge_end(const LiveRunner::Waited& waited) {
  switch (waited.signal) {
    case SIGKILL:  // not sent by us: the kernel kills processes that use too much memory
      return judged(Verdict::memory_limit, "was killed by the system, most likely for lack of memory");
    case SIGXFSZ: return judged(Verdict::output_limit, "wrote more to a file than it may");
    case SIGXCPU: return judged(Verdict::time_limit, "used more processor time than it may");
    case SIGSYS: {
      Judgement judgement =
          judged(Verdict::crash, fmt::format("ended the program before it answered ({})", waited.text));
      judgement.failure.explain(
          "the system call filter: a lab's code may start no other process or program, open no connection, "
          "and touch no other process",
          true);
      return judgement;
    }
    case SIGSEGV:
    case SIGBUS: {
      // A kernel's invalid access ends the launch, not the process, so this was host code.
      Judgement judgement =
          judged(Verdict::crash, fmt::format("ended the program before it answered ({})", waited.text));
      judgement.failure.explain(
          "host code read or wrote an invalid address: of the device's memory (only kernels can use a device "
          "pointer such as job.d_in), outside of an array, or beyond the end of the stack (a function that "
          "calls itself without end, or a large local array)",
          false);
      return judgement;
    }
    default: break;
  }
  return judged(Verdict::crash, fmt::format("ended the program before it answered ({})", waited.text));
}

// The judgement for a runner that did not answer.
Judgement judge_silence(const LiveRunner::Waited& waited, double seconds) {
  switch (waited.event) {
    case Event::deadline: {
      Judgement judgement =
          judged(Verdict::time_limit, fmt::format("took longer than {:g} s of processor time", seconds));
      judgement.failure.explain("a loop that does not end, or it is only slow", false);
      return judgement;
    }
    case Event::idle: {
      Judgement judgement = judged(
          Verdict::time_limit, fmt::format("took longer than {:g} s without using the processor", seconds));
      judgement.failure.explain("it sleeps, or waits for something that never comes", false);
      return judgement;
    }
    case Event::flooded: return judged(Verdict::output_limit, "printed too much");
    case Event::stale:
    case Event::ended: return judge_end(waited);
    case Event::garbage:
    case Event::message: break;
  }
  return judged(Verdict::wrong_answer, "broke the protocol between grader and runner", waited.text);
}

// Bytes of shared memory that cases take which are ready to be sent or judged, at most.
constexpr std::uint64_t kReadyBytes = std::uint64_t{2} << 30;

// A case as it is given to a runner.
struct Submitted {
  const Problem& problem;
  const Task& task;
  const Case& c;
  std::uint64_t seed;
  Measure measure;
  Shape shape = problem.shape(task, c);
  std::vector<HostBuffer> inputs = {};
  CaseRequest request = {};
  std::optional<Result<SharedMemory>> memory = {};
  std::span<std::byte> shared = {};  // of `memory`
  std::uint64_t key = fresh_nonce();
};

}  // namespace

struct Session::Impl {
  SessionOptions options;
  std::optional<LiveRunner> runner;

  struct Attempt {
    Judgement judgement;
    Outcome outcome;  // without verdict and failure, which come from the judgement
    bool reused_runner = false;
    bool ended_by_cuda_error = false;
    // Of a keyed run: the times of the rehearsal and of the run; 0 if the clock was not stopped.
    std::array<double, 2> clock_us{};
    Digest digest = {};  // of the outputs, from the runner, when the clock stopped
  };

  // The judgement when a process reports that the device does not work.
  Judgement device_at_fault(const std::string& text) const;
  // std::nullopt if a runner is running and has sent Hello; else why there is none.
  std::optional<Judgement> ensure_runner(const Manifest& manifest);
  // The case with its items in shared memory, ready to be sent. The arguments must outlive it.
  Submitted make_ready(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                       const Measure& measure) const;
  // Runs a case. Without a reply (the result), the attempt's judgement is final.
  std::optional<CaseReply> have_run(Submitted& given, Attempt& result);
  // Judges the reply to a case. Several may be judged at once, while no case runs.
  void judge(const Submitted& given, const CaseReply& reply, Attempt& result) const;
  // Runs a case and judges its reply.
  Attempt attempt(Submitted given) {
    Attempt result;
    if (const auto reply = have_run(given, result)) judge(given, *reply, result);
    return result;
  }
  Attempt attempt(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                  const Measure& measure) {
    return attempt(make_ready(problem, task, c, seed, measure));
  }
  // A second call of a case that was right, on other items. `fails_alone`: as a first call, too.
  Attempt call_again(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                     bool& fails_alone);
  // A case that was right, in the order of a counted run.
  Attempt run_calmly(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed);
  // Whether a case with the result `known`, of which no mistake explains what is wrong, is right in some
  // orders of blocks, warps and lanes, and wrong in others.
  bool comes_of_order(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                      const Attempt& known);
  void explain_by_old_value(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                            Attempt& failed);
  void look_for_cause(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                      const Measure& measure, Attempt& failed);
  // What the runner's reply says of the case; `ran`: its run, without a judgement.
  Judgement judge_reply(const Submitted& given, const CaseReply& reply, const Attempt& ran) const;
  // What the simulator's report adds: findings, a case without a kernel, the modelled time.
  void judge_by_report(const Submitted& given, CaseEnd end, bool timed, Attempt& result) const;
  // The time from GO to the digest in microseconds; 0 if something else happened first.
  double clocked(GoBlock& block, std::uint32_t round, std::uint64_t key, Digest& reported) const;
  Outcome timed(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                const Measure& measure);
  Outcome timed_on_gpu(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                       const Measure& once, std::size_t n_runs);
  Outcome conclude(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                   Attempt attempt) const;
};

Judgement Session::Impl::device_at_fault(const std::string& text) const {
  if (!options.device_trouble) return judged(Verdict::infra, "could not be run", text);
  if (const std::string trouble = options.device_trouble(); !trouble.empty())
    return judged(Verdict::infra, "could not be run", text + "; " + trouble);
  return judged(Verdict::crash, "says that the device does not work, and it does", text);
}

namespace {
// Whether the folder has the simulator's runtime, for any major version of the toolkit.
bool has_simulator(const std::filesystem::path& folder) {
  return std::ranges::any_of(kCudartSonames,
                             [&](const char* name) { return std::filesystem::exists(folder / name); });
}
}  // namespace

std::optional<Judgement> Session::Impl::ensure_runner(const Manifest& manifest) {
  if (runner && !runner->ready()) runner.reset();
  if (runner) return std::nullopt;
  if (options.device == DeviceKind::sim && !options.simulator_dir.empty() &&
      !has_simulator(options.simulator_dir)) {
    return judged(Verdict::infra, "could not be run",
                  fmt::format("there is no {} in {}: build the project first",
                              fmt::join(kCudartSonames, " or "), options.simulator_dir));
  }
  auto started = LiveRunner::start(options, manifest.most_devices);
  if (!started) return judged(Verdict::infra, "could not be run", started.error().text);
  runner.emplace(std::move(*started));

  const auto waited = runner->wait(options.seconds_to_start);
  if (waited.event != Event::message) {
    // Student code has not run yet, so this text is not from it.
    if (const auto failure = runner->launch_failure())
      return judged(Verdict::infra, "could not be sandboxed", *failure);
    Judgement judgement = judge_silence(waited, options.seconds_to_start);
    judgement.failure.notes.emplace_back("this happened before the program took the case");
    return judgement;
  }
  const auto hello = protocol::parse_hello(waited.message);
  if (!hello)
    return judged(Verdict::wrong_answer, "broke the protocol between grader and runner", hello.error().text);
  if (hello->multiprocessors == 0) return device_at_fault("no device: " + hello->device.str());
  if ((hello->simulated != 0) != (options.device == DeviceKind::sim)) {
    return device_at_fault(fmt::format("the runner found the {} where the {} was asked for",
                                       hello->simulated != 0 ? "simulator" : "toolkit's CUDA library",
                                       options.device == DeviceKind::sim ? "simulator" : "GPU"));
  }
  runner->hello = *hello;
  return std::nullopt;
}

namespace {

std::vector<HostBuffer> filled_inputs(const Submitted& given) {
  return inputs_of(given.problem, given.task, given.c, seed_for(given.seed, given.c.name));
}

void put_inputs(const Submitted& given) {
  for (std::size_t i = 0; i < given.inputs.size(); ++i) {
    const auto& bytes = given.inputs[i].bytes;
    const auto to = given.shared.subspan(given.request.buffers[i].data_offset, bytes.size());
    std::copy_n(bytes.data(), bytes.size(), to.data());
    if (given.request.is_keyed != 0) mask(to, key_of_buffer(given.key, i));
  }
}

// Whether the runner can take another case after this reply.
bool is_intact_after(CaseEnd end) {
  return end != CaseEnd::out_of_memory && end != CaseEnd::cuda_error && end != CaseEnd::harness_error &&
         end != CaseEnd::host_memory && end != CaseEnd::refused && end != CaseEnd::crashed;
}

}  // namespace

Judgement Session::Impl::judge_reply(const Submitted& given, const CaseReply& reply,
                                     const Attempt& ran) const {
  const bool must_refuse = given.problem.refuses(given.task, given.c);
  switch (reply.end) {
    case CaseEnd::done: {
      if (must_refuse)
        return judged(Verdict::wrong_answer,
                      "was answered, though the task can't do it right: it must be refused, with "
                      "Status::unsupported");
      Judgement judgement = judge_results(given.problem, given.task, given.c, given.request, given.shared,
                                          given.inputs, given.shape.outputs);
      if (given.request.is_keyed == 0 || judgement.verdict != Verdict::ok) return judgement;
      return judge_digest(given.request, given.shared, given.key, ran.digest, ran.clock_us[kRun] > 0);
    }
    case CaseEnd::not_implemented: return judged(Verdict::not_implemented, "is not implemented yet");
    case CaseEnd::unsupported:
      if (must_refuse) return {};
      return judged(Verdict::wrong_answer,
                    "was refused: the task answers \"unsupported\" to an operator, item type or length "
                    "that it must take");
    case CaseEnd::out_of_memory:
      return device_at_fault("the case does not fit its memory: " + reply.text.str());
    case CaseEnd::cuda_error: return judge_cuda_error(reply.cuda_code, reply.text.str());
    case CaseEnd::harness_error: return device_at_fault(reply.text.str());
    case CaseEnd::unordered_work: {
      const char* const stream = given.problem.manifest().most_devices > 1 ? "shard.stream" : "job.stream";
      Judgement judgement =
          judged(Verdict::wrong_answer, std::string("gives work to another stream than ") + stream);
      judgement.failure.explain(
          fmt::format("nothing orders the default stream with {0}, on which the harness waits: launch with "
                      "<<<grid, block, bytes, {0}>>>, and fill with cudaMemsetAsync(…, {0})",
                      stream),
          true);
      return judgement;
    }
    case CaseEnd::refused: {
      Judgement judgement =
          judged(Verdict::policy, "uses what the checkers do not follow, so it was stopped");
      judgement.failure.explain(reply.text.str(), true);
      judgement.failure.notes.emplace_back("read: handouts/rules.md#kernels");
      return judgement;
    }
    case CaseEnd::crashed: {
      Judgement judgement =
          judged(Verdict::crash, "ended the program before it answered (SIGSEGV, a segmentation fault)");
      judgement.failure.explain(reply.text.str(), false);
      return judgement;
    }
    case CaseEnd::host_memory:
      if (!reply.text.str().empty())
        return judged(Verdict::time_limit, "does not end: it launches one kernel after another",
                      reply.text.str());
      break;
  }
  return judged(Verdict::memory_limit, "asked the host for more memory than there is");
}

void Session::Impl::judge_by_report(const Submitted& given, CaseEnd end, bool timed, Attempt& result) const {
  Judgement& judgement = result.judgement;
  const SimReport report = read_sim_report(result.outcome.sim_report);
  judge_report(report, !given.problem.refuses(given.task, given.c),
               end == CaseEnd::done && has_outputs(given.shape), judgement);
  if (end == CaseEnd::unsupported && judgement.verdict == Verdict::ok && report.did_work())
    judgement = judged(Verdict::wrong_answer,
                       "was refused after a kernel had been launched or memory filled: the task must return "
                       "Status::unsupported before that");
  if (!timed) return;
  result.outcome.times_us.assign(1, report.modelled_us);
  if (judgement.verdict == Verdict::ok)
    judgement = judge_modelled_time(report.modelled_us, report.memory_gb_per_s,
                                    given.problem.ideal(given.task, given.c).bytes);
}

Submitted Session::Impl::make_ready(const Problem& problem, const Task& task, const Case& c,
                                    std::uint64_t seed, const Measure& measure) const {
  Submitted given{.problem = problem, .task = task, .c = c, .seed = seed, .measure = measure};
  given.inputs = filled_inputs(given);
  CaseRequest& request = given.request;
  request = lay_out(problem, task, c, given.shape, options.device, measure);
  // Secret like the seed, and reproduced by it. A trace uses ascending order.
  if (!measure.trace) {
    request.schedule_seed = (seed_for(seed_for(seed, c.name), "schedule") + measure.other_order) &
                            ~(SIM_CALM_SCHEDULE | SIM_STARTS_IN_ORDER);
    if (measure.calm) request.schedule_seed |= SIM_CALM_SCHEDULE;
    // The top rungs know that GPUs start blocks in order. A student's kernels must not rely on it.
    if (options.of_the_course) request.schedule_seed |= SIM_STARTS_IN_ORDER;
  }
  given.memory = SharedMemory::create(request.shared_bytes);
  if (*given.memory) {
    given.shared = (*given.memory)->bytes();
    put_inputs(given);
  }
  return given;
}

std::optional<CaseReply> Session::Impl::have_run(Submitted& given, Attempt& result) {
  Judgement& judgement = result.judgement;
  const auto again_in_a_fresh_process = [&] {
    runner.reset();
    result = {};
    // As before the first attempt, and with another key: the first process may know the old one.
    std::ranges::fill(given.shared, std::byte{});
    given.key = fresh_nonce();
    put_inputs(given);
    return have_run(given, result);
  };

  result.reused_runner = runner.has_value();
  if (auto no_runner = ensure_runner(given.problem.manifest())) {
    judgement = std::move(*no_runner);
    if (runner) result.outcome.printed = runner->printed();
    runner.reset();
    return std::nullopt;
  }
  result.outcome.device = runner->hello.device.str();
  if (!*given.memory) {
    judgement = judged(Verdict::infra, "could not be run", given.memory->error().text);
    return std::nullopt;
  }

  const CaseRequest& request = given.request;
  const std::uint64_t nonce = fresh_nonce();
  const std::uint64_t sequence = runner->begin_case();
  // If sending fails, the runner has ended, and wait() finds out how.
  static_cast<void>(runner->send(make_message(protocol::MessageKind::request, sequence, nonce, request),
                                 (*given.memory)->fd()));
  if (request.is_keyed != 0) {
    GoBlock& block = *GoBlock::at(given.shared, request.go_offset);
    // The rehearsal gets a wrong key, so that its unmasked data is useless.
    for (const std::uint32_t round : {kRehearsal, kRun}) {
      const std::uint64_t key = round == kRun ? given.key : fresh_nonce();
      result.clock_us[round] = clocked(block, round, key, result.digest);
    }
  }
  const auto waited =
      runner->wait(options.seconds_per_case, given.measure.checks ? sim::kSlowdownByCheckers : 1.0);
  result.outcome.printed = runner->printed();
  result.outcome.processor_seconds = waited.processor_seconds;
  // It ended after the previous case, so this case is not at fault.
  if (waited.event == Event::stale && result.reused_runner) return again_in_a_fresh_process();
  if (waited.event != Event::message) {
    judgement = judge_silence(waited, options.seconds_per_case);
    runner.reset();
    return std::nullopt;
  }
  auto reply = protocol::parse_reply(waited.message, sequence, nonce, request);
  if (!reply) {
    judgement =
        judged(Verdict::wrong_answer, "broke the protocol between grader and runner", reply.error().text);
    runner.reset();
    return std::nullopt;
  }

  // An earlier case may have damaged this process, so repeat the case in a fresh one.
  if (result.reused_runner && (reply->end == CaseEnd::out_of_memory || reply->end == CaseEnd::harness_error ||
                               reply->end == CaseEnd::crashed))
    return again_in_a_fresh_process();
  if (!is_intact_after(reply->end)) runner.reset();
  return *std::move(reply);
}

void Session::Impl::judge(const Submitted& given, const CaseReply& reply, Attempt& result) const {
  const CaseRequest& request = given.request;
  const auto report_bytes = given.shared.subspan(request.report_offset, reply.report_bytes);
  result.outcome.sim_report.assign(reinterpret_cast<const char*>(report_bytes.data()), report_bytes.size());
  if (given.shape.n_devices > 1) result.outcome.sim_report = merged_report(result.outcome.sim_report);
  result.judgement = judge_reply(given, reply, result);
  result.outcome.outputs = std::move(result.judgement.outputs);
  result.ended_by_cuda_error = reply.end == CaseEnd::cuda_error;
  result.outcome.times_us.assign(reply.times_us.begin(), reply.times_us.begin() + reply.n_times);
  if (request.is_keyed != 0) result.outcome.events_us = result.outcome.times_us;
  if (options.device == DeviceKind::sim && result.judgement.verdict != Verdict::not_implemented)
    judge_by_report(given, reply.end, given.measure.timed_runs > 0, result);
}

double Session::Impl::clocked(GoBlock& block, std::uint32_t round, std::uint64_t key,
                              Digest& reported) const {
  const Deadline deadline(options.seconds_per_case);
  const auto reached = [&](GoStage stage) {
    for (unsigned i = 1; !block.is(round, stage); ++i)
      if (i % 4096 == 0 && (deadline.passed() || runner->has_news())) return block.is(round, stage);
    return true;
  };
  if (!reached(GoStage::ready)) return 0;
  block.key = key;
  const Stopwatch watch;
  block.set(round, GoStage::go);
  if (!reached(GoStage::done)) return 0;
  const double microseconds = watch.microseconds();
  reported = block.digest;
  return microseconds;
}

Session::Impl::Attempt Session::Impl::call_again(const Problem& problem, const Task& task, const Case& c,
                                                 std::uint64_t seed, bool& fails_alone) {
  Submitted given = make_ready(problem, task, c, seed, {});
  given.request.same_memory = seed_for(seed, c.name) % 2;  // what is kept may be for these addresses
  Attempt again = attempt(std::move(given));
  if (again.judgement.verdict == Verdict::ok) return again;
  runner.reset();
  fails_alone = attempt(problem, task, c, seed, {}).judgement.verdict != Verdict::ok;
  if (!fails_alone)
    again.judgement.failure.notes.emplace_back(
        "this was the second call in one process; the first one, on other items of the same size, was right: "
        "is an answer kept in a variable, or is memory not set again that the first call has changed?");
  runner.reset();
  return again;
}

Session::Impl::Attempt Session::Impl::run_calmly(const Problem& problem, const Task& task, const Case& c,
                                                 std::uint64_t seed) {
  runner.reset();
  Measure measure;
  measure.checks = true;
  measure.calm = true;
  Attempt calm = attempt(problem, task, c, seed_for(seed, "calm"), measure);
  if (calm.judgement.verdict == Verdict::ok) return calm;
  calm.judgement.failure.notes.emplace_back(
      "it was right when its blocks were interleaved, but not when each block ran to its end before the next "
      "one started, in an order other than that of blockIdx");
  const SimReport report = read_sim_report(calm.outcome.sim_report);
  const auto old = std::ranges::find_if(report.findings, is_old_value);
  if (old != report.findings.end() && !calm.judgement.failure.has_cause())
    calm.judgement.failure.explain(*old, false);
  runner.reset();
  return calm;
}

bool Session::Impl::comes_of_order(const Problem& problem, const Task& task, const Case& c,
                                   std::uint64_t seed, const Attempt& known) {
  constexpr std::uint64_t kOrders = 3, kMaxItems = 1 << 16;
  const auto& mismatch = known.judgement.failure.mismatch;
  if (c.n > kMaxItems || (mismatch && is_explained(*mismatch))) return false;
  Measure measure;
  measure.checks = true;
  for (measure.other_order = 1; measure.other_order <= kOrders; ++measure.other_order) {
    measure.calm = measure.other_order == kOrders;  // the usual order of lanes
    const Attempt one = attempt(problem, task, c, seed, measure);
    runner.reset();
    if ((one.judgement.verdict == Verdict::ok) != (known.judgement.verdict == Verdict::ok)) return true;
  }
  return false;
}

namespace {
// Calls f(0) … f(n - 1), each in a thread of its own; rethrows what one throws, after all have ended.
template <typename F>
void for_each_at_once(std::size_t n, const F& f) {
  std::vector<std::future<void>> calls;
  for (std::size_t i = 0; i < n; ++i) calls.push_back(std::async(std::launch::async, f, i));
  for (std::future<void>& call : calls) call.get();
}
}  // namespace

// On the simulator only one run, because modelled time is always the same. Doubtful times on a GPU are taken
// again, on other items in a fresh process: the machine may have been busy. Work that hides from a clock each
// time is found again.
Outcome Session::Impl::timed(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                             const Measure& measure) {
  Measure once = measure;
  once.timed_runs = 1;
  if (options.device == DeviceKind::sim) {
    Attempt one = attempt(problem, task, c, seed, once);
    std::vector<double> modelled_us = one.outcome.times_us;
    Outcome outcome = conclude(problem, task, c, seed, std::move(one));
    if (outcome.verdict == Verdict::suspect) outcome.times_us = std::move(modelled_us);
    return outcome;
  }
  const auto n_runs = static_cast<std::size_t>(measure.timed_runs) + 1;
  Outcome outcome = timed_on_gpu(problem, task, c, seed, once, n_runs);
  if (outcome.verdict != Verdict::suspect) return outcome;
  runner.reset();
  return timed_on_gpu(problem, task, c, seed_for(seed, "again"), once, n_runs);
}

// One warm-up run, then the timed ones. Each run has its own input from its own seed, so that a cached answer
// is wrong.
Outcome Session::Impl::timed_on_gpu(const Problem& problem, const Task& task, const Case& c,
                                    std::uint64_t seed, const Measure& once, std::size_t n_runs) {
  std::vector<double> times_us, events_us;
  std::vector<std::array<double, 2>> clocks;
  // The items of several runs are made at the same time, while the runner starts, and their results are
  // judged at the same time. Nothing else runs while a run is timed.
  const std::uint64_t bytes =
      lay_out(problem, task, c, problem.shape(task, c), options.device, once).shared_bytes;
  const std::size_t at_once = std::clamp<std::size_t>(kReadyBytes / bytes, 1, n_cores());
  const auto own_seed = [&](std::size_t k) { return k == 0 ? seed : mix(seed + k); };
  for (std::size_t first = 0; first < n_runs; first += at_once) {
    const std::size_t n = std::min(at_once, n_runs - first);
    std::vector<std::optional<Submitted>> given(n);
    std::future<void> made = std::async(std::launch::async, [&] {
      for_each_at_once(n, [&](std::size_t i) {
        given[i].emplace(make_ready(problem, task, c, own_seed(first + i), once));
      });
    });
    // A runner that does not start is reported when it is needed.
    if (ensure_runner(problem.manifest())) runner.reset();
    made.get();
    if (once.before_timing) once.before_timing();
    std::vector<Attempt> attempts;
    std::vector<std::optional<CaseReply>> replies;
    for (bool done = true; done && attempts.size() < n;) {
      Attempt& one = attempts.emplace_back();
      replies.push_back(have_run(*given[attempts.size() - 1], one));
      done = replies.back() && replies.back()->end == CaseEnd::done;
    }
    for_each_at_once(attempts.size(), [&](std::size_t i) {
      if (replies[i]) judge(*given[i], *replies[i], attempts[i]);
      given[i].reset();
    });
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      const std::size_t k = first + i;
      Attempt& one = attempts[i];
      if (k > 0) {
        times_us.insert(times_us.end(), one.outcome.times_us.begin(), one.outcome.times_us.end());
        events_us.insert(events_us.end(), one.outcome.events_us.begin(), one.outcome.events_us.end());
        if (!one.outcome.events_us.empty()) clocks.push_back(one.clock_us);
      }
      if (one.judgement.verdict == Verdict::ok && k + 1 < n_runs) continue;
      if (one.judgement.verdict != Verdict::ok && k > 0)
        one.judgement.failure.notes.emplace_back(
            "runs before it, on other items, were right: was an answer kept from one of them?");
      std::vector<double> clock_us;
      if (one.judgement.verdict == Verdict::ok && !clocks.empty()) {
        clock_us = without_rehearsal(clocks);
        times_us = borne_out(clock_us, events_us);
        const double memory_gb_per_s = options.memory_gb_per_s * problem.shape(task, c).n_devices;
        one.judgement =
            judge_times(times_us, clock_us, events_us, problem.ideal(task, c).bytes, memory_gb_per_s);
      }
      Outcome outcome = conclude(problem, task, c, own_seed(k), std::move(one));
      if (outcome.verdict == Verdict::ok || outcome.verdict == Verdict::suspect) {
        outcome.times_us = std::move(times_us);
        outcome.clock_us = std::move(clock_us);
        outcome.events_us = std::move(events_us);
      }
      return outcome;
    }
  }
  return {};
}

// Does it fail because a load got an old value? Without the checkers none does.
void Session::Impl::explain_by_old_value(const Problem& problem, const Task& task, const Case& c,
                                         std::uint64_t seed, Attempt& failed) {
  const SimReport report = read_sim_report(failed.outcome.sim_report);
  const auto old = std::ranges::find_if(report.findings, is_old_value);
  if (old == report.findings.end()) return;
  runner.reset();
  if (attempt(problem, task, c, seed, {}).judgement.verdict == Verdict::ok)
    failed.judgement.failure.explain(*old, true);
  runner.reset();
}

// Runs the case again in a fresh process with all checkers on. (Invalid accesses are found without them, but
// not their reasons.) `measure`: how the case ran before.
void Session::Impl::look_for_cause(const Problem& problem, const Task& task, const Case& c,
                                   std::uint64_t seed, const Measure& measure, Attempt& failed) {
  const Verdict verdict = failed.judgement.verdict;
  Failure& failure = failed.judgement.failure;
  if (failure.proved && !reads_unwritten(failure) && (!failed.ended_by_cuda_error || measure.checks)) return;
  runner.reset();
  Measure checks;
  checks.checks = true;
  const Attempt again = attempt(problem, task, c, seed, checks);
  runner.reset();  // this case must not affect the next one
  const bool proved = again.judgement.failure.proved;
  // With the checkers it may end otherwise (after a crash, by its time limit): no cause of what happened.
  const bool alike = again.judgement.verdict == Verdict::ok || again.judgement.verdict == verdict;
  if (proved || (alike && !failure.has_cause())) {  // else a hint
    failure.findings = again.judgement.failure.findings;
    failure.diagnosis = again.judgement.failure.diagnosis;
    failure.proved = again.judgement.failure.proved;
  }
  if (proved && !reads_unwritten(failure)) return;
  if (verdict == Verdict::wrong_answer && comes_of_order(problem, task, c, seed, again)) {
    const std::vector<SimFinding> found = read_sim_report(again.outcome.sim_report).findings;
    const bool races =
        std::ranges::any_of(found, [](const SimFinding& one) { return one.checker == "racecheck"; });
    failure.notes.push_back(fmt::format(
        "with its blocks, warps and atomic operations in another order, the case is right: its "
        "result depends on that order.{}",
        races ? ""
              : " No race was found in this case: look for what uses the order in which threads reach an "
                "atomic operation (such as a rank from atomicAdd), or what a loop saw while it waited"));
  } else if (!proved && again.judgement.verdict == Verdict::ok && failed.reused_runner &&
             attempt(problem, task, c, seed, measure).judgement.verdict == Verdict::ok) {
    failure.notes.emplace_back(
        "alone in a fresh process the case is right: something stays behind from an earlier one");
  }
  runner.reset();
}

Outcome Session::Impl::conclude(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                                Attempt attempt) const {
  Outcome outcome = std::move(attempt.outcome);
  Failure& failure = attempt.judgement.failure;
  outcome.verdict = attempt.judgement.verdict;
  if (outcome.verdict == Verdict::ok) return outcome;
  outcome.times_us.clear();
  const Manifest& manifest = problem.manifest();
  failure.name_case(manifest, task, c, seed, options.rerun_flags);
  if (outcome.verdict == Verdict::not_implemented) {
    failure.case_name = failure.command = "";
    failure.notes = {fmt::format("write it in labs/{0}/{0}.cu", manifest.id)};
  }
  if (options.device == DeviceKind::gpu && !failure.proved && outcome.verdict != Verdict::infra &&
      outcome.verdict != Verdict::not_implemented) {
    failure.notes.emplace_back("the simulator may name the line: run it again with --device sim");
  }
  outcome.failure = std::move(failure);
  return outcome;
}

Session::Session(SessionOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Outcome Session::run(const Problem& problem, const Task& task, const Case& c, std::uint64_t seed,
                     const Measure& measure) {
  if (measure.fresh) impl_->runner.reset();
  if (measure.timed_runs > 0) return impl_->timed(problem, task, c, seed, measure);
  const bool simulated = impl_->options.device == DeviceKind::sim;
  Measure first = measure;
  if (simulated && (c.purpose & kChecks) != 0) first.checks = true;
  Impl::Attempt attempt = impl_->attempt(problem, task, c, seed, first);
  if (measure.twice && attempt.judgement.verdict == Verdict::ok && impl_->runner) {
    bool fails_alone = false;
    const std::uint64_t second = seed_for(seed, "second call");
    Impl::Attempt again = impl_->call_again(problem, task, c, second, fails_alone);
    if (again.judgement.verdict != Verdict::ok && !fails_alone)
      return impl_->conclude(problem, task, c, seed, std::move(again));
    if (fails_alone) {
      // Its items matter, or the order of its blocks, not that it was the second call.
      attempt = std::move(again);
      seed = second;
    }
  }
  if (measure.also_calm && simulated && attempt.judgement.verdict == Verdict::ok &&
      read_sim_report(attempt.outcome.sim_report).order_sensitive > 0) {
    Impl::Attempt calm = impl_->run_calmly(problem, task, c, seed);
    if (calm.judgement.verdict != Verdict::ok)
      return impl_->conclude(problem, task, c, seed, std::move(calm));
  }
  if (measure.only_verdict) return impl_->conclude(problem, task, c, seed, std::move(attempt));

  if (first.checks && attempt.judgement.verdict == Verdict::wrong_answer && !attempt.judgement.failure.proved)
    impl_->explain_by_old_value(problem, task, c, seed, attempt);
  const Verdict verdict = attempt.judgement.verdict;
  if (simulated && (verdict == Verdict::wrong_answer || verdict == Verdict::crash))
    impl_->look_for_cause(problem, task, c, seed, first, attempt);
  return impl_->conclude(problem, task, c, seed, std::move(attempt));
}

}  // namespace course::lab
