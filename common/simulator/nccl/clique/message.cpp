// SPDX-License-Identifier: MIT
#include "nccl/clique/message.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

namespace course::nccl {
namespace {

bool receive_all(int fd, void* to, std::size_t n_bytes) {
  auto* at = static_cast<std::byte*>(to);
  while (n_bytes > 0) {
    const ssize_t n = recv(fd, at, n_bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    n_bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool send_all(int fd, const void* from, std::size_t n_bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  while (n_bytes > 0) {
    const ssize_t n = send(fd, at, n_bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    at += n;
    n_bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

// Opens a socket and calls bind() or connect() with the address.
template <typename Use>
int open_socket(pid_t process, std::uint64_t secret, Use use) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("{}{}-{:016x}", kSocketName, process, secret);
  std::ranges::copy(name, address.sun_path + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const auto n_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (use(fd, reinterpret_cast<const sockaddr*>(&address), n_bytes) == 0) return fd;
  close(fd);
  return -1;
}

}  // namespace

Message& Message::put_bytes(const void* from, std::size_t n_bytes) {
  std::byte* const to = append(n_bytes);
  if (n_bytes > 0) std::memcpy(to, from, n_bytes);
  return *this;
}

std::byte* Message::append(std::size_t n_bytes) {
  const std::size_t at = body_.size();
  body_.resize(at + n_bytes);
  return body_.data() + at;
}

const std::byte* Message::get_bytes(std::size_t n_bytes) {
  if (n_bytes > body_.size() - at_) throw std::out_of_range("a message of another process is too short");
  at_ += n_bytes;
  return body_.data() + at_ - n_bytes;
}

std::string Message::get_text() {
  const auto n_bytes = get<std::size_t>();
  return {reinterpret_cast<const char*>(get_bytes(n_bytes)), n_bytes};
}

void Connection::send(const Message& message) {
  const std::lock_guard guard(sending);
  const std::uint64_t n_bytes = message.body().size();
  if (fd >= 0 && send_all(fd, &n_bytes, sizeof n_bytes)) send_all(fd, message.body().data(), n_bytes);
}

std::optional<Message> Connection::receive() {
  std::uint64_t n_bytes = 0;
  if (!receive_all(fd, &n_bytes, sizeof n_bytes)) return std::nullopt;
  std::vector<std::byte> body(n_bytes);
  if (!receive_all(fd, body.data(), body.size())) return std::nullopt;
  return Message(std::move(body));
}

int listen_at(pid_t process, std::uint64_t secret) {
  const int fd = open_socket(process, secret, bind);
  if (fd >= 0 && listen(fd, SOMAXCONN) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

int connect_to(pid_t process, std::uint64_t secret) {
  return open_socket(process, secret, connect);
}

}  // namespace course::nccl
