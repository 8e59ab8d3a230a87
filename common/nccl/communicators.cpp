// SPDX-License-Identifier: MIT
#include "nccl/communicators.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace course::nccl {
namespace {

struct All {
  std::mutex lock;
  std::vector<Clique*> cliques;
  std::set<const ncclComm*> communicators;
  std::uint64_t n_ids = 0;
  std::map<std::uint64_t, Clique*> by_id;  // nullptr: nobody has joined
};
All& all() {
  static auto& everything = *new All;
  return everything;
}

// The contents of a unique id.
struct Id {
  char magic[16] = "simulated NCCL";
  std::uint64_t process = 0, number = 0;
};
static_assert(sizeof(Id) <= NCCL_UNIQUE_ID_BYTES);

void report_unfinished() {
  std::vector<Clique*> cliques;
  {
    const std::lock_guard guard(all().lock);
    cliques = all().cliques;
  }
  for (Clique* clique : cliques) clique->report_unfinished();
}

}  // namespace

Clique& make_clique(int n_ranks) {
  auto& clique = *new Clique(n_ranks);
  const std::lock_guard guard(all().lock);
  if (all().cliques.empty()) std::atexit(report_unfinished);
  all().cliques.push_back(&clique);
  return clique;
}

void make_unique_id(ncclUniqueId& id) {
  Id ours;
  ours.process = static_cast<std::uint64_t>(getpid());
  {
    const std::lock_guard guard(all().lock);
    ours.number = ++all().n_ids;
    all().by_id[ours.number] = nullptr;
  }
  id = {};
  std::memcpy(id.internal, &ours, sizeof ours);
}

Outcome find_clique(const ncclUniqueId& id, int n_ranks, Clique*& clique) {
  Id ours;
  std::memcpy(&ours, id.internal, sizeof ours);
  if (std::strcmp(ours.magic, Id{}.magic) != 0)
    return {ncclInvalidArgument, "the unique id is not from ncclGetUniqueId"};
  if (ours.process != static_cast<std::uint64_t>(getpid())) {
    return {ncclInvalidUsage,
            "the unique id comes from another process; on simulated devices all ranks are in one process"};
  }
  {
    const std::lock_guard guard(all().lock);
    const auto found = all().by_id.find(ours.number);
    if (found == all().by_id.end()) return {ncclInvalidArgument, "the unique id is not from ncclGetUniqueId"};
    clique = found->second;
  }
  if (clique == nullptr) {
    Clique& made = make_clique(n_ranks);
    const std::lock_guard guard(all().lock);
    Clique*& known = all().by_id[ours.number];
    if (known == nullptr) known = &made;
    clique = known;
  }
  if (clique->size() != n_ranks) {
    return {ncclInvalidArgument, fmt::format("one rank joins a communicator of {} ranks, another one of {}",
                                             clique->size(), n_ranks)};
  }
  return {};
}

void add_communicator(ncclComm_t comm) {
  const std::lock_guard guard(all().lock);
  all().communicators.insert(comm);
}

bool is_communicator(const ncclComm* comm) {
  const std::lock_guard guard(all().lock);
  return all().communicators.contains(comm);
}

}  // namespace course::nccl
