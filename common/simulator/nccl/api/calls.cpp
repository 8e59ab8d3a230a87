// SPDX-License-Identifier: MIT
// The exported collectives, sends and receives.
#include <fmt/format.h>

#include <array>

#include "nccl/api/answer.hpp"
#include "nccl/api/group.hpp"

using namespace course::nccl;  // NOLINT: this file is only their exported face

namespace {

constexpr std::size_t kMaxElements = std::size_t{1} << 48;  // so that no number of bytes overflows

Outcome check_buffers(const Call& call, int device) {
  for (const SimRange& range : ranges_of(call)) {
    if (range.n_bytes == 0) continue;
    std::array<char, 512> why{};
    if (simCheckMemory(range.start, range.n_bytes, device, why.data(), why.size()) != 0) {
      return {ncclInvalidArgument,
              fmt::format("the {} buffer must hold {} bytes: {}", range.writes != 0 ? "receive" : "send",
                          range.n_bytes, why.data())};
    }
  }
  if (call.kind == Kind::all_to_all && call.send == call.receive && call.count > 0) {
    // NVIDIA's library accepts this and does not say what it computes: its header has a rule for the other
    // collectives in place, but not for this one, and its tests do not check the results.
    const std::string message = fmt::format(
        "ncclAlltoAll of rank {} in place: the result is undefined, because a rank may receive items where "
        "it has not yet sent its own. Receive into a second buffer",
        call.rank);
    simReportFault(device, "nccl-in-place", message.c_str(), call.code, nullptr, 1);
    return {};
  }
  if (const std::string rule = overlap_of(call); !rule.empty())
    return {ncclInvalidUsage, fmt::format("the send and receive buffers overlap: {}", rule)};
  return {};
}

Outcome check(const Call& call) {
  if (reduces(call.kind) && (call.reduction < ncclSum || call.reduction >= ncclNumOps))
    return {ncclInvalidArgument, fmt::format("{} is not a reduction", static_cast<int>(call.reduction))};
  if (size_of(call.type) == 0)
    return {ncclInvalidArgument, fmt::format("{} is not a data type", static_cast<int>(call.type))};
  if (call.count > kMaxElements)
    return {ncclInvalidArgument, fmt::format("a count of {}: a negative number?", call.count)};
  if ((has_root(call.kind) || is_point_to_point(call.kind)) && (call.peer < 0 || call.peer >= call.n_ranks)) {
    return {ncclInvalidArgument,
            fmt::format("the {} is rank {}, but the ranks are 0 to {}", has_root(call.kind) ? "root" : "peer",
                        call.peer, call.n_ranks - 1)};
  }
  return {};
}

ncclResult_t call_of(Call call, ncclComm_t comm, const char* function = NCCL_FUNCTION,
                     const void* code = NCCL_CALLER) {
  call.function = function;
  call.code = code;
  return answer(
      comm,
      [&]() -> Outcome {
        if (Outcome outcome = check_communicator(comm, true); !outcome.ok()) return outcome;
        if (Outcome outcome = comm->clique->error(); !outcome.ok()) return outcome;
        if (!comm->clique->is_complete())
          return {ncclInvalidArgument,
                  "the communicator is not initialised yet: ncclCommGetAsyncError says when"};
        call.rank = comm->rank;
        call.n_ranks = comm->clique->size();
        if (Outcome outcome = check(call); !outcome.ok()) return outcome;
        if (Outcome outcome = check_buffers(call, comm->device); !outcome.ok()) return outcome;
        return submit(*comm, call);
      },
      function, code);
}

}  // namespace

NCCL_API ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                       ncclComm_t comm, cudaStream_t stream) {
  return call_of({Kind::all_reduce, send, receive, count, type, op, 0, stream}, comm);
}

NCCL_API ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                    int root, ncclComm_t comm, cudaStream_t stream) {
  return call_of({Kind::reduce, send, receive, count, type, op, root, stream}, comm);
}

NCCL_API ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                       ncclComm_t comm, cudaStream_t stream) {
  return call_of({Kind::broadcast, send, receive, count, type, {}, root, stream}, comm);
}

NCCL_API ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                   cudaStream_t stream) {
  return call_of({Kind::broadcast, buffer, buffer, count, type, {}, root, stream}, comm);
}

NCCL_API ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                       cudaStream_t stream) {
  return call_of({Kind::all_gather, send, receive, count, type, {}, 0, stream}, comm);
}

NCCL_API ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call_of({Kind::reduce_scatter, send, receive, count, type, op, 0, stream}, comm);
}

NCCL_API ncclAlltoAll(const void* send, void* receive, size_t count, ncclDataType_t type, ncclComm_t comm,
                      cudaStream_t stream) {
  return call_of({Kind::all_to_all, send, receive, count, type, {}, 0, stream}, comm);
}

NCCL_API ncclGather(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                    ncclComm_t comm, cudaStream_t stream) {
  return call_of({Kind::gather, send, receive, count, type, {}, root, stream}, comm);
}

NCCL_API ncclScatter(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                     ncclComm_t comm, cudaStream_t stream) {
  return call_of({Kind::scatter, send, receive, count, type, {}, root, stream}, comm);
}

NCCL_API ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream) {
  return call_of({Kind::send, send, nullptr, count, type, {}, peer, stream}, comm);
}

NCCL_API ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                  cudaStream_t stream) {
  return call_of({Kind::receive, nullptr, receive, count, type, {}, peer, stream}, comm);
}
