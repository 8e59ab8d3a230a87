// SPDX-License-Identifier: MIT
#include "nccl/communicators/server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

#include "nccl/clique/idle.hpp"
#include "nccl/clique/message.hpp"
#include "nccl/communicators/communicators.hpp"
#include "nccl/simulator/simulator.hpp"

namespace course::nccl {
namespace {

struct Server {
  std::mutex lock;
  std::uint64_t secret = 0;
  int listener = -1;
  std::set<Matcher*> in_use;  // by other processes
  std::size_t n_connected = 0;
};
Server& server() {
  static auto& one = *new Server;
  return one;
}

// What a process has sent, or sends now.
class Client {
 public:
  explicit Client(Connection& connection) : connection_(connection) {}

  void serve() {
    while (std::optional<Message> message = connection_.receive()) handle(*message);
  }
  Matcher* matcher() const { return matcher_; }

 private:
  void handle(Message& message) {
    const Tag tag = message.get<Tag>();
    if (tag == Tag::asks) {
      note_asking(message.get<pid_t>());
      return;
    }
    note_activity();
    if (tag == Tag::join) {
      join(message);
      return;
    }
    const int rank = message.get<int>();
    const auto known = std::ranges::find_if(ranks_, [&](const ncclComm* comm) { return comm->rank == rank; });
    if (known == ranks_.end()) throw std::runtime_error("a rank calls that has not joined");
    switch (tag) {
      case Tag::launch: launch(**known, message); break;
      case Tag::abort: matcher_->abort(**known); break;
      case Tag::note: matcher_->note_error(**known, message.get_text()); break;
      default: break;
    }
  }

  void join(Message& message) {
    auto comm = std::make_unique<ncclComm>();
    const auto id = message.get<std::uint64_t>();
    const int n_ranks = message.get<int>(), rank = message.get<int>();
    comm->rank = rank;
    comm->device = message.get<int>();
    comm->process = &connection_;
    const int n_devices = message.get<int>();
    comm->waits = message.get<bool>();
    comm->place = message.get_text();
    Outcome outcome = find_matcher(id, n_ranks, matcher_);
    if (outcome.ok()) {
      {
        const std::lock_guard guard(server().lock);
        server().in_use.insert(matcher_);
      }
      ncclComm_t added = nullptr;
      outcome = matcher_->add(std::move(comm), n_devices, &added);
      if (outcome.ok()) ranks_.push_back(added);
    }
    connection_.send(
        Message(Tag::joined).put(rank).put(outcome.result).put(outcome.reported).put_text(outcome.message));
  }

  void launch(ncclComm& comm, Message& message) {
    auto launch = std::make_unique<Launch>();
    launch->comm = &comm;
    launch->id_there = message.get<std::uint64_t>();
    launch->group = message.get<std::uint64_t>();
    launch->thread = message.get<pid_t>();
    launch->ready = message.get<double>();
    std::size_t n_bytes = 0;
    for (auto left = message.get<std::size_t>(); left > 0; --left) {
      Call call;
      call.kind = message.get<Kind>();
      call.count = message.get<std::size_t>();
      call.type = message.get<ncclDataType_t>();
      call.peer = message.get<int>();
      call.reduction = message.get<ncclRedOp_t>();
      call.function = kept(message.get_text());
      call.place = message.get_text();
      call.rank = comm.rank;
      call.n_ranks = matcher_->size();
      for (const SimRange& range : ranges_of(call))
        if (range.writes == 0) n_bytes += range.n_bytes;
      launch->entries.push_back({std::move(call), nullptr, nullptr});
    }
    const std::byte* const sent = message.get_bytes(n_bytes);
    launch->sent.assign(sent, sent + n_bytes);
    const std::byte* at = launch->sent.data();
    for (Entry& entry : launch->entries)
      for (const SimRange& range : ranges_of(entry.call))
        if (range.writes == 0) entry.call.send = std::exchange(at, at + range.n_bytes);
    matcher_->arrive(std::move(launch));
  }

  // Calls refer to the names of functions.
  static const char* kept(const std::string& name) {
    static std::mutex lock;
    static auto& names = *new std::set<std::string>;
    const std::lock_guard guard(lock);
    return names.insert(name).first->c_str();
  }

  Connection& connection_;
  Matcher* matcher_ = nullptr;
  std::vector<ncclComm_t> ranks_;
};

void serve_connection(int fd, pid_t pid) {
  auto& connection = *new Connection;  // communicators refer to it
  connection.fd = fd;
  connection.pid = pid;
  watch_process(pid, true);
  Client client(connection);
  try {
    client.serve();
  } catch (const std::exception& problem) {
    say(fmt::format("process {} leaves its communicator: {}", pid, problem.what()));
  }
  watch_process(pid, false);
  if (client.matcher() != nullptr) client.matcher()->lose(&connection);
  {
    const std::lock_guard guard(connection.sending);
    connection.fd = -1;
  }
  close(fd);
  const std::lock_guard guard(server().lock);
  --server().n_connected;
}

void accept_connections() {
  constexpr int kLookMs = 50;
  while (true) {
    std::set<Matcher*> matchers;
    bool connected = false;
    {
      const std::lock_guard guard(server().lock);
      matchers = server().in_use;
      connected = server().n_connected > 0;
    }
    pollfd listener{server().listener, POLLIN, 0};
    if (poll(&listener, 1, connected ? kLookMs : -1) <= 0) {
      for (Matcher* matcher : matchers) matcher->poll();
      continue;
    }
    const int fd = accept4(server().listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ucred who{};
    socklen_t n_bytes = sizeof who;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n_bytes) != 0 || who.uid != geteuid()) {
      close(fd);
      continue;
    }
    const std::lock_guard guard(server().lock);
    ++server().n_connected;
    std::thread(serve_connection, fd, who.pid).detach();
  }
}

}  // namespace

std::uint64_t serve() {
  const std::lock_guard guard(server().lock);
  if (server().secret != 0) return server().secret;
  std::uint64_t secret = 0;
  if (getrandom(&secret, sizeof secret, 0) != sizeof secret || secret == 0) return 0;
  server().listener = listen_at(getpid(), secret);
  if (server().listener < 0) return 0;
  std::thread(accept_connections).detach();
  return server().secret = secret;
}

void wait_for_others() {
  const auto needed = [] {
    const std::lock_guard guard(server().lock);
    return std::any_of(server().in_use.begin(), server().in_use.end(),
                       [](Matcher* matcher) { return matcher->serves_others(); });
  };
  while (needed() && !is_idle()) std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
}

}  // namespace course::nccl
