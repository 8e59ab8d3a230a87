// SPDX-License-Identifier: MIT
// A buffer in device memory between guard bands: guard | misalign | data | guard. Used by the runner and,
// without bands, by the debugger of labs (common/harness/debugging).
// Invariant: after poison() or poison_bands(), a byte of the bands that is not poison was written by code
// that exceeded its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.hpp"

namespace course::lab {

class GuardedBuffer {
 public:
  // The data starts `misalign` bytes after a 256-byte boundary (if guard_bytes is a multiple of 256). The
  // contents are undefined.
  static Result<GuardedBuffer> allocate(std::uint64_t n_bytes, std::uint32_t guard_bytes,
                                        std::uint32_t misalign);

  void* data() const { return static_cast<std::byte*>(start_.get()) + front_; }
  std::uint64_t data_bytes() const { return n_bytes_; }
  std::uint64_t whole_bytes() const { return front_ + n_bytes_ + guard_bytes_; }

  Result<void> poison();        // data and bands
  Result<void> poison_bands();  // everything except the data
  Result<void> upload(std::span<const std::byte> contents);
  // Copies to.size() bytes, from byte `first` of the whole_bytes() on.
  Result<void> download(std::uint64_t first, std::span<std::byte> to) const;

 private:
  GuardedBuffer() = default;
  struct Free {
    void operator()(void* start) const;
  };
  std::unique_ptr<void, Free> start_;
  std::uint64_t front_ = 0;  // guard band and misalignment
  std::uint64_t n_bytes_ = 0;
  std::uint64_t guard_bytes_ = 0;
};

}  // namespace course::lab
