// SPDX-License-Identifier: MIT
// With SIM_CHECK=1 (mode bit kHostcheck), mprotect protects memory from host code, while no call of the
// runtime is in progress:
// - Memory of the device is inaccessible. The first access adds a finding ("host-access") and then ends the
//   program with a segmentation fault, as with a GPU. System calls with such an address fail with EFAULT,
//   also as with a GPU, without a finding.
// - Page-locked and managed memory that unfinished work has written is inaccessible, too, and what it has
//   read is read-only. The handler of SIGSEGV records the access, opens the page and continues the program.
//   The next call of the runtime decides whether the access was a race, because the host has not waited for
//   that work ("host-race", "host-writes-during-copy"). Not found: further accesses to the same page before
//   that call; memory of cudaHostRegister; accesses to the results of kernels that signal the host by
//   volatile or system-scope writes. A system call that gets such a page fails with EFAULT.
// Without this mode, host code reads and writes memory of the device like its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace course::cudart {

// Whether a page fault on linux/arm64 was a store. `records`: what the kernel appends to the registers in a
// signal frame (struct _aarch64_ctx in Linux's asm/sigcontext.h). False if no record describes a data abort.
bool aarch64_fault_was_write(std::span<const std::byte> records);

// One exists during each call of the runtime that may access the program's or a device's memory, so that all
// of it is accessible then. Thread-safe; may be nested.
class InsideRuntime {
 public:
  InsideRuntime();
  ~InsideRuntime();
  InsideRuntime(const InsideRuntime&) = delete;
  InsideRuntime& operator=(const InsideRuntime&) = delete;
};

// During calls of the runtime, memory of the device is opened where it is accessed. All of it must be opened
// by this function before system calls get it.
void open_device_memory();

// One exists while a call of the runtime executes a function of the program (cudaLaunchHostFunc).
class InsideHostFunction {
 public:
  InsideHostFunction();
  ~InsideHostFunction();
  InsideHostFunction(const InsideHostFunction&) = delete;
  InsideHostFunction& operator=(const InsideHostFunction&) = delete;
  static inline thread_local int n_active = 0;  // of this thread
};

// Whether this is an address that host code of this thread must not use: memory of a device is protected
// there, and no thread is in a call of the runtime, or this one is in a function of cudaLaunchHostFunc.
bool is_protected(std::uint64_t address);
// Adds a finding: host code has accessed memory of the device. In a handler of a signal.
struct HostAccess {
  std::uint64_t address = 0;
  const void* code = nullptr;  // the instruction
  std::string what;            // "the host reads"
  bool writes = false;
};
void report_host_access(const HostAccess& access);

}  // namespace course::cudart
