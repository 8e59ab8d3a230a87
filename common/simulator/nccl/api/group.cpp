// SPDX-License-Identifier: MIT
#include "nccl/api/group.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <set>
#include <utility>

#include "nccl/clique/idle.hpp"

namespace course::nccl {
namespace {

struct Queued {
  ncclComm* comm;
  Call call;
};
struct Group {
  int depth = 0;
  std::vector<Queued> calls;
  std::vector<Clique*> joined;  // must be complete at the end
  bool waits = true;
  Outcome error;
};
thread_local Group t_group;

// Waits for what the streams still have to do for others, so that no launch waits for a later one of the
// same group.
Outcome prepare_streams(const std::vector<Queued>& calls) {
  std::set<std::pair<cudaStream_t, int>> prepared;
  for (const Queued& queued : calls) {
    if (!prepared.insert({queued.call.stream, queued.comm->device}).second) continue;
    std::array<char, 512> why{};
    const int error = simPrepareStream(queued.call.stream, queued.comm->device, why.data(), why.size());
    if (error == 0) continue;
    // The communicator's own error explains more than that of the device.
    if (Outcome first = queued.comm->clique->error(); !first.ok()) return first;
    return {ncclUnhandledCudaError,
            fmt::format("{} of rank {}: {}", words_with_line(queued.call), queued.comm->rank, why.data())};
  }
  return {};
}

// The sends and receives of one rank and stream are one launch; collectives are launched in their order.
Outcome launch_all(std::vector<Queued> calls) {
  static std::atomic<std::uint64_t> groups{0};
  const std::uint64_t group = ++groups;
  while (!calls.empty()) {
    ncclComm& comm = *calls.front().comm;
    const cudaStream_t stream = calls.front().call.stream;
    const bool together = is_point_to_point(calls.front().call.kind);
    std::vector<Call> launch;
    std::vector<Queued> rest;
    for (Queued& queued : calls) {
      const bool joins = launch.empty() || (together && is_point_to_point(queued.call.kind) &&
                                            queued.comm == &comm && queued.call.stream == stream);
      if (joins)
        launch.push_back(std::move(queued.call));
      else
        rest.push_back(std::move(queued));
    }
    if (Outcome outcome = comm.clique->launch(comm, group, std::move(launch)); !outcome.ok()) return outcome;
    calls = std::move(rest);
  }
  return {};
}

Outcome finish(Group group, const void* code) {
  note_activity();
  if (!group.error.ok()) return group.error;
  for (Clique* clique : group.joined) {
    if (!group.waits && !clique->is_complete()) return {ncclInProgress, ""};
    if (Outcome outcome = clique->wait_until_complete(code); !outcome.ok()) return outcome;
  }
  if (Outcome outcome = prepare_streams(group.calls); !outcome.ok()) return outcome;
  return launch_all(std::move(group.calls));
}

}  // namespace

void start_group() {
  ++t_group.depth;
}

bool in_group() {
  return t_group.depth > 0;
}

Outcome end_group(const void* code) {
  if (t_group.depth == 0) return {ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart"};
  if (--t_group.depth > 0) return {};
  return finish(std::exchange(t_group, {}), code);
}

Outcome submit(ncclComm& comm, Call call) {
  if (in_group()) {
    t_group.calls.push_back({&comm, std::move(call)});
    return {};
  }
  Group group;
  group.calls.push_back({&comm, std::move(call)});
  return finish(std::move(group), nullptr);
}

Outcome await_ranks(Clique& clique, bool waits, const void* code) {
  if (in_group()) {
    t_group.joined.push_back(&clique);
    t_group.waits = t_group.waits && waits;
    return {};
  }
  Group group;
  group.joined.push_back(&clique);
  group.waits = waits;
  return finish(std::move(group), code);
}

void spoil_group(const Outcome& outcome) {
  if (in_group() && t_group.error.ok()) t_group.error = outcome;
}

}  // namespace course::nccl
