// SPDX-License-Identifier: MIT
// Checks of a program's host code, for SIM_CHECK=1 (mode bit kHostcheck): calls that fail, wrong frees,
// memory that is never freed, copies of uninitialised memory. Findings are added to the device's report.
#pragma once

#include "cudart/runtime/memory.hpp"
#include "cudart/runtime/runtime.hpp"
#include "cudart/runtime/status.hpp"

namespace course::cudart {

// Whether an error is only the answer to a question, such as "not ready", and no finding.
bool is_an_answer(cudaError_t code);

// Must be called after a call has failed. Results such as "not ready" or "not supported" are not findings,
// and a kernel's fault is not reported again.
void check_call(const char* call, const Status& status);

// Whether the device's mode includes these checks. Takes the context's lock.
bool checks_host(Context& context);

// Must be called before a copy, or other work that `what` names: checks that some of its source has been
// written.
void check_source(const CopyOp& copy, const std::string& what = "a copy");

// Must be called before the program ends or resets the device: reports what has not been freed.
void check_leaks(Context& context);

// At the end of the process: prints the findings of all devices and a summary line on stderr. Returns the
// number of errors.
std::size_t print_findings();

}  // namespace course::cudart
