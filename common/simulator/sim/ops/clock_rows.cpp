// SPDX-License-Identifier: MIT
// The clocks. A block's time is the number of warp instructions that it has executed (loops that poll cost
// more, see rank_blocks), plus extra ticks for reading the clock and for sleeping. It is the same in every
// run and always advances, so that loops which wait for a time end. Compiled once per instruction set of the
// host.
#include <algorithm>

#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

namespace {

constexpr u64 kReading = 32;                       // ticks for reading a clock
constexpr u64 kEpoch = 1'700'000'000'000'000'000;  // %globaltimer at tick 0, nanoseconds

enum class Clock : u8 { cycles, nanoseconds };

template <Clock C, typename T, int kShift>
void read_clock(Warp& w, const MicroOp& op) {
  const u64 now = (w.block->ticks += kReading) + (C == Clock::nanoseconds ? kEpoch : 0);
  write_lanes<T>(w, op.dst[0], [now](int) { return static_cast<T>(now >> kShift); });
}

// src[0]: nanoseconds.
void sleep(Warp& w, const MicroOp& op) {
  constexpr u32 kMax = 1'000'000;
  w.block->ticks += std::min(w.slot<u32>(op.src[0])[std::countr_zero(w.mask)], kMax);
}

}  // namespace

void add_clock_rows(OpTable& table) {
  const auto row = [&](const char* key, Handler fn, SlotKind kind) {
    table.add(OpRow{key, fn, OpKind::other, {}, {kind}});
  };
  row("clock", &read_clock<Clock::cycles, u32, 0>, SlotKind::narrow);
  row("clock_hi", &read_clock<Clock::cycles, u32, 32>, SlotKind::narrow);
  row("clock64", &read_clock<Clock::cycles, u64, 0>, SlotKind::wide);
  row("globaltimer", &read_clock<Clock::nanoseconds, u64, 0>, SlotKind::wide);
  row("globaltimer_lo", &read_clock<Clock::nanoseconds, u32, 0>, SlotKind::narrow);
  row("globaltimer_hi", &read_clock<Clock::nanoseconds, u32, 32>, SlotKind::narrow);
  table.add(OpRow{"nanosleep", &sleep, OpKind::other, {SlotKind::narrow}, {}});
}

}  // namespace course::sim::SIM_ISA
