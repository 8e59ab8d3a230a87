// SPDX-License-Identifier: MIT
// Memory that verifier and runner both see: a memfd of fixed size, mapped read-write.
// Invariant: the size is sealed before anybody else gets the descriptor, so reading it can't fault whatever
// they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace course::lab {

class SharedMemory {
 public:
  // A new, zeroed, sealed memfd of `n_bytes` (at least 1).
  static Result<SharedMemory> create(std::uint64_t n_bytes);
  // Maps a descriptor that a peer sent, taking it over. An error when it is not sealed against shrinking.
  static Result<SharedMemory> open(int fd);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  int fd() const { return fd_; }
  std::span<std::byte> bytes() const { return bytes_; }

 private:
  SharedMemory(int fd, std::span<std::byte> bytes) : fd_(fd), bytes_(bytes) {}
  int fd_ = -1;
  std::span<std::byte> bytes_;
};

}  // namespace course::lab
