// SPDX-License-Identifier: MIT
// Checks of a program's host code, for SIM_CHECK=1 (mode bit kHostcheck): calls that fail, wrong frees,
// memory that is never freed, kernels that the host does not wait for, __device__ functions on the host.
// Those in other files: host_access.hpp, never_written.hpp, work_order.hpp. Findings are added to the
// device's report.
#pragma once

#include "cudart/runtime/host/host_access.hpp"
#include "cudart/runtime/memory/memory.hpp"
#include "cudart/runtime/runtime.hpp"
#include "cudart/runtime/status.hpp"

namespace course::cudart {

// Whether an error is only the answer to a question, such as "not ready", and no finding.
bool is_an_answer(cudaError_t code);

// Must be called after a call has failed. Answers are not findings, and a kernel's fault is not reported
// again.
void check_call(const std::string& call, const Status& status);

// A program that has read an error and then goes on has handled it, if memory could not be allocated, or if a
// launch of the same kernel, cudaFuncSetAttribute or cudaDeviceSetLimit succeeds later. The finding is
// withdrawn. Must be called after the thread has read its last error, and after a call has succeeded
// (`kernel`: that it has launched).
void error_was_read(cudaError_t error);
void call_succeeded(const std::string& call, const std::string& kernel);

// Whether the device's mode includes these checks, and its memory is in this process; otherwise only failing
// calls are reported. Takes the context's lock.
bool checks_host(Context& context);

// Adds an error at the call of the runtime that is in progress, and returns it.
sim::Finding add_host_error(Context& context, std::string kind, std::string message, std::string kernel = "");

// "memory of the device (400 bytes from cudaMalloc at main.cu:7)", or its name. Must be called under the
// lock.
std::string name_of_memory(Context& context, const sim::Allocation& memory);

// Adds a finding: host code has accessed memory of this device, which it can't.
void add_host_access(Context& context, const HostAccess& access, std::vector<sim::SourcePlace> where);

// Must be called before the program ends by itself: reports kernels that the host has not waited for.
void check_waits();

// Must be called in a handler of exit(1): on x86-64, reports that host code has called a `__device__`
// function, if the machine code of the call looks like that. nvcc gives such a function a body for the host
// that only calls exit(1), and for a call in a template it prints no warning.
void check_exit();

// Must be called before the program ends or resets the device: reports what has not been freed, unless a
// kernel's fault has made that impossible.
void check_leaks(Context& context);

// Records that the process uses a device, and what it does. With SIM_CHECK_FD, writes the number of the
// process there, and again when its findings are printed. A process whose number was written once lost its
// findings.
enum class Activity : std::uint8_t { other, launch, host_function };
void note_activity(Activity what);

// Records that work of the program has not run, since the simulator lacks it: exit code 0 becomes 86.
void note_missing();
bool has_missing();

// At the end of the process: prints on stderr the findings of all devices, what was not checked, and a
// summary line. Returns the number of errors.
std::size_t print_findings();

}  // namespace course::cudart
