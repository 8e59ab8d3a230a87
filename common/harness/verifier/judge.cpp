// SPDX-License-Identifier: MIT
#include "verifier/judge.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <optional>

#include "lab/poison.hpp"

namespace course::lab {

using protocol::CaseRequest;

namespace {

// Values of cudaError_t that determine the kind of failure; they are the same since CUDA 10.1.
enum CudaCode : std::int32_t {
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kInvalidDeviceFunction = 98,
  kNoKernelImage = 209,
  kInvalidResourceHandle = 400,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kAssert = 710,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kNotPermitted = 800,
};

struct Ruling {
  Verdict verdict;
  const char* headline;
};
Ruling ruling_on(std::int32_t cuda_code) {
  switch (cuda_code) {
    case kMemoryAllocation: return {Verdict::memory_limit, "ran out of device memory"};
    case kInvalidValue:
    case kInvalidConfiguration:
    case kLaunchOutOfResources:
      return {Verdict::wrong_answer,
              "could not launch its kernel: look at the grid, the block and the shared memory"};
    // Reported by the process that runs student code; a null pointer in place of a kernel gives the same
    // error.
    case kInvalidDeviceFunction:
    case kNoKernelImage:
      return {Verdict::wrong_answer, "launches a function that is not a kernel of its file for this device"};
    case kIllegalAddress:
    case kInvalidAddressSpace: return {Verdict::wrong_answer, "reads or writes outside its buffers"};
    case kMisalignedAddress:
      return {Verdict::wrong_answer,
              "reads or writes at an address that is not a multiple of the access's size"};
    case kLaunchTimeout:
      return {Verdict::time_limit, "took longer than it may: its kernel does not end, or is only slow"};
    case kInvalidResourceHandle:
      return {Verdict::crash, "passes a stream or an event that is of another device, or no longer exists"};
    case kNotPermitted:
      return {Verdict::policy,
              "asks for a copy out of the device's memory; the items are there, and kernels are to make the "
              "answer"};
    case kAssert: return {Verdict::crash, "failed an assert in its kernel"};
    default: return {Verdict::crash, "was ended by an error in its kernel"};
  }
}

// The index of the first byte of `band` that is not poison, or the size of `band`.
std::size_t first_touched(std::span<const std::byte> band) {
  const auto touched = std::ranges::find_if(band, [](std::byte b) { return b != kPoison; });
  return static_cast<std::size_t>(touched - band.begin());
}

// A note that says where the student's code wrote outside the buffer, or std::nullopt. `whole` is the
// downloaded allocation.
std::optional<std::string> guard_violation(const protocol::Buffer& buffer, std::uint32_t guard_bytes,
                                           std::span<const std::byte> whole) {
  const std::size_t front = std::size_t{guard_bytes} + buffer.misalign;
  const auto before = whole.first(front);
  const auto after = whole.last(guard_bytes);
  if (const auto at = first_touched(before); at != front) {
    return fmt::format("something was written {} bytes before the start of {}", front - at,
                       buffer.name.str());
  }
  if (const auto at = first_touched(after); at != guard_bytes) {
    return fmt::format("something was written {} bytes past the end of {}", at, buffer.name.str());
  }
  return std::nullopt;
}

Judgement wrong(std::string headline, std::string note = "") {
  return judged(Verdict::wrong_answer, std::move(headline), std::move(note));
}
constexpr const char* kOutside = "writes outside its buffers";

// Each of these gives a judgement with the verdict OK if nothing is wrong.
Judgement judge_outputs(const Problem& problem, const Task& task, const Case& c, const CaseRequest& request,
                        std::span<const std::byte> shared, std::span<const HostBuffer> inputs,
                        std::span<const BufferSpec> outputs) {
  std::vector<HostBuffer> copies;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& buffer = request.buffers[request.n_inputs + i];
    const auto whole =
        shared.subspan(buffer.back_offset, protocol::allocation_bytes(buffer, request.guard_bytes));
    if (auto note = guard_violation(buffer, request.guard_bytes, whole)) return wrong(kOutside, *note);
    const auto data = whole.subspan(std::size_t{request.guard_bytes} + buffer.misalign,
                                    outputs[i].count * bytes_of(outputs[i].dtype));
    copies.push_back({outputs[i], {data.begin(), data.end()}});
  }
  auto mismatch = problem.check(task, c, inputs, copies);
  if (!mismatch) return {};
  Judgement judgement = wrong("is wrong");
  judgement.failure.diagnosis = {mismatch->causes};
  judgement.failure.mismatch = std::move(mismatch);
  std::size_t n_bytes = 0;
  for (const HostBuffer& copy : copies) n_bytes += copy.bytes.size();
  if (n_bytes <= kShownBytes) judgement.outputs = std::move(copies);
  return judgement;
}

Judgement judge_inputs(const CaseRequest& request, std::span<const std::byte> shared,
                       std::span<const HostBuffer> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& buffer = request.buffers[i];
    const auto whole =
        shared.subspan(buffer.back_offset, protocol::allocation_bytes(buffer, request.guard_bytes));
    if (auto note = guard_violation(buffer, request.guard_bytes, whole)) return wrong(kOutside, *note);
    const auto data =
        whole.subspan(std::size_t{request.guard_bytes} + buffer.misalign, inputs[i].bytes.size());
    const auto changed = std::mismatch(data.begin(), data.end(), inputs[i].bytes.begin()).first;
    if (changed != data.end()) {
      const auto element =
          static_cast<std::uint64_t>(changed - data.begin()) / bytes_of(inputs[i].spec.dtype);
      return wrong("gives the right answer, but changes its input",
                   fmt::format("{}[{}] is not what it was: an input must stay untouched", inputs[i].spec.name,
                               element));
    }
  }
  return {};
}

Judgement judge_workspace(const CaseRequest& request, std::span<const std::byte> shared) {
  std::uint64_t back = request.workspace_back_offset;
  const auto bands = protocol::bands_of(request);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const auto band = shared.subspan(back, bands[i].n_bytes);
    back += bands[i].n_bytes;
    const auto at = first_touched(band);
    if (at == band.size()) continue;
    // What lies behind an array belongs to it, the band in front to the first one.
    const bool in_front = i == 0;
    const std::size_t part = in_front ? 0 : i - 1;
    return wrong(kOutside,
                 fmt::format("something was written {} bytes {} of {}", in_front ? band.size() - at : at,
                             in_front ? "before the start" : "past the end",
                             request.n_parts > part ? request.parts[part].name.str() : "the workspace"));
  }
  return {};
}

}  // namespace

Judgement judged(Verdict verdict, std::string headline, std::string note) {
  Judgement judgement;
  judgement.verdict = verdict;
  judgement.failure.headline = std::move(headline);
  if (!note.empty()) judgement.failure.notes.push_back(std::move(note));
  return judgement;
}

Judgement judged_for(Verdict verdict, std::string headline, std::string cause, bool is_proved) {
  Judgement judgement = judged(verdict, std::move(headline));
  judgement.failure.explain(std::move(cause), is_proved);
  return judgement;
}

Judgement judge_results(const Problem& problem, const Task& task, const Case& c, const CaseRequest& request,
                        std::span<const std::byte> shared, std::span<const HostBuffer> inputs,
                        std::span<const BufferSpec> outputs) {
  Judgement judgement = judge_outputs(problem, task, c, request, shared, inputs, outputs);
  if (judgement.verdict == Verdict::ok) judgement = judge_inputs(request, shared, inputs);
  return judgement.verdict == Verdict::ok ? judge_workspace(request, shared) : judgement;
}

Judgement judge_cuda_error(std::int32_t cuda_code, std::string text) {
  const Ruling ruling = ruling_on(cuda_code);
  return judged(ruling.verdict, ruling.headline, std::move(text));
}

namespace {

// The judgement for a runner that ended, by the signal that ended it.
Judgement judge_end(const LiveRunner::Waited& waited) {
  const std::string ended = fmt::format("ended the program before it answered ({})", waited.text);
  switch (waited.signal) {
    case SIGKILL:  // not sent by us: the kernel kills processes that use too much memory
      return judged(Verdict::memory_limit, "was killed by the system, most likely for lack of memory");
    case SIGXFSZ: return judged(Verdict::output_limit, "wrote more to a file than it may");
    case SIGXCPU: return judged(Verdict::time_limit, "used more processor time than it may");
    case SIGSYS:
      return judged_for(Verdict::crash, ended,
                        "the system call filter: a lab's code may start no other process or program, open no "
                        "connection, and touch no other process",
                        true);
    case SIGSEGV:
    case SIGBUS:
      // A kernel's invalid access ends the launch, not the process, so this was host code.
      return judged_for(
          Verdict::crash, ended,
          "host code read or wrote an invalid address: of the device's memory (only kernels can use a device "
          "pointer such as job.d_in), outside of an array, or beyond the end of the stack (a function that "
          "calls itself without end, or a large local array)");
    default: break;
  }
  if (waited.text == "exit code 1")
    return judged_for(
        Verdict::crash, ended,
        "host code called exit(1), or a __device__ function: where nvcc lets such a call pass, as in a "
        "template, it is compiled to exit(1). Declare that function __host__ __device__");
  return judged(Verdict::crash, ended);
}

}  // namespace

Judgement judge_silence(const LiveRunner::Waited& waited, double seconds) {
  switch (waited.event) {
    case LiveRunner::Event::deadline:
      return judged_for(Verdict::time_limit,
                        fmt::format("took longer than {:g} s of processor time", seconds),
                        "a loop that does not end, or it is only slow");
    case LiveRunner::Event::idle:
      return judged_for(Verdict::time_limit,
                        fmt::format("took longer than {:g} s without using the processor", seconds),
                        "it sleeps, or waits for something that never comes");
    case LiveRunner::Event::flooded: return judged(Verdict::output_limit, "printed too much");
    case LiveRunner::Event::stale:
    case LiveRunner::Event::ended: return judge_end(waited);
    case LiveRunner::Event::garbage:
    case LiveRunner::Event::message: break;
  }
  return judged(Verdict::wrong_answer, "broke the protocol between grader and runner", waited.text);
}

namespace {

// The first error: a race or an uninitialised read before an invalid access, or before a kernel that does not
// end. One in the same kernel comes before those in others. What is stored past the end of an array is
// missing inside, so reading there is no error of its own.
const SimFinding* first_error_before(const SimFinding& fault, const SimReport& report) {
  if (fault.checker != "memcheck" && fault.checker != "execution") return nullptr;
  const SimFinding* first = nullptr;
  for (const SimFinding& other : report.findings) {
    if ((other.checker != "racecheck" && other.checker != "initcheck") || weight_of(other) != Weight::fault)
      continue;
    const auto array_of = [](const SimFinding& f) {
      return f.object.substr(0, f.object.find_first_of("[,"));
    };
    if (other.checker == "initcheck" && fault.message.find(" writes ") != std::string::npos &&
        array_of(other) == array_of(fault))
      continue;
    if (other.kernel == fault.kernel) return &other;
    if (first == nullptr) first = &other;
  }
  return first;
}

// What can be proved never to end is not merely slow. "": nothing is proved.
std::string_view hang_of(const SimFinding& finding) {
  if (finding.kind == "no-progress") return "does not end: its kernel can make no more progress";
  if (finding.kind == "nccl-deadlock" || finding.kind == "nccl-missing-rank")
    return "does not end: calls of NCCL wait for calls that nobody makes";
  if (finding.kind == "nccl-missing-group") return "may wait forever: calls of NCCL are not in one group";
  if (finding.kind == "nccl-mismatch") return "may wait forever: the ranks' calls of NCCL do not match";
  return "";
}

void name_proved_hang(const SimReport& report, Judgement& judgement) {
  if (judgement.verdict != Verdict::time_limit) return;
  for (const SimFinding& finding : report.findings)
    if (const std::string_view hang = hang_of(finding); !hang.empty()) judgement.failure.headline = hang;
}

void add_findings(const SimReport& report, Judgement& judgement) {
  name_proved_hang(report, judgement);
  // What follows a call that failed is its consequence.
  const auto failed = std::ranges::find_if(report.findings, is_failed_call);
  if (failed != report.findings.end() && judgement.verdict != Verdict::ok) {
    judgement.failure.explain(*failed, true);
    return;
  }
  const SimFinding* hint = nullptr;
  for (const auto& finding : report.findings) {
    const Weight weight = weight_of(finding);
    // Threads that write the same value to one word do not make it wrong.
    const bool is_harmless = finding.kind.ends_with("-same-value");
    // A lost update was seen, so it comes before what is guessed from the outputs.
    if (weight == Weight::hint && !is_harmless && (hint == nullptr || finding.kind == "lost-update"))
      hint = &finding;
    if (weight != Weight::fault) continue;
    if (judgement.verdict == Verdict::ok) {
      judgement.verdict = Verdict::wrong_answer;
      judgement.failure.headline = finding.kind == "written-input"
                                       ? "gives the right answer, but writes to its input"
                                       : "gives the right answer this time, but only by luck";
    }
    const SimFinding* first = first_error_before(finding, report);
    judgement.failure.explain(first != nullptr ? *first : finding, true);
    if (first != nullptr) judgement.failure.findings.push_back(finding);
    return;
  }
  if (hint != nullptr && judgement.verdict != Verdict::ok &&
      (!judgement.failure.has_cause() || hint->kind == "lost-update"))
    judgement.failure.explain(*hint, !hint->is_hint);
}

}  // namespace

void judge_report(const SimReport& report, bool needs_report, bool must_launch, Judgement& judgement) {
  add_findings(report, judgement);
  if (judgement.verdict == Verdict::ok && needs_report && !report.readable) {
    judgement.verdict = Verdict::wrong_answer;
    judgement.failure.headline = "left no report of the simulator that can be read";
  } else if (must_launch && !report.did_work()) {
    if (judgement.verdict == Verdict::ok)
      judgement.failure.headline = "gives the right answer without the GPU";
    judgement.verdict = Verdict::wrong_answer;
    judgement.failure.explain("no kernel was launched", true);
  }
}

}  // namespace course::lab
