// SPDX-License-Identifier: MIT
#include "protocol/packets.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace course::lab {

Result<void> send_packet(int fd, PacketKind kind, std::span<const std::byte> body) {
  if (body.size() > kMaxPacketBytes) return Error{"a packet of " + std::to_string(body.size()) + " bytes"};
  std::array<iovec, 2> parts{{{&kind, sizeof kind}, {const_cast<std::byte*>(body.data()), body.size()}}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  ssize_t n_bytes = 0;
  do {
    n_bytes = sendmsg(fd, &header, MSG_NOSIGNAL);
  } while (n_bytes < 0 && errno == EINTR);
  if (n_bytes < 0) return Error{std::string("sending a packet: ") + std::strerror(errno)};
  return {};
}

Result<std::optional<Packet>> receive_packet(int fd) {
  // Reused, because clearing it for each packet would take longer than receiving the packet.
  static thread_local std::vector<std::byte> buffer(kMaxPacketBytes);
  Packet packet;
  std::array<iovec, 2> parts{{{&packet.kind, sizeof packet.kind}, {buffer.data(), buffer.size()}}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  ssize_t n_bytes = 0;
  do {
    n_bytes = recvmsg(fd, &header, MSG_CMSG_CLOEXEC | MSG_TRUNC);
  } while (n_bytes < 0 && errno == EINTR);
  if (n_bytes == 0 || (n_bytes < 0 && errno == ECONNRESET)) return std::optional<Packet>();
  if (n_bytes < 0) return Error{std::string("receiving a packet: ") + std::strerror(errno)};
  const auto size = static_cast<std::size_t>(n_bytes);
  if (size < sizeof packet.kind || size > sizeof packet.kind + kMaxPacketBytes)
    return Error{"a packet of " + std::to_string(size) + " bytes"};
  packet.body.assign(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size - sizeof packet.kind));
  return std::optional<Packet>(std::move(packet));
}

}  // namespace course::lab
