// SPDX-License-Identifier: MIT
// The exported functions for communicators, groups and errors.
#include <fmt/format.h>

#include "nccl/api/answer.hpp"
#include "nccl/api/group.hpp"
#include "nccl/communicators/communicators.hpp"
#include "nccl/simulator/simulator.hpp"

using namespace course::nccl;  // NOLINT: this file is only their exported face

namespace {

Outcome null_pointer(const char* what) {
  return {ncclInvalidArgument, fmt::format("{} is a null pointer", what)};
}

Outcome check_ranks(int n_ranks, int rank) {
  if (n_ranks < 1) return {ncclInvalidArgument, fmt::format("a communicator of {} ranks", n_ranks)};
  if (rank < 0 || rank >= n_ranks)
    return {ncclInvalidArgument, fmt::format("rank {} of {} ranks: the first one is 0", rank, n_ranks)};
  return {};
}

Outcome join(ncclComm_t* out, int n_ranks, const ncclUniqueId& id, int rank, bool waits, const void* code) {
  if (out == nullptr) return null_pointer("the address of the communicator");
  *out = nullptr;
  if (Outcome outcome = check_ranks(n_ranks, rank); !outcome.ok()) return outcome;
  Clique* clique = nullptr;
  if (Outcome outcome = find_clique(id, n_ranks, clique); !outcome.ok()) return outcome;
  if (Outcome outcome = clique->join(rank, current_device(), waits, code, out); !outcome.ok()) return outcome;
  add_communicator(*out);
  return await_ranks(*clique, waits, code);
}

Outcome init_all(ncclComm_t* out, int n, const int* devices) {
  if (out == nullptr) return null_pointer("the address of the communicators");
  if (n < 1) return {ncclInvalidArgument, fmt::format("{} devices", n)};
  Clique& clique = make_clique(n);
  for (int rank = 0; rank < n; ++rank) {
    const int device = devices != nullptr ? devices[rank] : rank;
    if (device < 0 || device >= n_devices()) {
      return {ncclUnhandledCudaError, fmt::format("there is no device {}: {} simulated, set SIM_DEVICES for "
                                                  "more",
                                                  device, n_devices())};
    }
    if (Outcome outcome = clique.join(rank, device, false, nullptr, &out[rank]); !outcome.ok())
      return outcome;
  }
  for (int rank = 0; rank < n; ++rank) add_communicator(out[rank]);
  return {};
}

// Ends the use of a communicator, after its launches have ended.
Outcome leave(ncclComm_t comm, ncclComm::State state) {
  if (comm == nullptr) return {};
  if (Outcome outcome = check_communicator(comm); !outcome.ok()) return outcome;
  comm->clique->wait_for(*comm);
  {
    const std::lock_guard guard(comm->clique->lock());
    comm->state = state;
  }
  comm->clique->left(*comm);
  return {};
}

template <typename Value>
Outcome get(const ncclComm* comm, Value* out, Value value) {
  if (out == nullptr) return null_pointer("the address of the result");
  if (Outcome outcome = check_communicator(comm); !outcome.ok()) return outcome;
  *out = value;
  return {};
}

}  // namespace

NCCL_API ncclGetVersion(int* version) {
  return answer(nullptr, [&]() -> Outcome {
    if (version == nullptr) return null_pointer("the address of the version");
    *version = NCCL_VERSION_CODE;
    return {};
  });
}

NCCL_EXPORT const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was a network error";
    case ncclInProgress: return "NCCL operation in progress";
    default: return "unknown result code";
  }
}

NCCL_EXPORT const char* ncclGetLastError(ncclComm_t comm) {
  return last_error(comm);
}

NCCL_API ncclGetUniqueId(ncclUniqueId* id) {
  return answer(nullptr, [&]() -> Outcome {
    if (id == nullptr) return null_pointer("the address of the id");
    make_unique_id(*id);
    return {};
  });
}

NCCL_API ncclCommInitAll(ncclComm_t* comms, int n, const int* devices) {
  return answer(nullptr, [&] { return init_all(comms, n, devices); });
}

NCCL_API ncclCommInitRank(ncclComm_t* comm, int n_ranks, ncclUniqueId id, int rank) {
  const void* const code = NCCL_CALLER;
  return answer(nullptr, [&] { return join(comm, n_ranks, id, rank, true, code); });
}

NCCL_API ncclCommInitRankConfig(ncclComm_t* comm, int n_ranks, ncclUniqueId id, int rank,
                                ncclConfig_t* config) {
  const void* const code = NCCL_CALLER;
  return answer(nullptr, [&]() -> Outcome {
    // NVIDIA's headers do not all name the magic number.
    if (const ncclConfig_t usual = NCCL_CONFIG_INITIALIZER; config != nullptr && config->magic != usual.magic)
      return {ncclInvalidArgument, "the configuration is not initialised with NCCL_CONFIG_INITIALIZER"};
    return join(comm, n_ranks, id, rank, config == nullptr || config->blocking != 0, code);
  });
}

NCCL_API ncclCommFinalize(ncclComm_t comm) {
  return answer(comm, [&] { return leave(comm, ncclComm::State::finalized); });
}

NCCL_API ncclCommDestroy(ncclComm_t comm) {
  return answer(comm, [&] { return leave(comm, ncclComm::State::destroyed); });
}

NCCL_API ncclCommAbort(ncclComm_t comm) {
  return answer(comm, [&]() -> Outcome {
    if (Outcome outcome = check_communicator(comm); !outcome.ok()) return outcome;
    comm->clique->abort(*comm);
    return {};
  });
}

NCCL_API ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  return answer(comm, [&]() -> Outcome {
    if (Outcome outcome = check_communicator(comm); !outcome.ok()) return outcome;
    if (error == nullptr) return null_pointer("the address of the error");
    comm->clique->poll();
    *error = comm->clique->error().result;
    if (*error == ncclSuccess && !comm->clique->is_complete()) *error = ncclInProgress;
    return {};
  });
}

NCCL_API ncclCommCount(const ncclComm_t comm, int* count) {
  return answer(comm, [&] { return get(comm, count, is_communicator(comm) ? comm->clique->size() : 0); });
}

NCCL_API ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return answer(comm, [&] { return get(comm, device, is_communicator(comm) ? comm->device : 0); });
}

NCCL_API ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return answer(comm, [&] { return get(comm, rank, is_communicator(comm) ? comm->rank : 0); });
}

NCCL_API ncclMemAlloc(void** pointer, size_t n_bytes) {
  return answer(nullptr, [&]() -> Outcome {
    if (pointer == nullptr) return null_pointer("the address of the pointer");
    return allocate(pointer, n_bytes) ? Outcome{} : Outcome{ncclUnhandledCudaError, "cudaMalloc has failed"};
  });
}

NCCL_API ncclMemFree(void* pointer) {
  return answer(nullptr, [&]() -> Outcome {
    return release(pointer) ? Outcome{} : Outcome{ncclUnhandledCudaError, "cudaFree has failed"};
  });
}

NCCL_API ncclGroupStart(void) {
  start_group();
  return ncclSuccess;
}

NCCL_API ncclGroupEnd(void) {
  const void* const code = NCCL_CALLER;
  return answer(nullptr, [&] { return end_group(code); });
}
