// SPDX-License-Identifier: MIT
// The checks of what a program's host code does, for SIM_CHECK=1 (mode bit kHostcheck): calls that fail, wrong frees, memory
// that is never freed, copies of memory that nobody has written. What they find goes into the device's report.
#pragma once

#include "cudart/runtime/memory.hpp"
#include "cudart/runtime/runtime.hpp"
#include "cudart/runtime/status.hpp"

namespace course::cudart {

// A call has failed. Answers that say "not yet" or "not here" are no findings, nor is a kernel's fault told once more.
void check_call(const char* call, const Status& status);

// Does the device's mode ask for these checks? Takes the lock.
bool checks_host(Context& context);

// A copy is about to read this.
void check_source(const CopyOp& copy);

// The program ends, or resets the device: what it has not freed by now it never will.
void check_leaks(Context& context);

// At the end of the process: the findings of all devices on stderr and one line that sums them up. Returns the number of errors.
std::size_t tell_findings();

}  // namespace course::cudart
