// SPDX-License-Identifier: MIT
#include "protocol/packets.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace course::lab {

Result<void> send_parts(int fd, std::span<iovec> parts, int attached) {
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof attached)> control{};
  if (attached >= 0) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    cmsghdr* attachment = CMSG_FIRSTHDR(&header);
    attachment->cmsg_level = SOL_SOCKET;
    attachment->cmsg_type = SCM_RIGHTS;
    attachment->cmsg_len = CMSG_LEN(sizeof attached);
    std::memcpy(CMSG_DATA(attachment), &attached, sizeof attached);
  }
  ssize_t n_bytes = 0;
  do {
    n_bytes = sendmsg(fd, &header, MSG_NOSIGNAL);
  } while (n_bytes < 0 && errno == EINTR);
  if (n_bytes < 0) return Error{std::string("sending a packet: ") + std::strerror(errno)};
  return {};
}

Result<std::size_t> receive_parts(int fd, std::span<iovec> parts, int* attached) {
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof *attached)> control{};
  if (attached != nullptr) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  ssize_t n_bytes = 0;
  do {
    n_bytes = recvmsg(fd, &header, MSG_CMSG_CLOEXEC | MSG_TRUNC);
  } while (n_bytes < 0 && errno == EINTR);
  if (n_bytes < 0 && errno != ECONNRESET)
    return Error{std::string("receiving a packet: ") + std::strerror(errno)};
  if (const cmsghdr* attachment = attached != nullptr ? CMSG_FIRSTHDR(&header) : nullptr;
      attachment != nullptr && attachment->cmsg_level == SOL_SOCKET && attachment->cmsg_type == SCM_RIGHTS &&
      attachment->cmsg_len == CMSG_LEN(sizeof *attached))
    std::memcpy(attached, CMSG_DATA(attachment), sizeof *attached);
  return static_cast<std::size_t>(n_bytes < 0 ? 0 : n_bytes);
}

Result<void> send_packet(int fd, PacketKind kind, std::span<const std::byte> body) {
  if (body.size() > kMaxPacketBytes) return Error{"a packet of " + std::to_string(body.size()) + " bytes"};
  std::array<iovec, 2> parts{{{&kind, sizeof kind}, {const_cast<std::byte*>(body.data()), body.size()}}};
  return send_parts(fd, parts);
}

Result<std::optional<Packet>> receive_packet(int fd) {
  static thread_local std::vector<std::byte> buffer(kMaxPacketBytes);
  Packet packet;
  std::array<iovec, 2> parts{{{&packet.kind, sizeof packet.kind}, {buffer.data(), buffer.size()}}};
  const auto size = receive_parts(fd, parts);
  if (!size) return size.error();
  if (*size == 0) return std::optional<Packet>();
  if (*size < sizeof packet.kind || *size > sizeof packet.kind + kMaxPacketBytes)
    return Error{"a packet of " + std::to_string(*size) + " bytes"};
  packet.body.assign(buffer.begin(),
                     buffer.begin() + static_cast<std::ptrdiff_t>(*size - sizeof packet.kind));
  return std::optional<Packet>(std::move(packet));
}

}  // namespace course::lab
