// SPDX-License-Identifier: MIT
// An exported function consists of NCCL_EXPORT, the signature, and one call of answer() whose body returns an
// Outcome. An error is reported with the source line of the call, and kept for ncclGetLastError.
#pragma once

#include <exception>

#include "nccl/clique/clique.hpp"

#define NCCL_EXPORT extern "C" __attribute__((visibility("default")))
// The instruction after the program's call; a call of its line.
#define NCCL_CALLER (static_cast<const char*>(__builtin_return_address(0)) - 1)

namespace course::nccl {

ncclResult_t finish(const char* function, const ncclComm* comm, const void* code, Outcome outcome);

template <typename Body>
ncclResult_t answer(const char* function, const ncclComm* comm, const void* code, Body&& body) {
  try {
    return finish(function, comm, code, body());
  } catch (const std::exception& problem) {
    return finish(function, comm, code, {ncclSystemError, problem.what()});
  }
}

// For functions of one communicator: an error if it is none, destroyed or aborted; `for_call`: or finalized.
Outcome check_communicator(const ncclComm* comm, bool for_call = false);
// The text that ncclGetLastError gives: of a communicator, or of this thread.
const char* last_error(const ncclComm* comm);

}  // namespace course::nccl
