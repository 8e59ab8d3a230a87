// SPDX-License-Identifier: MIT
#include "verifier/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.hpp"
#include "base/cuda_versions.hpp"
#include "base/rng.hpp"
#include "cudart/sim_control.h"
#include "sim/checker.hpp"
#include "verifier/judge.hpp"
#include "verifier/judge_times.hpp"
#include "verifier/sim_report.hpp"

namespace course::lab {

using protocol::CaseEnd;
using protocol::CaseReply;
using protocol::CaseRequest;

namespace {

std::uint64_t fresh_nonce() {
  std::uint64_t nonce = 0;
  while (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) {
  }
  return nonce;
}

// Whether the folder has the simulator's runtime, for any major version of the toolkit.
bool has_simulator(const std::filesystem::path& folder) {
  return std::ranges::any_of(kCudartSonames,
                             [&](const char* name) { return std::filesystem::exists(folder / name); });
}

// Whether the case has outputs. Without any, it is right to launch no kernel.
bool has_outputs(const Shape& shape) {
  return std::ranges::any_of(shape.outputs, [](const BufferSpec& spec) { return spec.count > 0; });
}

void put_inputs(const Prepared& prepared) {
  for (std::size_t i = 0; i < prepared.inputs.size(); ++i) {
    const auto& bytes = prepared.inputs[i].bytes;
    const auto to = prepared.shared.subspan(prepared.request.buffers[i].data_offset, bytes.size());
    std::copy_n(bytes.data(), bytes.size(), to.data());
    if (prepared.request.is_keyed != 0) mask(to, key_of_buffer(prepared.key, i));
  }
}

// Whether the runner can take another case after this reply.
bool is_intact_after(CaseEnd end) {
  return end != CaseEnd::out_of_memory && end != CaseEnd::cuda_error && end != CaseEnd::harness_error &&
         end != CaseEnd::host_memory && end != CaseEnd::refused && end != CaseEnd::crashed;
}

}  // namespace

Judgement Session::device_at_fault(const std::string& text) const {
  if (!options_.device_trouble) return judged(Verdict::infra, "could not be run", text);
  if (const std::string trouble = options_.device_trouble(); !trouble.empty())
    return judged(Verdict::infra, "could not be run", text + "; " + trouble);
  return judged(Verdict::crash, "says that the device does not work, and it does", text);
}

std::optional<Judgement> Session::ensure_runner(const Manifest& manifest) {
  if (runner_ && !runner_->ready()) runner_.reset();
  if (runner_) return std::nullopt;
  if (options_.device == DeviceKind::sim && !options_.simulator_dir.empty() &&
      !has_simulator(options_.simulator_dir)) {
    return judged(Verdict::infra, "could not be run",
                  fmt::format("there is no {} in {}: build the project first",
                              fmt::join(kCudartSonames, " or "), options_.simulator_dir));
  }
  auto started = LiveRunner::start(options_, manifest.most_devices);
  if (!started) return judged(Verdict::infra, "could not be run", started.error().text);
  runner_.emplace(std::move(*started));

  const auto waited = runner_->wait(options_.seconds_to_start);
  if (waited.event != LiveRunner::Event::message) {
    // Student code has not run yet, so this text is not from it.
    if (const auto failure = runner_->launch_failure())
      return judged(Verdict::infra, "could not be sandboxed", *failure);
    Judgement judgement = judge_silence(waited, options_.seconds_to_start);
    judgement.failure.notes.emplace_back("this happened before the program took the case");
    return judgement;
  }
  const auto hello = protocol::parse_hello(waited.message);
  if (!hello)
    return judged(Verdict::wrong_answer, "broke the protocol between grader and runner", hello.error().text);
  if (hello->multiprocessors == 0) return device_at_fault("no device: " + hello->device.str());
  if ((hello->simulated != 0) != (options_.device == DeviceKind::sim)) {
    return device_at_fault(fmt::format("the runner found the {} where the {} was asked for",
                                       hello->simulated != 0 ? "simulator" : "toolkit's CUDA library",
                                       options_.device == DeviceKind::sim ? "simulator" : "GPU"));
  }
  runner_->hello = *hello;
  return std::nullopt;
}

Prepared Session::prepare(const Subject& subject, const Measure& measure) const {
  const auto& [problem, task, c, seed] = subject;
  const std::uint64_t own_seed = seed_for(seed, c.name);
  Prepared prepared{.of = subject, .measure = measure};
  prepared.inputs = inputs_of(problem, task, c, own_seed);
  prepared.key = fresh_nonce();
  CaseRequest& request = prepared.request;
  request = lay_out(problem, task, c, prepared.shape, options_.device, measure);
  // Secret like the seed, and reproduced by it. A trace uses ascending order.
  if (!measure.trace) {
    request.schedule_seed =
        (seed_for(own_seed, "schedule") + measure.other_order) & ~(SIM_CALM_SCHEDULE | SIM_STARTS_IN_ORDER);
    if (measure.calm) request.schedule_seed |= SIM_CALM_SCHEDULE;
    // The top rungs know that GPUs start blocks in order. A student's kernels must not rely on it.
    if (options_.of_the_course) request.schedule_seed |= SIM_STARTS_IN_ORDER;
  }
  prepared.memory = SharedMemory::create(request.shared_bytes);
  if (*prepared.memory) {
    prepared.shared = (*prepared.memory)->bytes();
    put_inputs(prepared);
  }
  return prepared;
}

std::optional<CaseReply> Session::have_run(Prepared& prepared, Outcome& result) {
  const auto again_in_a_fresh_process = [&] {
    runner_.reset();
    result = {};
    // As before the first attempt, and with another key: the first process may know the old one.
    std::ranges::fill(prepared.shared, std::byte{});
    prepared.key = fresh_nonce();
    put_inputs(prepared);
    return have_run(prepared, result);
  };

  result.reused_runner = runner_.has_value();
  if (auto no_runner = ensure_runner(prepared.of.problem.manifest())) {
    result.take(std::move(*no_runner));
    if (runner_) result.printed = runner_->printed();
    runner_.reset();
    return std::nullopt;
  }
  result.device = runner_->hello.device.str();
  if (!*prepared.memory) {
    result.take(judged(Verdict::infra, "could not be run", prepared.memory->error().text));
    return std::nullopt;
  }

  const CaseRequest& request = prepared.request;
  const std::uint64_t nonce = fresh_nonce();
  const std::uint64_t sequence = runner_->begin_case();
  // If sending fails, the runner has ended, and wait() finds out how.
  static_cast<void>(runner_->send(make_message(protocol::MessageKind::request, sequence, nonce, request),
                                  (*prepared.memory)->fd()));
  if (request.is_keyed != 0) {
    GoBlock& block = *GoBlock::at(prepared.shared, request.go_offset);
    // The rehearsal gets a wrong key, so that its unmasked data is useless.
    for (const std::uint32_t round : {kRehearsal, kRun}) {
      const std::uint64_t key = round == kRun ? prepared.key : fresh_nonce();
      result.clocks_us[round] = clocked(block, round, key, result.digest);
    }
  }
  const auto waited =
      runner_->wait(options_.seconds_per_case, prepared.measure.checks ? sim::kSlowdownByCheckers : 1.0);
  result.printed = runner_->printed();
  result.processor_seconds = waited.processor_seconds;
  // It ended after the previous case, so this case is not at fault.
  if (waited.event == LiveRunner::Event::stale && result.reused_runner) return again_in_a_fresh_process();
  if (waited.event != LiveRunner::Event::message) {
    result.take(judge_silence(waited, options_.seconds_per_case));
    runner_.reset();
    return std::nullopt;
  }
  auto reply = protocol::parse_reply(waited.message, sequence, nonce, request);
  if (!reply) {
    result.take(
        judged(Verdict::wrong_answer, "broke the protocol between grader and runner", reply.error().text));
    runner_.reset();
    return std::nullopt;
  }

  // An earlier case may have damaged this process, so repeat the case in a fresh one.
  if (result.reused_runner && (reply->end == CaseEnd::out_of_memory || reply->end == CaseEnd::harness_error ||
                               reply->end == CaseEnd::crashed))
    return again_in_a_fresh_process();
  if (!is_intact_after(reply->end)) runner_.reset();
  return *std::move(reply);
}

Outcome Session::attempt(Prepared prepared) {
  Outcome result;
  if (const auto reply = have_run(prepared, result)) judge(prepared, *reply, result);
  return result;
}

Outcome Session::attempt_alone(const Subject& subject, const Measure& measure) {
  runner_.reset();
  Outcome result = attempt(subject, measure);
  runner_.reset();
  return result;
}

double Session::clocked(GoBlock& block, std::uint32_t round, std::uint64_t key, Digest& reported) const {
  const Deadline deadline(options_.seconds_per_case);
  const auto reached = [&](GoStage stage) {
    for (unsigned i = 1; !block.is(round, stage); ++i)
      if (i % 4096 == 0 && (deadline.passed() || runner_->has_news())) return block.is(round, stage);
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

Judgement Session::judge_reply(const Prepared& prepared, const CaseReply& reply, const Outcome& ran) const {
  const auto& [problem, task, c, seed] = prepared.of;
  const bool must_refuse = problem.refuses(task, c);
  switch (reply.end) {
    case CaseEnd::done: {
      if (must_refuse)
        return judged(Verdict::wrong_answer,
                      "was answered, though the task can't do it right: it must be refused, with "
                      "Status::unsupported");
      Judgement judgement = judge_results(problem, task, c, prepared.request, prepared.shared,
                                          prepared.inputs, prepared.shape.outputs);
      if (prepared.request.is_keyed == 0 || judgement.verdict != Verdict::ok) return judgement;
      return judge_digest(prepared.request, prepared.shared, prepared.key, ran.digest,
                          ran.clocks_us[kRun] > 0);
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
      const char* const stream = problem.manifest().most_devices > 1 ? "shard.stream" : "job.stream";
      return judged_for(
          Verdict::wrong_answer, std::string("gives work to another stream than ") + stream,
          fmt::format("nothing orders the default stream with {0}, on which the harness waits: launch with "
                      "<<<grid, block, bytes, {0}>>>, and fill with cudaMemsetAsync(…, {0})",
                      stream),
          true);
    }
    case CaseEnd::refused: {
      Judgement judgement = judged_for(
          Verdict::policy, "uses what the checkers do not follow, so it was stopped", reply.text.str(), true);
      judgement.failure.notes.emplace_back("read: handouts/rules.md#kernels");
      return judgement;
    }
    case CaseEnd::crashed:
      return judged_for(Verdict::crash,
                        "ended the program before it answered (SIGSEGV, a segmentation fault)",
                        reply.text.str());
    case CaseEnd::host_memory:
      if (!reply.text.str().empty())
        return judged(Verdict::time_limit, "does not end: it launches one kernel after another",
                      reply.text.str());
      break;
  }
  return judged(Verdict::memory_limit, "asked the host for more memory than there is");
}

void Session::judge_by_report(const Prepared& prepared, CaseEnd end, Outcome& result) const {
  const auto& [problem, task, c, seed] = prepared.of;
  const SimReport report = read_sim_report(result.sim_report);
  if (end == CaseEnd::not_implemented) {
    if (report.stored())
      result.take(
          judged(Verdict::wrong_answer,
                 "launched a kernel that stores results, but returned Status::not_implemented: return "
                 "Status::ok after the launches"));
    return;
  }
  judge_report(report, !problem.refuses(task, c), end == CaseEnd::done && has_outputs(prepared.shape),
               result);
  if (end == CaseEnd::unsupported && result.verdict == Verdict::ok && report.did_work())
    result.take(judged(Verdict::wrong_answer,
                       "was refused after a kernel had been launched or memory filled: the task must return "
                       "Status::unsupported before that"));
  if (prepared.measure.timed_runs == 0) return;
  result.times_us.assign(1, report.modelled_us);
  if (result.verdict == Verdict::ok)
    result.take(
        judge_modelled_time(report.modelled_us, report.memory_gb_per_s, problem.ideal(task, c).bytes));
}

void Session::judge(const Prepared& prepared, const CaseReply& reply, Outcome& result) const {
  const CaseRequest& request = prepared.request;
  const auto report_bytes = prepared.shared.subspan(request.report_offset, reply.report_bytes);
  result.sim_report.assign(reinterpret_cast<const char*>(report_bytes.data()), report_bytes.size());
  if (prepared.shape.n_devices > 1) result.sim_report = merged_report(result.sim_report);
  result.take(judge_reply(prepared, reply, result));
  result.ended_by_cuda_error = reply.end == CaseEnd::cuda_error;
  if (request.is_timed != 0) result.times_us = {reply.time_us};
  if (request.is_keyed != 0) result.events_us = result.times_us;
  if (options_.device == DeviceKind::sim) judge_by_report(prepared, reply.end, result);
}

}  // namespace course::lab
