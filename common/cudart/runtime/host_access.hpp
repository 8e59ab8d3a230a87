// SPDX-License-Identifier: MIT
// With SIM_CHECK=1: finds host code that accesses page-locked or managed memory while a kernel or copy may
// still use it, because the host has not waited for that work ("host-race", "host-writes-during-copy"). While
// host code runs, mprotect makes the pages that unfinished work has written inaccessible, and those that it
// has read read-only. The first access to such a page raises SIGSEGV; the handler records the access, opens
// the page and continues the program. The next call of the runtime decides whether the access was a race.
// Not found: further accesses to the same page before that call; memory of cudaHostRegister; accesses to the
// results of kernels that signal the host by volatile or system-scope writes. A system call that gets a
// protected page fails with EFAULT.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/finding.hpp"

namespace course::cudart {

// The source line of a host instruction; empty without debug information.
std::vector<sim::SourcePlace> place_of_code(const void* code);

// Whether a page fault on linux/arm64 was a store. `records`: what the kernel appends to the registers in a
// signal frame (struct _aarch64_ctx in Linux's asm/sigcontext.h). False if no record describes a data abort.
bool aarch64_fault_was_write(std::span<const std::byte> records);

// One exists during every call of the runtime, so that all memory is accessible then. Thread-safe; may be
// nested.
class InsideRuntime {
 public:
  InsideRuntime();
  ~InsideRuntime();
  InsideRuntime(const InsideRuntime&) = delete;
  InsideRuntime& operator=(const InsideRuntime&) = delete;
};

}  // namespace course::cudart
