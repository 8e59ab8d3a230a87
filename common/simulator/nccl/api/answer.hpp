// SPDX-License-Identifier: MIT
// An exported function consists of NCCL_API, the signature, and one call of answer() whose body returns an
// Outcome. An error is reported with the name of the function and the source line of its call, which are
// arguments by default, and kept for ncclGetLastError.
#pragma once

#include <exception>

#include "nccl/clique/clique.hpp"

#define NCCL_EXPORT extern "C" __attribute__((visibility("default")))
#define NCCL_API NCCL_EXPORT ncclResult_t
// As default arguments: the name of the exported function, and the program's call of it.
#define NCCL_FUNCTION __builtin_FUNCTION()
#define NCCL_CALLER (static_cast<const char*>(__builtin_return_address(0)) - 1)

namespace course::nccl {

ncclResult_t finish(const char* function, const ncclComm* comm, const void* code, Outcome outcome);

template <typename Body>
ncclResult_t answer(const ncclComm* comm, Body&& body, const char* function = NCCL_FUNCTION,
                    const void* code = NCCL_CALLER) {
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
