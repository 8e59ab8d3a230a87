// SPDX-License-Identifier: MIT
// A buffer in device memory with guard bands around it: guard | misalign | data | guard. Runner side only.
// Invariant: outside of `data` every byte is poison until somebody writes where he must not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace course::lab {

class GuardedBuffer {
 public:
  // `misalign` bytes after a 256-byte boundary (with guard_bytes a multiple of 256). The contents are
  // undefined.
  static Result<GuardedBuffer> allocate(std::uint64_t n_bytes, std::uint32_t guard_bytes,
                                        std::uint32_t misalign);

  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  void* data() const { return static_cast<std::byte*>(start_) + front_; }
  std::uint64_t data_bytes() const { return n_bytes_; }
  std::uint64_t whole_bytes() const { return front_ + n_bytes_ + guard_bytes_; }

  Result<void> poison();        // everything
  Result<void> poison_bands();  // all but the data
  Result<void> upload(std::span<const std::byte> contents);
  Result<void> download_whole(std::span<std::byte> to) const;  // whole_bytes() of them
  // The two guard bands, one after the other (2 · guard_bytes; without the misalignment's bytes).
  Result<void> download_bands(std::span<std::byte> to) const;

 private:
  GuardedBuffer() = default;
  void* start_ = nullptr;
  std::uint64_t front_ = 0;  // guard and misalignment
  std::uint64_t n_bytes_ = 0;
  std::uint64_t guard_bytes_ = 0;
};

}  // namespace course::lab
