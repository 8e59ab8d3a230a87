// SPDX-License-Identifier: MIT
#include "nccl/clique.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "nccl/idle.hpp"
#include "nccl/model.hpp"
#include "nccl/move.hpp"
#include "nccl/simulator.hpp"

namespace course::nccl {
namespace {

// Bit i: the part ends after the work before part i, because it gets data from there.
unsigned long long sources_of(const std::vector<Launch*>& launches, const Launch& launch) {
  unsigned long long bits = 0;
  for (std::size_t i = 0; i < launches.size() && i < 64; ++i) {
    const Launch& other = *launches[i];
    for (const Entry& entry : launch.entries) {
      bool gets = false;
      switch (entry.call.kind) {
        case Kind::send: break;
        case Kind::receive: gets = entry.partner->launch == &other; break;
        case Kind::broadcast:
        case Kind::scatter: gets = other.comm->rank == entry.call.peer; break;
        case Kind::reduce:
        case Kind::gather: gets = launch.comm->rank == entry.call.peer; break;
        default: gets = true;
      }
      if (gets) bits |= 1ull << i;
    }
  }
  return bits;
}

void move_launches(void* user) {
  const auto& launches = *static_cast<const std::vector<Launch*>*>(user);
  std::vector<SimOperand> operands;
  for (const Launch* launch : launches) {
    for (const Entry& entry : launch->entries) {
      const Call& call = entry.call;
      operands.push_back(
          {static_cast<unsigned>(call.kind), static_cast<unsigned>(call.type),
           call.reduction.scaled ? unsigned{ncclNumOps} : static_cast<unsigned>(call.reduction.op), call.rank,
           call.n_ranks, call.peer, launch->comm->device, 0, reinterpret_cast<unsigned long long>(call.send),
           reinterpret_cast<unsigned long long>(call.receive), call.count});
    }
  }
  if (operate_elsewhere(operands)) return;
  const Call& first = launches.front()->entries.front().call;
  if (!is_point_to_point(first.kind)) {
    std::vector<Call> calls;
    for (const Launch* launch : launches) calls.push_back(launch->entries.front().call);
    move_collective(calls);
    return;
  }
  for (const Launch* launch : launches)
    for (const Entry& entry : launch->entries)
      if (entry.call.kind == Kind::receive) move_message(entry.partner->call, entry.call);
}

}  // namespace

Clique::Clique(int n_ranks) : ranks_(static_cast<std::size_t>(n_ranks)) {}

Outcome Clique::join(int rank, int device, ncclComm_t* out) {
  const Guard guard(lock_);
  if (!error_.ok()) return error_;
  if (ranks_[static_cast<std::size_t>(rank)] != nullptr)
    return {ncclInvalidUsage, fmt::format("rank {} joins the communicator twice", rank)};
  for (const ncclComm_t other : ranks_) {
    if (other != nullptr && other->device == device) {
      return {ncclInvalidUsage, fmt::format("rank {} and rank {} are both on device {}: call cudaSetDevice "
                                            "before ncclCommInitRank",
                                            other->rank, rank, device)};
    }
  }
  auto comm = std::make_unique<ncclComm>();
  comm->clique = this;
  comm->rank = rank;
  comm->device = device;
  *out = ranks_[static_cast<std::size_t>(rank)] = comm.release();
  changed_.notify_all();
  return {};
}

bool Clique::is_complete() {
  const Guard guard(lock_);
  return std::count(ranks_.begin(), ranks_.end(), nullptr) == 0;
}

Outcome Clique::wait_until_complete(const void* code) {
  Guard guard(lock_);
  while (error_.ok() && std::count(ranks_.begin(), ranks_.end(), nullptr) != 0) {
    changed_.wait_for(guard, std::chrono::milliseconds(kPollMs));
    if (!is_idle()) continue;
    std::string missing;
    for (int r = 0; r < size(); ++r)
      if (ranks_[static_cast<std::size_t>(r)] == nullptr)
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", r);
    return fail("nccl-missing-rank",
                fmt::format("a communicator of {} ranks waits for rank {}, and nobody makes that call: each "
                            "rank needs a thread of its own, or the calls of ncclCommInitRank of one thread "
                            "stand between ncclGroupStart and ncclGroupEnd",
                            size(), missing),
                code, nullptr);
  }
  return error_;
}

Outcome Clique::error() {
  const Guard guard(lock_);
  return error_;
}

Outcome Clique::launch(ncclComm& comm, std::uint64_t group, std::vector<Call> calls) {
  const Guard guard(lock_);
  if (!error_.ok()) return error_;
  auto owned = std::make_unique<Launch>();
  Launch& launch = *owned;
  launch.id = next_id_++;
  launch.comm = &comm;
  launch.thread = std::this_thread::get_id();
  launch.group = group;
  std::string what;
  for (Call& call : calls) {
    comm.last_call = call;
    what = fmt::format("{} of rank {}", call.function, comm.rank);
    launch.entries.push_back({std::move(call), &launch, nullptr});
  }
  const Call& first = launch.entries.front().call;
  launch.part = simEnterPart(first.stream, comm.device, what.c_str(), wait_for_launch, this, launch.id);
  open_.emplace(launch.id, std::move(owned));
  if (!is_point_to_point(first.kind)) return enter_collective(launch);
  for (Entry& entry : launch.entries)
    if (Outcome outcome = match(launch, entry); !outcome.ok()) return outcome;
  if (std::vector<Launch*> all = connected(launch); !all.empty()) execute(std::move(all));
  return {};
}

Outcome Clique::missing_group(const Launch& first, const Launch& second) {
  const Call &a = first.entries.front().call, &b = second.entries.front().call;
  return fail("nccl-missing-group",
              fmt::format("one thread calls {} for rank {} and then {} for rank {}, not in one group: NCCL "
                          "may wait in the first call for ever. Put the calls of all ranks between "
                          "ncclGroupStart and ncclGroupEnd",
                          words_with_line(a), first.comm->rank, words_with_line(b), second.comm->rank),
              b.code, a.code);
}

Outcome Clique::enter_collective(Launch& launch) {
  const std::uint64_t index = launch.comm->n_collectives++ - first_round_;
  while (rounds_.size() <= index) rounds_.emplace_back(ranks_.size(), nullptr);
  std::vector<Launch*>& round = rounds_[index];
  const Call& call = launch.entries.front().call;
  for (const Launch* other : round) {
    if (other == nullptr) continue;
    const Call& earlier = other->entries.front().call;
    if (const std::string what = disagreement(earlier, call); !what.empty()) {
      return fail("nccl-mismatch",
                  fmt::format("the ranks do not agree on {} of collective {} of the communicator: rank {} "
                              "calls {}, rank {} calls {}",
                              what, launch.comm->n_collectives, other->comm->rank, words_with_line(earlier),
                              launch.comm->rank, words_with_line(call)),
                  call.code, earlier.code);
    }
    if (other->thread == launch.thread && other->group != launch.group) return missing_group(*other, launch);
  }
  round[static_cast<std::size_t>(launch.comm->rank)] = &launch;
  if (std::count(round.begin(), round.end(), nullptr) != 0) return {};
  // Each rank enters its rounds in order, so the first one is complete first.
  std::vector<Launch*> all = std::move(round);
  rounds_.pop_front();
  ++first_round_;
  execute(std::move(all));
  return {};
}

Outcome Clique::match(Launch& launch, Entry& entry) {
  const Call& call = entry.call;
  const bool sends = call.kind == Kind::send;
  const std::pair<int, int> ends = sends ? std::pair(call.rank, call.peer) : std::pair(call.peer, call.rank);
  std::deque<Entry*>& others = unmatched_[{sends ? Kind::receive : Kind::send, ends}];
  if (others.empty()) {
    unmatched_[{call.kind, ends}].push_back(&entry);
    return {};
  }
  Entry& other = *others.front();
  if (other.call.count != call.count || other.call.type != call.type) {
    return fail("nccl-mismatch",
                fmt::format("a send and its receive do not agree on {}: rank {} calls {}, rank {} calls {}",
                            other.call.count != call.count ? "the count" : "the data type", other.call.rank,
                            words_with_line(other.call), call.rank, words_with_line(call)),
                call.code, other.call.code);
  }
  if (other.launch->thread == launch.thread && other.launch->group != launch.group)
    return missing_group(*other.launch, launch);
  others.pop_front();
  entry.partner = &other;
  other.partner = &entry;
  return {};
}

std::vector<Launch*> Clique::connected(Launch& first) {
  std::vector<Launch*> all{&first};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Entry& entry : all[i]->entries) {
      if (entry.partner == nullptr) return {};
      Launch* const other = entry.partner->launch;
      if (std::find(all.begin(), all.end(), other) == all.end()) all.push_back(other);
    }
  }
  return all;
}

void Clique::execute(std::vector<Launch*> launches) {
  std::vector<const Call*> calls;
  std::vector<std::vector<SimRange>> ranges(launches.size());
  std::vector<SimPartWork> work;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    for (const Entry& entry : launches[i]->entries) {
      calls.push_back(&entry.call);
      for (const SimRange& range : ranges_of(entry.call)) ranges[i].push_back(range);
    }
    work.push_back(
        {launches[i]->part, ranges[i].data(), ranges[i].size(), sources_of(launches, *launches[i]), 0, 0});
  }
  const Estimate estimate = estimate_of(calls);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Sent sent = sent_by(launches[i]->entries, estimate);
    work[i].n_messages = sent.n_messages;
    work[i].bytes_sent = sent.n_bytes;
  }
  simRunParts(work.data(), work.size(), estimate.us, move_launches, &launches);
  for (const Launch* launch : launches) open_.erase(launch->id);
  note_activity();
  changed_.notify_all();
}

int Clique::wait_for_launch(void* clique, unsigned long long id, int block) {
  return static_cast<Clique*>(clique)->wait(id, block != 0) ? 1 : 0;
}

bool Clique::wait(std::uint64_t id, bool block) {
  Guard guard(lock_);
  while (open_.contains(id)) {
    if (is_idle())
      (void)fail_because_idle();
    else if (!block)
      return false;
    else
      changed_.wait_for(guard, std::chrono::milliseconds(kPollMs));
  }
  return true;
}

void Clique::wait_for(ncclComm& comm) {
  std::set<std::uint64_t> ids;
  {
    const Guard guard(lock_);
    for (const auto& [id, launch] : open_)
      if (launch->comm == &comm) ids.insert(id);
  }
  for (const std::uint64_t id : ids) (void)wait(id, true);
}

void Clique::poll() {
  const Guard guard(lock_);
  if (!open_.empty() && is_idle()) (void)fail_because_idle();
}

void Clique::abort(ncclComm& comm) {
  const Guard guard(lock_);
  comm.state = ncclComm::State::aborted;
  if (error_.ok()) error_ = {ncclRemoteError, fmt::format("rank {} has called ncclCommAbort", comm.rank)};
  for (const auto& [id, launch] : open_) simFailPart(launch->part, 0);
  open_.clear();
  rounds_.clear();
  unmatched_.clear();
  changed_.notify_all();
}

std::string Clique::waiting_ranks() const {
  std::string text;
  for (const ncclComm_t comm : ranks_) {
    std::string waits;
    for (const auto& [id, launch] : open_) {
      if (launch->comm != comm) continue;
      for (const Entry& entry : launch->entries)
        if (entry.partner == nullptr)
          waits += fmt::format("{}{}", waits.empty() ? "" : " and ", words_with_line(entry.call));
    }
    const std::string error = comm->last_error.empty() ? "" : "; " + comm->last_error;
    if (!waits.empty())
      text += fmt::format("\n  rank {} waits in {}", comm->rank, waits);
    else if (!comm->last_call)
      text += fmt::format("\n  rank {} has made no call{}", comm->rank, error);
    else
      text += fmt::format("\n  rank {} is not in a call; its last one was {}{}", comm->rank,
                          words_with_line(*comm->last_call), error);
  }
  return text;
}

Outcome Clique::fail_because_idle() {
  const void* code = open_.begin()->second->entries.front().call.code;
  return fail("nccl-deadlock",
              "the ranks wait for calls that nobody makes, as no thread of the process runs; NCCL waits for "
              "ever:" +
                  waiting_ranks(),
              code, nullptr);
}

Outcome Clique::fail(const std::string& kind, const std::string& message, const void* code,
                     const void* other) {
  error_ = {ncclInvalidUsage, message, true};
  int device = 0;
  for (const ncclComm_t comm : ranks_) {
    if (comm == nullptr) continue;
    comm->last_error = message;
    device = comm->device;
  }
  if (!open_.empty()) device = open_.begin()->second->comm->device;
  simReportFault(device, kind.c_str(), message.c_str(), code, other);
  for (const auto& [id, launch] : open_) simFailPart(launch->part, 1);
  open_.clear();
  rounds_.clear();
  unmatched_.clear();
  changed_.notify_all();
  return error_;
}

void Clique::report_unfinished() {
  const Guard guard(lock_);
  if (open_.empty()) return;
  const void* code = open_.begin()->second->entries.front().call.code;
  (void)fail("nccl-unfinished",
             "the program ends while ranks wait for calls that nobody has made:" + waiting_ranks(), code,
             nullptr);
}

}  // namespace course::nccl
