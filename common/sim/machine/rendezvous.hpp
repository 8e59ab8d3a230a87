// SPDX-License-Identifier: MIT
// mbarrier objects: 64 bits of shared memory in which threads announce themselves and for whose phases they wait.
// A phase ends once nobody is pending and no bytes of copies are outstanding; the next one then expects as many again.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.13.15 (mbarrier). The layout is ours: programs may not look into it.
#pragma once

#include <cstdint>

namespace course::sim {

struct Block;
struct MicroOp;
struct Warp;

struct Rendezvous {
  static constexpr std::uint32_t kMost = (1u << 20) - 1;  // of arrivals, and of bytes

  std::uint32_t phase = 0;     // modulo 8
  std::uint32_t pending = 0;   // arrivals until it ends
  std::uint32_t expected = 0;  // arrivals of the next phase
  std::int32_t bytes = 0;      // announced and not yet copied

  static Rendezvous of(std::uint64_t word);
  std::uint64_t word() const;
  bool phase_over() const { return pending == 0 && bytes == 0; }
};

enum class Arrival : std::uint8_t { plain, drop };

// Each gives the object as it was before: the state that mbarrier.arrive returns. `address` is generic, in the block's shared
// memory, checked. Throw DeviceFault on misuse.
std::uint64_t arrive(Warp& w, int lane, std::uint64_t address, std::uint32_t count, Arrival kind,
                     bool may_end_phase);
void expect_bytes(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes);
void complete_bytes(Block& block, std::uint64_t address, std::uint32_t n_bytes);
// Has the phase with this parity, or the one that the state was taken in, ended? Copies that the object counts are done first.
bool has_ended(Warp& w, int lane, std::uint64_t address, std::uint32_t phase, bool by_parity);

}  // namespace course::sim
