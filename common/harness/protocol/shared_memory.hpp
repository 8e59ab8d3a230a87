// SPDX-License-Identifier: MIT
// Memory shared by verifier and runner: a memfd of fixed size, mapped read-write.
// Invariant: the size is sealed before another process gets the descriptor, so an access can't fault,
// whatever that process does.
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
  // Maps a descriptor received from another process and takes ownership of it. An Error if it is not sealed
  // against shrinking.
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
