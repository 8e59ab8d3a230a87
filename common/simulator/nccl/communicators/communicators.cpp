// SPDX-License-Identifier: MIT
#include "nccl/communicators/communicators.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "nccl/clique/remote.hpp"
#include "nccl/communicators/server.hpp"

namespace course::nccl {
namespace {

struct All {
  std::mutex lock;
  std::vector<Clique*> cliques;
  std::set<const ncclComm*> communicators;
  std::uint64_t n_ids = 0;
  std::map<std::uint64_t, Matcher*> by_id;                                     // nullptr: nobody has joined
  std::map<std::pair<std::uint64_t, std::uint64_t>, RemoteClique*> elsewhere;  // by secret and number
};
All& all() {
  static auto& everything = *new All;
  return everything;
}

// The contents of a unique id: its process, the process's address, and the number of the id.
struct Id {
  char magic[16] = "simulated NCCL";
  std::int64_t process = 0;
  std::uint64_t secret = 0, number = 0;
};
static_assert(sizeof(Id) <= NCCL_UNIQUE_ID_BYTES);

void end_communicators() {
  std::vector<Clique*> cliques;
  {
    const std::lock_guard guard(all().lock);
    cliques = all().cliques;
  }
  for (Clique* clique : cliques) clique->report_unfinished();
  for (Clique* clique : cliques)
    if (auto* matcher = dynamic_cast<Matcher*>(clique)) matcher->lose(nullptr);
  wait_for_others();
}

// The lock is held.
template <typename Made>
Made& keep(Made& clique) {
  if (all().cliques.empty()) std::atexit(end_communicators);
  all().cliques.push_back(&clique);
  return clique;
}

Outcome other_size(int n_ranks, int other) {
  return {ncclInvalidArgument,
          fmt::format("one rank joins a communicator of {} ranks, another one of {}", n_ranks, other)};
}

Outcome find_elsewhere(const Id& id, int n_ranks, Clique*& clique) {
  const std::lock_guard guard(all().lock);
  RemoteClique*& known = all().elsewhere[{id.secret, id.number}];
  if (known == nullptr) {
    const auto process = static_cast<pid_t>(id.process);
    const int fd = id.secret != 0 ? connect_to(process, id.secret) : -1;
    if (fd < 0) {
      return {ncclRemoteError, fmt::format("process {}, which made the unique id, has ended, or it is on "
                                           "another host or in another container",
                                           process)};
    }
    known = &keep(*new RemoteClique(n_ranks, fd, process, id.number));
  }
  clique = known;
  return clique->size() == n_ranks ? Outcome{} : other_size(clique->size(), n_ranks);
}

}  // namespace

Clique& make_clique(int n_ranks) {
  const std::lock_guard guard(all().lock);
  return keep(*new Matcher(n_ranks));
}

void make_unique_id(ncclUniqueId& id) {
  Id ours;
  ours.process = getpid();
  ours.secret = serve();
  {
    const std::lock_guard guard(all().lock);
    ours.number = ++all().n_ids;
    all().by_id[ours.number] = nullptr;
  }
  id = {};
  std::memcpy(id.internal, &ours, sizeof ours);
}

Outcome find_matcher(std::uint64_t number, int n_ranks, Matcher*& matcher) {
  const std::lock_guard guard(all().lock);
  const auto found = all().by_id.find(number);
  if (found == all().by_id.end()) return {ncclInvalidArgument, "the unique id is not from ncclGetUniqueId"};
  if (found->second == nullptr) found->second = &keep(*new Matcher(n_ranks));
  matcher = found->second;
  return matcher->size() == n_ranks ? Outcome{} : other_size(matcher->size(), n_ranks);
}

Outcome find_clique(const ncclUniqueId& id, int n_ranks, Clique*& clique) {
  Id ours;
  std::memcpy(&ours, id.internal, sizeof ours);
  if (std::memcmp(ours.magic, Id{}.magic, sizeof ours.magic) != 0)
    return {ncclInvalidArgument, "the unique id is not from ncclGetUniqueId"};
  if (ours.process != getpid()) return find_elsewhere(ours, n_ranks, clique);
  Matcher* matcher = nullptr;
  Outcome outcome = find_matcher(ours.number, n_ranks, matcher);
  clique = matcher;
  return outcome;
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
