// SPDX-License-Identifier: MIT
#include "nccl/clique/remote.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include "nccl/simulator/simulator.hpp"

namespace course::nccl {
namespace {

// The source line of a call. Looking it up takes long, so it is kept.
std::string line_of(const void* code) {
  static std::mutex lock;
  static auto& known = *new std::map<const void*, std::string>;
  const std::lock_guard guard(lock);
  const auto [found, is_new] = known.try_emplace(code);
  if (is_new) {
    std::array<char, 512> line{};
    simPlaceOfCode(code, line.data(), line.size());
    found->second = line.data();
  }
  return found->second;
}

}  // namespace

RemoteClique::RemoteClique(int n_ranks, int fd, pid_t process, std::uint64_t id) : Clique(n_ranks), id_(id) {
  server_.fd = fd;
  server_.pid = process;
  receiver_ = std::thread([this] { receive(); });
}

Outcome RemoteClique::join(int rank, int device, bool waits, const void* code, ncclComm_t* out) {
  Message join(Tag::join);
  join.put(id_).put(size()).put(rank).put(device).put(n_devices()).put(waits).put_text(line_of(code));
  server_.send(join);
  Guard guard(lock_);
  changed_.wait(guard, [&] { return answers_.contains(rank) || lost_; });
  if (answers_.contains(rank)) {
    Outcome outcome = answers_.extract(rank).mapped();
    if (!outcome.ok()) return outcome;
  } else if (!complete_) {  // else the server ended before it answered, but all ranks have joined
    if (error_.ok()) fail_because_lost();
    return error_;
  }
  auto comm = std::make_unique<ncclComm>();
  comm->clique = this;
  comm->rank = rank;
  comm->device = device;
  ranks_.push_back(*out = comm.release());
  return {};
}

Outcome RemoteClique::wait_until_complete(const void* /*code*/) {
  Guard guard(lock_);
  changed_.wait(guard, [&] { return complete_ || lost_ || !error_.ok(); });
  if (!complete_ && error_.ok()) fail_because_lost();
  return complete_ ? Outcome{} : error_;  // later errors are those of later calls
}

bool RemoteClique::is_complete() {
  const Guard guard(lock_);
  return complete_;
}

Outcome RemoteClique::launch(ncclComm& comm, std::uint64_t group, std::vector<Call> calls) {
  Message launch(Tag::launch);
  {
    const Guard guard(lock_);
    if (error_.ok() && lost_) fail_because_lost();
    if (!error_.ok()) return error_;
    const std::uint64_t id = next_id_++;
    SimPart* const part = simEnterPart(calls.front().stream, comm.device,
                                       fmt::format("{} of rank {}", calls.back().function, comm.rank).c_str(),
                                       wait_for_launch, static_cast<Clique*>(this), id);
    launch.put(comm.rank).put(id).put(group).put(gettid()).put(simPartReady(part)).put(calls.size());
    for (const Call& call : calls) {
      launch.put(call.kind).put(call.count).put(call.type).put(call.peer);
      launch.put(call.reduction).put_text(call.function).put_text(line_of(call.code));
    }
    for (const Call& call : calls)
      for (const SimRange& range : ranges_of(call))
        if (range.writes == 0) simReadMemory(launch.append(range.n_bytes), range.start, range.n_bytes);
    open_.emplace(id, Open{&comm, part, std::move(calls)});
  }
  // Not under the lock, which the receiver needs: the other process may be sending to this one.
  server_.send(launch);
  return {};
}

bool RemoteClique::wait(std::uint64_t id, bool block) {
  if (!block) poll();
  Guard guard(lock_);
  if (block) changed_.wait(guard, [&] { return !open_.contains(id); });
  return !open_.contains(id);
}

std::vector<std::uint64_t> RemoteClique::open_launches(const ncclComm& comm) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, launch] : open_)
    if (launch.comm == &comm) ids.push_back(id);
  return ids;
}

void RemoteClique::poll() {
  thread_local std::chrono::steady_clock::time_point last;
  const auto now = std::chrono::steady_clock::now();
  if (now - last < std::chrono::milliseconds(100)) return;
  last = now;
  server_.send(Message(Tag::asks).put(gettid()));
}

void RemoteClique::abort(ncclComm& comm) {
  {
    const Guard guard(lock_);
    comm.state = ncclComm::State::aborted;
    end_all({ncclRemoteError, fmt::format("rank {} has called ncclCommAbort", comm.rank)}, "", false, false);
  }
  server_.send(Message(Tag::abort).put(comm.rank));
  left(comm);
}

void RemoteClique::left(ncclComm&) {
  const Guard guard(lock_);
  const auto has_left = [](const ncclComm* comm) {
    return comm->state == ncclComm::State::destroyed || comm->state == ncclComm::State::aborted;
  };
  if (std::ranges::all_of(ranks_, has_left)) shutdown(server_.fd, SHUT_WR);
}

void RemoteClique::note_error(ncclComm& comm, const std::string& message) {
  Clique::note_error(comm, message);
  server_.send(Message(Tag::note).put(comm.rank).put_text(message));
}

// The other process answers everything that it has received, and closes the connection.
void RemoteClique::report_unfinished() {
  {
    const Guard guard(lock_);
    leaving_ = true;
  }
  shutdown(server_.fd, SHUT_WR);
  receiver_.join();
  const Guard guard(lock_);
  if (open_.empty()) return;
  std::string text;
  for (const auto& [id, launch] : open_)
    for (const Call& call : launch.calls)
      text += fmt::format("\n  rank {} waits in {}", launch.comm->rank, words_with_line(call));
  end_all({ncclInvalidUsage, "the program ends while ranks wait for calls that nobody has made:" + text},
          "nccl-unfinished", true, true);
}

void RemoteClique::receive() {
  try {
    while (std::optional<Message> message = server_.receive()) handle(*message);
  } catch (const std::exception& problem) {
    say(fmt::format("the communicator of process {}: {}", server_.pid, problem.what()));
  }
  const Guard guard(lock_);
  lost_ = true;
  if (!open_.empty() && !leaving_) fail_because_lost();
  changed_.notify_all();
}

void RemoteClique::handle(Message& message) {
  const Guard guard(lock_);
  switch (message.get<Tag>()) {
    case Tag::joined: {
      const int rank = message.get<int>();
      Outcome& answer = answers_[rank];
      answer.result = message.get<ncclResult_t>();
      answer.reported = message.get<bool>();
      answer.message = message.get_text();
      break;
    }
    case Tag::complete: complete_ = true; break;
    case Tag::done: execute(message); break;
    case Tag::failed: {
      Outcome error{message.get<ncclResult_t>(), message.get_text(), true};
      const std::string kind = message.get_text();
      end_all(error, kind, message.get<bool>(), false);
      break;
    }
    default: break;
  }
  changed_.notify_all();
}

void RemoteClique::execute(Message& done) {
  const auto start = done.get<double>(), us = done.get<double>();
  const auto n = done.get<std::size_t>();
  struct Copy {
    void* to;
    const std::byte* from;
    std::size_t n_bytes;
  };
  std::vector<Copy> copies;
  std::vector<std::vector<SimRange>> ranges(n);
  std::vector<SimPartWork> work;
  for (std::size_t i = 0; i < n; ++i) {
    const auto id = done.get<std::uint64_t>();
    const auto after = done.get<unsigned long long>();
    const auto n_messages = done.get<std::uint64_t>(), n_bytes = done.get<std::uint64_t>();
    done.get<std::size_t>();
    const auto launch = open_.find(id);
    if (launch == open_.end()) return;  // they have failed meanwhile, all of them
    for (const Call& call : launch->second.calls)
      for (const SimRange& range : ranges_of(call)) {
        ranges[i].push_back(range);
        if (range.writes != 0)
          copies.push_back({const_cast<void*>(range.start), done.get_bytes(range.n_bytes), range.n_bytes});
      }
    work.push_back({launch->second.part, ranges[i].data(), ranges[i].size(), after, n_messages, n_bytes});
    open_.erase(launch);
  }
  const auto write = [](void* user) {
    for (const Copy& copy : *static_cast<const std::vector<Copy>*>(user))
      if (copy.n_bytes > 0) std::memcpy(copy.to, copy.from, copy.n_bytes);
  };
  simRunParts(work.data(), work.size(), start, us, write, &copies);
}

void RemoteClique::end_all(const Outcome& error, const std::string& kind, bool fault, bool prints) {
  if (!error_.ok()) return;
  error_ = error;
  error_.reported = true;
  for (const ncclComm_t comm : ranks_) comm->last_error = error.message;
  if (!kind.empty()) {
    const int device = ranks_.empty() ? current_device() : ranks_.front()->device;
    const void* const code = open_.empty() ? nullptr : open_.begin()->second.calls.front().code;
    simReportFault(device, kind.c_str(), error.message.c_str(), code, nullptr, prints ? 1 : 0);
  }
  for (const auto& [id, launch] : open_) simFailPart(launch.part, fault ? 1 : 0);
  open_.clear();
  changed_.notify_all();
}

void RemoteClique::fail_because_lost() {
  end_all({ncclRemoteError, fmt::format("process {}, which made the unique id, has ended", server_.pid)},
          "nccl-lost-rank", true, true);
}

}  // namespace course::nccl
