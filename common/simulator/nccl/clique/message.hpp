// SPDX-License-Identifier: MIT
// What the processes of a communicator send to each other: a tag and plain values, over a stream socket.
// They are processes of one user that run the same library, so a message is only checked for its length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "nccl/clique/clique.hpp"

namespace course::nccl {

enum class Tag : std::uint64_t {
  // to the process that matches
  join,    // the first one of a rank
  launch,  // calls, with the contents of the send buffers
  abort,
  note,  // a call of a rank was refused
  asks,  // a thread that polls is still there
  // from it
  joined,    // the answer to join
  complete,  // all ranks have joined
  done,      // an operation, with the contents of the receive buffers
  failed,    // the end of all operations
};

class Message {
 public:
  explicit Message(Tag tag) { put(tag); }
  explicit Message(std::vector<std::byte> body) : body_(std::move(body)) {}

  template <typename T>
  Message& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return put_bytes(&value, sizeof value);
  }
  Message& put_bytes(const void* from, std::size_t n_bytes);
  std::byte* append(std::size_t n_bytes);  // to be written by the caller, before the next call
  Message& put_text(const std::string& text) { return put(text.size()).put_bytes(text.data(), text.size()); }

  // Throws std::out_of_range if the message is too short.
  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, get_bytes(sizeof value), sizeof value);
    return value;
  }
  const std::byte* get_bytes(std::size_t n_bytes);  // valid as long as the message
  std::string get_text();

  const std::vector<std::byte>& body() const { return body_; }

 private:
  std::vector<std::byte> body_;
  std::size_t at_ = 0;
};

// A stream socket to another process. Several threads may send, one receives.
struct Connection {
  int fd = -1;
  pid_t pid = 0;  // of the other process
  std::mutex sending;

  void send(const Message& message);  // nothing happens if the other process has ended
  std::optional<Message> receive();   // std::nullopt: it has ended
};

// The address of the socket of a process, with the number that only its unique ids contain. It is in the
// abstract name space, so that no file is left.
inline constexpr const char* kSocketName = "simulated-nccl-";  // then the process
int listen_at(pid_t process, std::uint64_t secret);            // -1: it can't
int connect_to(pid_t process, std::uint64_t secret);           // -1: nobody listens

}  // namespace course::nccl
