// SPDX-License-Identifier: MIT
#include "sim/machine/mbarrier.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sim/machine/copies.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {
namespace {

constexpr int kPhaseAt = 61, kPendingAt = 41, kExpectedAt = 21;
constexpr std::int32_t kByteBias = 1 << 20;

Mbarrier load(Block& block, std::uint64_t address) {
  std::uint64_t word;
  std::memcpy(&word, host_address(block, address), sizeof word);
  return Mbarrier::of(word);
}

void store(Block& block, std::uint64_t address, const Mbarrier& r) {
  const std::uint64_t word = r.word();
  std::memcpy(host_address(block, address), &word, sizeof word);
  block.warps.front().worker->vain_polls = 0;
}

void end_phase(Block& block, std::uint64_t address, Mbarrier& r) {
  r.phase = (r.phase + 1) % 8;
  r.pending = r.expected;
  Worker& worker = *block.warps.front().worker;
  ++worker.barriers_completed;
  if (worker.observer != nullptr) worker.observer->mbarrier_ended(block, address);
}

[[noreturn]] void misuse(const std::string& text, int lane, std::uint64_t address) {
  throw DeviceFault(Fault::illegal_instruction, text, 1u << lane, address);
}

}  // namespace

Mbarrier Mbarrier::of(std::uint64_t word) {
  Mbarrier r;
  r.phase = static_cast<std::uint32_t>(word >> kPhaseAt);
  r.pending = static_cast<std::uint32_t>(word >> kPendingAt) & kMax;
  r.expected = static_cast<std::uint32_t>(word >> kExpectedAt) & kMax;
  r.bytes = static_cast<std::int32_t>(word & (2 * kMax + 1)) - kByteBias;
  return r;
}

std::uint64_t Mbarrier::word() const {
  return std::uint64_t{phase} << kPhaseAt | std::uint64_t{pending} << kPendingAt |
         std::uint64_t{expected} << kExpectedAt | static_cast<std::uint64_t>(bytes + kByteBias);
}

std::uint64_t arrive(Warp& w, int lane, std::uint64_t address, std::uint32_t count, Arrival kind,
                     bool may_end_phase) {
  Block& block = *w.block;
  Mbarrier r = load(block, address);
  if (r.pending == 0 && r.bytes != 0) {  // the phase ends when its copies are done, so carry them out now
    finish_copies_for(block, address);
    r = load(block, address);
  }
  const std::uint64_t before = r.word();
  if (count == 0 || count > r.pending)
    misuse(
        fmt::format(
            "mbarrier.arrive counts {} arrival(s) where the phase waits for {}: is the mbarrier initialised, "
            "and for enough threads?",
            count, r.pending),
        lane, address);
  if (w.worker->observer != nullptr) w.worker->observer->mbarrier_arrived(w, lane, address);
  r.pending -= count;
  if (kind == Arrival::drop) r.expected -= std::min(count, r.expected);
  if (r.phase_over()) {
    if (!may_end_phase)
      misuse("mbarrier.arrive.noComplete ends the phase, which is not allowed", lane, address);
    end_phase(block, address, r);
  }
  store(block, address, r);
  return before;
}

void expect_bytes(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes) {
  Mbarrier r = load(*w.block, address);
  const std::int64_t bytes = std::int64_t{r.bytes} + n_bytes;
  if (bytes > Mbarrier::kMax)
    misuse(fmt::format("an mbarrier can wait for {} bytes at most, not for {}", Mbarrier::kMax, bytes), lane,
           address);
  r.bytes = static_cast<std::int32_t>(bytes);
  store(*w.block, address, r);
}

void complete_bytes(Block& block, std::uint64_t address, std::uint32_t n_bytes) {
  Mbarrier r = load(block, address);
  const std::int64_t bytes = std::int64_t{r.bytes} - n_bytes;
  if (bytes < -static_cast<std::int64_t>(Mbarrier::kMax))
    misuse("more bytes have been copied than the mbarrier expects (mbarrier.expect_tx)", 0, address);
  r.bytes = static_cast<std::int32_t>(bytes);
  if (r.phase_over()) end_phase(block, address, r);
  store(block, address, r);
}

bool has_ended(Warp& w, int lane, std::uint64_t address, std::uint32_t phase, bool by_parity) {
  finish_copies_for(*w.block, address);
  const Mbarrier r = load(*w.block, address);
  const bool ended = by_parity ? (r.phase & 1) != (phase & 1) : r.phase != phase;
  if (!ended) ++w.worker->vain_polls;
  if (ended && w.worker->observer != nullptr) w.worker->observer->mbarrier_passed(w, lane, address);
  return ended;
}

}  // namespace course::sim
