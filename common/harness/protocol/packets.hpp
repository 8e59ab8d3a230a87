// SPDX-License-Identifier: MIT
// The packets between the student's process and the device's process on the simulator
// (common/harness/remote): a kind and a body of plain values, over a SOCK_SEQPACKET socket. The device's
// process trusts none of them.
// Invariant: a PacketReader never reads outside its packet; after a failed read ok() is false and every value
// is zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.hpp"

struct iovec;

namespace course::lab {

// The descriptor of this channel in the student's process, and in the device's process (whose channel to the
// verifier is 3).
inline constexpr int kDeviceFd = 3;
inline constexpr int kHostFd = 4;
// Exit codes of the device's process when the student's process ended during a call, ended before it sent
// anything in a call, or sent an invalid packet.
inline constexpr int kExitHostLost = 9, kExitEndedBeforeCall = 10, kExitProtocolError = 11;
// The student's program is started with this argument if the device is another process.
inline constexpr const char* kCalled = "--called";

inline constexpr std::size_t kMaxPacketBytes = 64 * 1024;

enum class PacketKind : std::uint32_t {
  // from the student's process
  ready = 1,    // once, at the start
  finished,     // the answer to a call: FinishedCall
  find_kernel,  // this and the following: common/harness/remote/requests.hpp
  find_symbol,
  launch,
  occupancy,
  allocate,
  release,
  find,
  free_bytes,
  store,
  fill,
  read,
  operate,
  report,
  crashed,  // the last one: a CrashNote
  // from the device's process
  call,  // run the task: a Request
  answer,
};

// What the student's process knows when its host code reads or writes an invalid address.
struct CrashNote {
  std::uint64_t address = 0;          // that it has accessed
  std::uint64_t overflows_stack = 0;  // 1: the address lies beyond the end of the stack
  std::uint64_t missing_bytes = 0;    // of the stack
  // The call whose return address occurs most often on the stack, in the program's file; 0: none.
  std::uint64_t repeated_call = 0, n_repeats = 0;
  // Instructions in the program's file, the innermost call first; 0: no more.
  std::uint64_t calls[8] = {};
};

struct Packet {
  PacketKind kind = PacketKind::ready;
  std::vector<std::byte> body;
};

class PacketWriter {
 public:
  template <typename T>
  PacketWriter& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    return put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  PacketWriter& put_bytes(std::span<const std::byte> bytes) {
    body_.insert(body_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  // The length, then the characters; at most kMaxPacketBytes / 4 of them.
  PacketWriter& put_text(std::string_view text) {
    text = text.substr(0, kMaxPacketBytes / 4);
    put(static_cast<std::uint32_t>(text.size()));
    return put_bytes(std::as_bytes(std::span(text)));
  }
  std::span<const std::byte> body() const { return body_; }

 private:
  std::vector<std::byte> body_;
};

class PacketReader {
 public:
  explicit PacketReader(const Packet& packet) : left_(packet.body) {}
  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
    T value{};
    const auto bytes = get_bytes(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> get_bytes(std::size_t n_bytes) {
    if (n_bytes > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    const auto bytes = left_.first(n_bytes);
    left_ = left_.subspan(n_bytes);
    return bytes;
  }
  std::string get_text() {
    const auto bytes = get_bytes(get<std::uint32_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::byte> rest() { return get_bytes(left_.size()); }
  bool ok() const { return ok_; }
  // Every read succeeded and nothing is left.
  bool complete() const { return ok_ && left_.empty(); }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

// Send and receive one packet of any form, in parts. A descriptor may be attached; one is received only if
// there is a place for it. receive_parts() gives the packet's size, which may be more than the parts hold; 0
// if the other side has closed the channel.
Result<void> send_parts(int fd, std::span<iovec> parts, int attached = -1);
Result<std::size_t> receive_parts(int fd, std::span<iovec> parts, int* attached = nullptr);

Result<void> send_packet(int fd, PacketKind kind, std::span<const std::byte> body = {});
// Waits for a packet; std::nullopt if the other process has closed the channel.
Result<std::optional<Packet>> receive_packet(int fd);

}  // namespace course::lab
