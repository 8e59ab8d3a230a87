// SPDX-License-Identifier: MIT
#include "nccl/api/answer.hpp"

#include <fmt/format.h>

#include "nccl/api/group.hpp"
#include "nccl/communicators/communicators.hpp"
#include "nccl/simulator/simulator.hpp"

namespace course::nccl {
namespace {

thread_local std::string t_last_error;

}  // namespace

ncclResult_t finish(const char* function, const ncclComm* comm, const void* code, Outcome outcome) {
  if (outcome.ok() || outcome.result == ncclInProgress) return outcome.result;
  const bool known = is_communicator(comm);
  if (!outcome.reported) {
    outcome.message = fmt::format("{}{} fails with {}: {}", function,
                                  known ? fmt::format(" of rank {}", comm->rank) : std::string(),
                                  ncclGetErrorString(outcome.result), outcome.message);
    simReportFault(known ? comm->device : current_device(), "nccl-error", outcome.message.c_str(), code,
                   nullptr, 1);
    outcome.reported = true;
  }
  spoil_group(outcome);
  t_last_error = outcome.message;
  if (known) comm->clique->note_error(*const_cast<ncclComm*>(comm), outcome.message);
  return outcome.result;
}

Outcome check_communicator(const ncclComm* comm, bool for_call) {
  if (comm == nullptr) return {ncclInvalidArgument, "the communicator is a null pointer"};
  if (!is_communicator(comm))
    return {ncclInvalidArgument, fmt::format("{} is not a communicator", static_cast<const void*>(comm))};
  const std::lock_guard guard(comm->clique->lock());
  if (comm->state == ncclComm::State::destroyed)
    return {ncclInvalidArgument, "the communicator has been destroyed"};
  if (comm->state == ncclComm::State::aborted)
    return {ncclInvalidArgument, "the communicator has been aborted"};
  if (for_call && comm->state == ncclComm::State::finalized)
    return {ncclInvalidUsage, "the communicator has been finalized"};
  return {};
}

const char* last_error(const ncclComm* comm) {
  if (!is_communicator(comm)) return t_last_error.c_str();
  const std::lock_guard guard(comm->clique->lock());
  t_last_error = comm->last_error;
  return t_last_error.c_str();
}

}  // namespace course::nccl
