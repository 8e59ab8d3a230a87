// SPDX-License-Identifier: MIT
// What a case's results are worth: the outputs, the untouched inputs, the guard bands, the simulator's
// findings. Everything here reads memory that a hostile runner may still be writing: each byte is read once,
// outputs are copied first.
#pragma once

#include <span>
#include <string>

#include "protocol/protocol.hpp"
#include "verifier/failure_message.hpp"
#include "verifier/session.hpp"
#include "verifier/sim_report.hpp"

namespace course::lab {

struct Judgement {
  Verdict verdict = Verdict::ok;
  Failure failure;  // filled unless ok
};

// Of a case whose runner said that every run finished.
Judgement judge_results(const Problem& problem, const Task& task, const Case& c,
                        const protocol::CaseRequest& request, std::span<const std::byte> shared,
                        std::span<const HostBuffer> inputs, std::span<const BufferSpec> outputs);

// Of a case that ended in a CUDA error; `text` is the runner's account of it.
Judgement judge_cuda_error(std::int32_t cuda_code, std::string text);

// Adds what the simulator saw: a fault (weight_of) is an error even beside a right answer, and it is the
// cause of a wrong one. A hint is at most the likely cause of a wrong answer for which there is no better
// one.
void add_findings(const SimReport& report, Judgement& judgement);

}  // namespace course::lab
