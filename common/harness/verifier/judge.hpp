// SPDX-License-Identifier: MIT
// Judges the results of a case: outputs, unchanged inputs, guard bands and the simulator's findings. The
// functions read memory that a hostile runner may still be writing, so outputs are copied before they are
// checked.
#pragma once

#include <span>
#include <string>

#include "protocol/protocol.hpp"
#include "verifier/live_runner.hpp"
#include "verifier/outcome.hpp"
#include "verifier/sim_report.hpp"

namespace course::lab {

// For a runner that did not answer within `seconds` of processor time, or ended.
Judgement judge_silence(const LiveRunner::Waited& waited, double seconds);

// For a case whose runner reported that its run finished.
Judgement judge_results(const Problem& problem, const Task& task, const Case& c,
                        const protocol::CaseRequest& request, std::span<const std::byte> shared,
                        std::span<const HostBuffer> inputs, std::span<const BufferSpec> outputs);

// For a case that ended with a CUDA error; `text` is the runner's description.
Judgement judge_cuda_error(std::int32_t cuda_code, std::string text);

// Adds what the simulator's report says. A fault that a checker found (weight_of) makes the case wrong even
// if the answer is right, and is the cause of a wrong answer. A hint is only the likely cause of a wrong
// answer without a better one; but a lost update, which was seen, replaces what the output suggests.
// `must_launch`: the case is solved (has outputs), so a kernel or a memset must have run. `needs_report`: a
// right case without a readable report counts as wrong.
void judge_report(const SimReport& report, bool needs_report, bool must_launch, Judgement& judgement);

}  // namespace course::lab
