// SPDX-License-Identifier: MIT
#include "runner/device_buffers.hpp"

#include <algorithm>

#include "base/cuda_check.hpp"
#include "lab/poison.hpp"

namespace course::lab {
namespace {

constexpr int kPoisonByte = std::to_integer<int>(kPoison);

std::byte* at(void* start, std::uint64_t offset) {
  return static_cast<std::byte*>(start) + offset;
}

}  // namespace

Result<GuardedBuffer> GuardedBuffer::allocate(std::uint64_t n_bytes, std::uint32_t guard_bytes,
                                              std::uint32_t misalign) {
  GuardedBuffer buffer;
  buffer.front_ = std::uint64_t{guard_bytes} + misalign;
  buffer.n_bytes_ = n_bytes;
  buffer.guard_bytes_ = guard_bytes;
  // At least one byte, so that an empty buffer also has an address of its own.
  const std::uint64_t whole = std::max<std::uint64_t>(buffer.whole_bytes(), 1);
  void* start = nullptr;
  if (auto r = checked(cudaMalloc(&start, whole), "cudaMalloc"); !r)
    return Error{r.error().text + " for " + std::to_string(whole) + " bytes"};
  buffer.start_.reset(start);
  return buffer;
}

void GuardedBuffer::Free::operator()(void* start) const {
  static_cast<void>(cudaFree(start));
}

Result<void> GuardedBuffer::poison() {
  return checked(cudaMemset(start_.get(), kPoisonByte, whole_bytes()), "cudaMemset");
}

Result<void> GuardedBuffer::poison_bands() {
  if (front_ > 0)
    if (auto r = checked(cudaMemset(start_.get(), kPoisonByte, front_), "cudaMemset"); !r) return r;
  if (guard_bytes_ == 0) return {};
  return checked(cudaMemset(at(start_.get(), front_ + n_bytes_), kPoisonByte, guard_bytes_), "cudaMemset");
}

Result<void> GuardedBuffer::upload(std::span<const std::byte> contents) {
  if (contents.empty()) return {};
  return checked(cudaMemcpy(data(), contents.data(), contents.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

Result<void> GuardedBuffer::download(std::uint64_t first, std::span<std::byte> to) const {
  if (to.empty()) return {};
  return checked(cudaMemcpy(to.data(), at(start_.get(), first), to.size(), cudaMemcpyDeviceToHost),
                 "cudaMemcpy");
}

}  // namespace course::lab
