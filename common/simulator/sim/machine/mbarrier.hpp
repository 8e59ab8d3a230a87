// SPDX-License-Identifier: MIT
// mbarrier objects: 64 bits of shared memory at which threads arrive and for whose phases they wait. A phase
// ends when no arrivals are pending and no bytes of copies are outstanding. The next phase then expects as
// many arrivals again.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.13.15 (mbarrier). The layout of the 64 bits is our own;
// programs must not depend on it.
#pragma once

#include <cstdint>

namespace course::sim {

struct Block;
struct MicroOp;
struct Warp;

struct Mbarrier {
  static constexpr std::uint32_t kMax = (1u << 20) - 1;  // limit for arrivals and for bytes

  std::uint32_t phase = 0;     // modulo 8
  std::uint32_t pending = 0;   // arrivals still missing in this phase
  std::uint32_t expected = 0;  // arrivals that the next phase needs
  std::int32_t bytes = 0;      // expected bytes that have not been copied yet

  static Mbarrier of(std::uint64_t word);
  std::uint64_t word() const;
  bool phase_over() const { return pending == 0 && bytes == 0; }
};

enum class Arrival : std::uint8_t { plain, drop };

// arrive() returns the object's value before the arrival, which is the state that mbarrier.arrive returns.
// `address` is generic, checked, and in the block's shared memory. All three throw DeviceFault on misuse.
std::uint64_t arrive(Warp& w, int lane, std::uint64_t address, std::uint32_t count, Arrival kind,
                     bool may_end_phase);
void expect_bytes(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes);
void complete_bytes(Block& block, std::uint64_t address, std::uint32_t n_bytes);
// Whether the phase with this parity, or with this number, has ended. First carries out the copies that the
// object counts.
bool has_ended(Warp& w, int lane, std::uint64_t address, std::uint32_t phase, bool by_parity);

}  // namespace course::sim
