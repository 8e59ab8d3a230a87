// SPDX-License-Identifier: MIT
#include "nccl/clique/matcher.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "nccl/clique/idle.hpp"
#include "nccl/clique/message.hpp"
#include "nccl/operation/model.hpp"
#include "nccl/operation/move.hpp"
#include "nccl/simulator/simulator.hpp"

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
      operands.push_back({static_cast<unsigned>(call.kind), static_cast<unsigned>(call.type),
                          static_cast<unsigned>(call.reduction), call.rank, call.n_ranks, call.peer,
                          launch->comm->device, 0, reinterpret_cast<unsigned long long>(call.send),
                          reinterpret_cast<unsigned long long>(call.receive), call.count});
    }
  }
  if (operate_elsewhere(operands)) return;
  const Call& first = launches.front()->entries.front().call;
  if (!is_point_to_point(first.kind)) {
    std::vector<Call> calls;
    calls.reserve(launches.size());
    for (const Launch* launch : launches) calls.push_back(launch->entries.front().call);
    move_collective(calls);
    return;
  }
  for (const Launch* launch : launches)
    for (const Entry& entry : launch->entries)
      if (entry.call.kind == Kind::receive) move_message(entry.partner->call, entry.call);
}

// Makes the receive buffers of a launch of another process.
void make_receive_buffers(Launch& launch) {
  std::size_t n_bytes = 0;
  const auto each = [&](auto use) {
    for (Entry& entry : launch.entries)
      for (const SimRange& range : ranges_of(entry.call))
        if (range.writes != 0) use(entry.call, range.n_bytes);
  };
  each([&](Call&, std::size_t n) { n_bytes += n; });
  launch.to_return.resize(n_bytes);
  std::byte* at = launch.to_return.data();
  each([&](Call& call, std::size_t n) { call.receive = std::exchange(at, at + n); });
}

// What a rank sends to other ranks in one launch.
Sent sent_in(const Launch& launch, const Estimate& estimate) {
  Sent all;
  for (const Entry& entry : launch.entries) {
    const Sent sent = sent_by(entry.call, estimate.algorithm);
    all.n_messages += sent.n_messages;
    all.n_bytes += sent.n_bytes;
  }
  return all;
}

bool waits_for_others(const ncclComm* comm) {
  return comm != nullptr && comm->waits;
}

}  // namespace

Outcome Matcher::join(int rank, int device, bool waits, const void* code, ncclComm_t* out) {
  auto comm = std::make_unique<ncclComm>();
  comm->rank = rank;
  comm->device = device;
  comm->waits = waits;
  comm->code = code;
  return add(std::move(comm), nccl::n_devices(), out);
}

Outcome Matcher::add(std::unique_ptr<ncclComm> comm, int n_devices, ncclComm_t* out) {
  const Guard guard(lock_);
  if (!error_.ok()) return error_;
  const auto rank = static_cast<std::size_t>(comm->rank);
  if (ranks_[rank] != nullptr)
    return {ncclInvalidUsage, fmt::format("rank {} joins the communicator twice", rank)};
  n_devices_.resize(ranks_.size());
  n_devices_[rank] = n_devices;
  for (const ncclComm_t other : ranks_) {
    if (other == nullptr || other->device != comm->device) continue;
    // Two processes that see a device for every rank are assumed to run on one host, where equal numbers mean
    // the same device.
    const bool one_host = std::min(n_devices, n_devices_[static_cast<std::size_t>(other->rank)]) >= size();
    if (other->process == comm->process || one_host) {
      return {ncclInvalidUsage, fmt::format("rank {} and rank {} are both on device {}: call cudaSetDevice "
                                            "before ncclCommInitRank",
                                            other->rank, rank, comm->device)};
    }
  }
  comm->clique = this;
  *out = ranks_[rank] = comm.release();
  if (!incomplete())
    for (Connection* process : processes()) process->send(Message(Tag::complete));
  changed_.notify_all();
  return {};
}

bool Matcher::incomplete() const {
  return std::ranges::count(ranks_, nullptr) != 0;
}

bool Matcher::is_complete() {
  const Guard guard(lock_);
  return !incomplete();
}

std::vector<Connection*> Matcher::processes() const {
  std::vector<Connection*> all;
  for (const ncclComm_t comm : ranks_)
    if (comm != nullptr && comm->process != nullptr && !comm->gone &&
        std::ranges::find(all, comm->process) == all.end())
      all.push_back(comm->process);
  return all;
}

Outcome Matcher::wait_until_complete(const void* code) {
  Guard guard(lock_);
  while (error_.ok() && incomplete()) {
    changed_.wait_for(guard, std::chrono::milliseconds(kPollMs));
    if (incomplete() && error_.ok() && is_idle(true)) return fail_because_missing(code);
  }
  return incomplete() ? error_ : Outcome{};  // later errors are those of later calls
}

Outcome Matcher::fail_because_missing(const void* code) {
  std::string missing, waiting;
  for (int r = 0; r < size(); ++r) {
    const ncclComm_t comm = ranks_[static_cast<std::size_t>(r)];
    if (comm == nullptr)
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", r);
    else if (waits_for_others(comm))
      waiting += fmt::format("\n  rank {} waits in ncclCommInitRank{}", r, at_line(comm->code, comm->place));
  }
  return fail("nccl-missing-rank",
              fmt::format("a communicator of {} ranks waits for rank {}, and nobody makes that call: each "
                          "rank needs a process or thread of its own, or the calls of ncclCommInitRank of "
                          "one thread stand between ncclGroupStart and ncclGroupEnd{}",
                          size(), missing, waiting),
              code, nullptr);
}

Outcome Matcher::launch(ncclComm& comm, std::uint64_t group, std::vector<Call> calls) {
  const Guard guard(lock_);
  if (!error_.ok()) return error_;
  auto owned = std::make_unique<Launch>();
  owned->id = next_id_++;
  owned->comm = &comm;
  owned->thread = gettid();
  owned->group = group;
  owned->part = simEnterPart(calls.front().stream, comm.device,
                             fmt::format("{} of rank {}", calls.back().function, comm.rank).c_str(),
                             wait_for_launch, static_cast<Clique*>(this), owned->id);
  for (Call& call : calls) owned->entries.push_back({std::move(call), nullptr, nullptr});
  return enter(std::move(owned));
}

void Matcher::arrive(std::unique_ptr<Launch> launch) {
  const Guard guard(lock_);
  if (!error_.ok()) return;  // the process will know soon
  launch->id = next_id_++;
  (void)enter(std::move(launch));
}

Outcome Matcher::enter(std::unique_ptr<Launch> owned) {
  Launch& launch = *owned;
  open_.emplace(launch.id, std::move(owned));
  for (Entry& entry : launch.entries) entry.launch = &launch;
  launch.comm->last_call = launch.entries.back().call;
  if (!is_point_to_point(launch.entries.front().call.kind)) {
    if (Outcome outcome = enter_collective(launch); !outcome.ok()) return outcome;
    return check_gone();
  }
  for (Entry& entry : launch.entries)
    if (Outcome outcome = match(launch, entry); !outcome.ok()) return outcome;
  if (std::vector<Launch*> all = connected(launch); !all.empty()) execute(std::move(all));
  return check_gone();
}

Outcome Matcher::missing_group(const Launch& first, const Launch& second) {
  const Call &a = first.entries.front().call, &b = second.entries.front().call;
  return fail("nccl-missing-group",
              fmt::format("one thread calls {} for rank {} and then {} for rank {}, not in one group: NCCL "
                          "may wait in the first call forever. Put the calls of all ranks between "
                          "ncclGroupStart and ncclGroupEnd",
                          words_with_line(a), first.comm->rank, words_with_line(b), second.comm->rank),
              b.code, a.code);
}

Outcome Matcher::enter_collective(Launch& launch) {
  launch.round = launch.comm->n_collectives++;
  const std::uint64_t index = launch.round - first_round_;
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
  if (std::ranges::count(round, nullptr) != 0) return {};
  // Each rank enters its rounds in order, so the first one is complete first.
  std::vector<Launch*> all = std::move(round);
  rounds_.pop_front();
  ++first_round_;
  execute(std::move(all));
  return {};
}

Outcome Matcher::match(Launch& launch, Entry& entry) {
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

std::vector<Launch*> Matcher::connected(Launch& first) {
  std::vector<Launch*> all{&first};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Entry& entry : all[i]->entries) {
      if (entry.partner == nullptr) return {};
      Launch* const other = entry.partner->launch;
      if (std::ranges::find(all, other) == all.end()) all.push_back(other);
    }
  }
  return all;
}

void Matcher::execute(std::vector<Launch*> launches) {
  std::vector<const Call*> calls;
  std::vector<Launch*> here;
  std::map<Connection*, std::vector<Launch*>> there;
  double start = 0;
  for (Launch* launch : launches) {
    Connection* const process = launch->comm->process;
    start = std::max(start, process == nullptr ? simPartReady(launch->part) : launch->ready);
    (process == nullptr ? here : there[process]).push_back(launch);
    for (const Entry& entry : launch->entries) calls.push_back(&entry.call);
    if (process != nullptr) make_receive_buffers(*launch);
  }
  const Estimate estimate = estimate_of(calls);
  std::vector<std::vector<SimRange>> ranges(here.size());
  std::vector<SimPartWork> work;
  for (std::size_t i = 0; i < here.size(); ++i) {
    for (const Entry& entry : here[i]->entries)
      for (const SimRange& range : ranges_of(entry.call)) ranges[i].push_back(range);
    const Sent sent = sent_in(*here[i], estimate);
    work.push_back({here[i]->part, ranges[i].data(), ranges[i].size(), sources_of(here, *here[i]),
                    sent.n_messages, sent.n_bytes});
  }
  simRunParts(work.data(), work.size(), start, estimate.us, move_launches, &launches);
  for (const auto& [process, theirs] : there) {
    Message done(Tag::done);
    done.put(start).put(estimate.us).put(theirs.size());
    for (const Launch* launch : theirs) {
      const Sent sent = sent_in(*launch, estimate);
      done.put(launch->id_there).put(sources_of(theirs, *launch)).put(sent.n_messages).put(sent.n_bytes);
      done.put(launch->to_return.size()).put_bytes(launch->to_return.data(), launch->to_return.size());
    }
    process->send(done);
  }
  for (const Launch* launch : launches) open_.erase(launch->id);
  note_activity();
  changed_.notify_all();
}

bool Matcher::wait(std::uint64_t id, bool block) {
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

std::vector<std::uint64_t> Matcher::open_launches(const ncclComm& comm) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, launch] : open_)
    if (launch->comm == &comm) ids.push_back(id);
  return ids;
}

void Matcher::poll() {
  const Guard guard(lock_);
  if (!error_.ok()) return;
  if (!open_.empty() && is_idle())
    (void)fail_because_idle();
  else if (incomplete() && std::ranges::any_of(ranks_, waits_for_others) && is_idle(true))
    (void)fail_because_missing(nullptr);
}

void Matcher::abort(ncclComm& comm) {
  const Guard guard(lock_);
  comm.state = ncclComm::State::aborted;
  if (error_.ok()) error_ = {ncclRemoteError, fmt::format("rank {} has called ncclCommAbort", comm.rank)};
  end_all("", false);
}

void Matcher::lose(const Connection* process) {
  const Guard guard(lock_);
  for (const ncclComm_t comm : ranks_)
    if (comm != nullptr && comm->process == process) comm->gone = true;
  if (error_.ok()) (void)check_gone();
}

bool Matcher::serves_others() {
  const Guard guard(lock_);
  return error_.ok() && !processes().empty();
}

Outcome Matcher::check_gone() {
  const auto is_gone = [&](int rank) {
    const ncclComm_t comm = ranks_[static_cast<std::size_t>(rank)];
    return comm != nullptr && comm->gone;
  };
  const auto lost = [&](int rank, const std::string& when, const void* code) {
    return fail("nccl-lost-rank", fmt::format("the process of rank {} has ended {}", rank, when), code,
                nullptr, ncclRemoteError);
  };
  if (incomplete() && std::ranges::any_of(ranks_, waits_for_others))
    for (int rank = 0; rank < size(); ++rank)
      if (is_gone(rank)) return lost(rank, "before all ranks have called ncclCommInitRank", nullptr);
  for (const auto& [id, launch] : open_) {
    if (launch->comm->gone)
      return lost(launch->comm->rank, "before its call has been executed:" + waiting_ranks(), nullptr);
    for (const Entry& entry : launch->entries) {
      for (int rank = 0; rank < size(); ++rank) {
        const bool needed =
            is_point_to_point(entry.call.kind)
                ? entry.partner == nullptr && rank == entry.call.peer
                : rounds_[launch->round - first_round_][static_cast<std::size_t>(rank)] == nullptr;
        if (needed && is_gone(rank))
          return lost(rank, "while other ranks wait for it:" + waiting_ranks(), entry.call.code);
      }
    }
  }
  return {};
}

std::string Matcher::waiting_ranks() const {
  std::string text;
  for (const ncclComm_t comm : ranks_) {
    if (comm == nullptr) continue;
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

Outcome Matcher::fail_because_idle() {
  const void* code = open_.begin()->second->entries.front().call.code;
  const bool any_alone = std::ranges::any_of(open_, [](const auto& one) {
    const Entry& entry = one.second->entries.front();
    const bool is_one_ended = entry.call.kind == Kind::send || entry.call.kind == Kind::receive;
    return is_one_ended && one.second->entries.size() == 1 && entry.partner == nullptr;
  });
  return fail("nccl-deadlock",
              fmt::format("the ranks wait for calls that nobody makes, as no thread of the {} runs;{} NCCL "
                          "waits forever:{}",
                          processes().empty() ? "process" : "processes",
                          any_alone ? " a send or receive on its own waits for its partner: calls that need "
                                      "each other belong between ncclGroupStart() and ncclGroupEnd();"
                                    : "",
                          waiting_ranks()),
              code, nullptr);
}

Outcome Matcher::fail(const std::string& kind, const std::string& message, const void* code,
                      const void* other, ncclResult_t result) {
  error_ = {result, message, true};
  int device = 0;
  for (const ncclComm_t comm : ranks_) {
    if (comm == nullptr) continue;
    comm->last_error = message;
    if (comm->process == nullptr) device = comm->device;
  }
  for (auto launch = open_.rbegin(); launch != open_.rend(); ++launch)  // preferably the first one that waits
    if (launch->second->part != nullptr) device = launch->second->comm->device;
  simReportFault(device, kind.c_str(), message.c_str(), code, other, 1);
  end_all(kind, true);
  return error_;
}

void Matcher::end_all(const std::string& kind, bool fault) {
  for (const auto& [id, launch] : open_)
    if (launch->part != nullptr) simFailPart(launch->part, fault ? 1 : 0);
  open_.clear();
  rounds_.clear();
  unmatched_.clear();
  Message failed(Tag::failed);
  failed.put(error_.result).put_text(error_.message).put_text(kind).put(fault);
  for (Connection* process : processes()) process->send(failed);
  changed_.notify_all();
}

void Matcher::report_unfinished() {
  const Guard guard(lock_);
  for (const auto& [id, launch] : open_) {
    if (launch->part == nullptr) continue;
    (void)fail("nccl-unfinished",
               "the program ends while ranks wait for calls that nobody has made:" + waiting_ranks(),
               launch->entries.front().call.code, nullptr);
    return;
  }
}

}  // namespace course::nccl
