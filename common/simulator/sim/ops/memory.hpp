// SPDX-License-Identifier: MIT
// The common part of memory instructions: addresses, bounds checks, and the cost of an access.
// Every access is checked against the exact bounds of the allocation (global memory), of the block's shared
// memory or of the thread's local memory.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.9; CUDA C++ Programming Guide for sectors and banks.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/grid/signal_waits.hpp"
#include "sim/machine/describe.hpp"
#include "sim/memory/cache.hpp"
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

struct Lanes {
  alignas(64) u64 at[kLanes];
};

// The addresses of an op's lanes: base register (wide, narrow or none) plus the immediate.
inline void addresses(Warp& w, const MicroOp& op, Lanes& a) {
  const u64 offset = static_cast<u64>(op.imm);
  if (op.src[0] == MicroOp::kNoSlot) {
    SIM_FOR_LANES(i) a.at[i] = offset;
  } else if (op.wide_src & 1) {
    const u64* base = w.slot<u64>(op.src[0]);
    SIM_FOR_LANES(i) a.at[i] = base[i] + offset;
  } else {
    const u32* base = w.slot<u32>(op.src[0]);
    const u32 narrow = static_cast<u32>(offset);
    SIM_FOR_LANES(i) a.at[i] = base[i] + narrow;
  }
}

// Whether lane i accesses the `bytes` bytes directly after those of lane i−1.
inline bool contiguous(const Lanes& a, u64 bytes) {
  u64 off = 0;
  const u64 first = a.at[0];
  for (u64 i = 0; i < kLanes; ++i) off |= a.at[i] ^ (first + i * bytes);
  return off == 0;
}

[[noreturn]] inline void misaligned(u32 lanes, u64 address, u64 bytes) {
  throw DeviceFault(Fault::misaligned_address,
                    fmt::format("{}-byte access at an address that is not a multiple of {}", bytes, bytes),
                    lanes, address);
}

// The active lanes for which `holds(lane)`.
template <typename Holds>
inline u32 lanes_where(const Warp& w, const Holds& holds) {
  u32 lanes = 0;
  for (u32 m = w.mask; m != 0; m &= m - 1)
    if (holds(std::countr_zero(m))) lanes |= m & -m;
  return lanes;
}

// `bits`: the bits that are set in some lane's address. `window`: where the addresses begin, as generic ones.
inline void check_alignment(const Warp& w, const Lanes& a, u64 bits, u64 bytes, u64 window = 0) {
  if ((bits & (bytes - 1)) == 0) return;
  const u32 bad = lanes_where(w, [&](int i) { return (a.at[i] & (bytes - 1)) != 0; });
  misaligned(bad, window + a.at[std::countr_zero(bad)], bytes);
}

// --- global ------------------------------------------------------------------------------------------------

// `low` < `high` fails if the access exceeds the end of the address space.
inline bool in_window(const Worker::Window& window, u64 low, u64 high) {
  return low >= window.low && high <= window.high && low < high;
}

// The slow part of the bounds check: looks up the allocation and stores its bounds.
[[gnu::noinline]] inline bool find_window(Worker& worker, u32 op_index, u64 low, u64 high) {
  const Allocation* allocation = worker.arena->find_for_kernel(low);
  if (allocation == nullptr || high > allocation->base + allocation->size || high <= low) return false;
  worker.windows[op_index % Worker::kWindows] = {allocation->base, allocation->base + allocation->size};
  return true;
}

inline bool within(Worker& worker, const MicroOp& op, u64 low, u64 high) {
  return in_window(worker.windows[op.index % Worker::kWindows], low, high) ||
         find_window(worker, op.index, low, high);
}

[[noreturn, gnu::noinline]] inline void out_of_bounds(u32 lanes, u64 address, u64 bytes) {
  throw DeviceFault(Fault::illegal_address, fmt::format("{}-byte access outside of any allocation", bytes),
                    lanes, address);
}

struct Extent {
  u64 low = ~u64{0}, high = 0, bits = 0;
};
// The lowest and the highest address of the active lanes, and the bits that are set in any.
inline Extent extent_of(const Warp& w, const Lanes& a) {
  Extent e;
  const auto add = [&](u64 address) {
    e = {std::min(e.low, address), std::max(e.high, address), e.bits | address};
  };
  if (w.mask == kAllLanes)
    for (int i = 0; i < kLanes; ++i) add(a.at[i]);
  else
    for (u32 m = w.mask; m != 0; m &= m - 1) add(a.at[std::countr_zero(m)]);
  return e;
}

// Checks every active lane of a scattered access.
inline void check_scattered(Warp& w, const MicroOp& op, const Lanes& a, u64 bytes) {
  const auto [low, high, bits] = extent_of(w, a);
  check_alignment(w, a, bits, bytes);
  if (within(*w.worker, op, low, high + bytes)) return;
  const u32 bad = lanes_where(w, [&](int i) { return !within(*w.worker, op, a.at[i], a.at[i] + bytes); });
  if (bad != 0) out_of_bounds(bad, a.at[std::countr_zero(bad)], bytes);
}

// Finds the distinct 32-byte sectors of an access, in ascending order; returns their number. Naturally
// aligned accesses of up to 32 bytes never cross a sector boundary.
[[gnu::noinline]] inline int find_sectors(const Warp& w, const Lanes& a, s64* sectors) {
  alignas(64) s64 of_lane[kLanes + 1];
  of_lane[0] = -1;
  if (w.mask == kAllLanes) {
    SIM_FOR_LANES(i) of_lane[i + 1] = static_cast<s64>(a.at[i] / 32);
  } else {
    s64* end = of_lane + 1;
    for (u32 m = w.mask; m != 0; m &= m - 1) *end++ = static_cast<s64>(a.at[std::countr_zero(m)] / 32);
    std::fill(end, of_lane + kLanes + 1, end[-1]);
  }
  alignas(64) u32 differs[kLanes], descends[kLanes];
  SIM_FOR_LANES(i) differs[i] = of_lane[i + 1] != of_lane[i] ? ~0u : 0;
  SIM_FOR_LANES(i) descends[i] = of_lane[i + 1] < of_lane[i] ? ~0u : 0;
  const u32 fresh = mask_of(differs), turns = mask_of(descends);
  alignas(64) s64 found[kLanes];
  s64* const list = turns == 0 ? sectors : found;
  int n = 0;
  for (u32 m = fresh; m != 0; m &= m - 1) list[n++] = of_lane[std::countr_zero(m) + 1];
  if (turns == 0) return n;
  if ((turns & (turns - 1)) == 0) {
    s64* const middle = found + std::popcount(fresh & (turns - 1));
    return static_cast<int>(std::set_union(found, middle, middle, found + n, sectors) - sectors);
  }
  std::sort(found, found + n);
  return static_cast<int>(std::unique_copy(found, found + n, sectors) - sectors);
}

// Updates the caches for an access to the sectors `mask` of a line (4 bits). `whole`: sectors that a store
// writes completely, see cache.hpp. `loads`: the old contents are needed.
inline void touch_line(Warp& w, const MicroOp& op, u64 line, u32 mask, u32 whole, bool loads) {
  Worker& worker = *w.worker;
  worker.lines += 1;
  const bool stores = op.kind != OpKind::load, strong = (op.order & kOrderMask) != kWeak;
  u64* near_from = nullptr;
  if (!stores && !strong) {
    const u64 place = line & (worker.near_lines - 1);
    u64& near = w.near_lines[place];
    near_from = &w.near_from[place];
    const bool same = near >> 4 == line;
    const u64 known = same ? near & 15 : 0;
    if (!same) *near_from = 0;
    near = line << 4 | known | mask;
    worker.near_sectors += static_cast<u64>(std::popcount(mask & static_cast<u32>(known)));
    if ((mask & known) != 0) {  // it may still be on its way, after a prefetch
      const u64 now = w.time_of(op);
      if (*near_from > now) w.stall = std::max(w.stall, static_cast<u32>(*near_from - now));
    }
    mask &= ~static_cast<u32>(known);
    if (mask == 0) return;
  }
  if (!worker.arena->contains(line * Cache::kLineBytes)) return;  // memory of another device: not modelled
  const Cache::Touch touch =
      worker.cache->touch(line * Cache::kLineBytes, loads ? mask : 0, stores ? mask : 0,
                          op.kind == OpKind::store ? whole : 0, worker.alone);
  worker.filled_sectors += touch.filled;
  worker.dirty_sectors += touch.dirty;
  if (stores) return;
  // Only strong loads may find what the launch has written, because the others must not depend on the order
  // of blocks.
  const u32 stall = (strong ? touch.unwritten : touch.far) ? worker.far_stall : worker.near_stall;
  if (near_from != nullptr) *near_from = std::max(*near_from, w.time_of(op) + stall);
  w.stall = std::max(w.stall, stall);
}

// Calls `load(an op that loads)` for memory that `op` only requests. Returns the time when it is there.
template <typename Load>
u64 requested(Warp& w, const MicroOp& op, const Load& load) {
  MicroOp request = op;
  request.kind = OpKind::load;
  request.clocks = request.waits = 0;
  const u64 time = std::exchange(w.time, w.time_of(op));
  const u32 stall = std::exchange(w.stall, 0);
  load(request);
  const u64 there = w.time + w.worker->near_clocks + w.stall;
  w.time = time;
  w.stall = stall;
  return there;
}

// Counts `bytes` adjacent bytes as an access of op.kind, a load or a store; returns the number of sectors.
inline u64 touch_range(Warp& w, const MicroOp& op, u64 address, u64 bytes) {
  if (bytes == 0) return 0;
  const u64 first = address / 32, last = (address + bytes - 1) / 32;
  for (u64 line = first / 4; line <= last / 4; ++line) {
    const u32 from = line == first / 4 ? static_cast<u32>(first % 4) : 0;
    const u32 to = line == last / 4 ? static_cast<u32>(last % 4) : 3;
    const u32 mask = (15u >> (3 - to)) & (15u << from);
    u32 whole = mask;
    if (line == first / 4 && address % 32 != 0) whole &= ~(1u << from);
    if (line == last / 4 && (address + bytes) % 32 != 0) whole &= ~(1u << to);
    touch_line(w, op, line, mask, whole, op.kind != OpKind::store);
  }
  return last - first + 1;
}

inline void count_global(Warp& w, const MicroOp& op, const Lanes& a, u64 bytes, bool is_contiguous) {
  // The constant cache serves one word at a time, so an access takes a pass for each different word (CUDA
  // C++ Best Practices Guide, "Constant Memory"). How long each takes is not known: surely not less than a
  // wavefront of shared memory.
  if (op.space == MemorySpace::constant) {
    u64 place[kLanes];
    u64* end = place;
    for (u32 m = w.mask; m != 0; m &= m - 1) *end++ = a.at[std::countr_zero(m)] / 4;
    std::sort(place, end);
    const auto passes = static_cast<u64>(std::unique(place, end) - place);
    w.worker->lines += passes;
    w.time += static_cast<u64>(static_cast<double>(passes - 1) * w.worker->conflict_clocks);
    return;
  }
  const bool strong = op.kind == OpKind::load && (op.order & kOrderMask) != kWeak;
  if (strong && w.worker->signals != nullptr && await_signal(w, op, a.at)) return;
  OpCounters& counters = w.worker->op_counters[op.index];
  counters.requests += 1;
  counters.lanes += count_lanes(w.mask);
  if (is_contiguous) {
    counters.sectors += touch_range(w, op, a.at[0], kLanes * bytes);
    return;
  }
  s64 sectors[kLanes];
  const int n = find_sectors(w, a, sectors);
  // The words of the grid's barrier are the system's, and move no data.
  if (a.at[std::countr_zero(w.mask)] - w.worker->grid_workspace >= kGridWorkspace)
    counters.sectors += static_cast<u64>(n);
  // A store that writes only parts of sectors.
  const bool partial = op.kind == OpKind::store && count_lanes(w.mask) * bytes < static_cast<u64>(n) * 32;
  if (partial) w.worker->partial_sectors += static_cast<u64>(n);
  for (int k = 0; k < n;) {
    const s64 line = sectors[k] >> 2;
    u32 mask = 0;
    for (; k < n && sectors[k] >> 2 == line; ++k) mask |= 1u << (sectors[k] & 3);
    touch_line(w, op, static_cast<u64>(line), mask, partial ? 0 : mask, partial || op.kind != OpKind::store);
  }
}

// Prepares a global access: bounds, alignment, counters. Returns whether all lanes are active and contiguous.
inline bool prepare_global(Warp& w, const MicroOp& op, const Lanes& a, u64 bytes) {
  if (w.mask == kAllLanes && contiguous(a, bytes)) {
    if ((a.at[0] & (bytes - 1)) != 0) misaligned(w.mask, a.at[0], bytes);
    if (within(*w.worker, op, a.at[0], a.at[0] + kLanes * bytes)) {
      if (w.worker->counting) count_global(w, op, a, bytes, true);
      return true;
    }
  }
  check_scattered(w, op, a, bytes);
  if (w.worker->counting) count_global(w, op, a, bytes, false);
  return false;
}

// --- shared ------------------------------------------------------------------------------------------------

// The wavefronts of `part` of a warp, `n` lanes from a multiple of n on that access naturally aligned units,
// of which n fill all banks: the largest number of different units that have the same place in the banks.
template <u32 n>
inline u64 wavefronts_of(const u32* units, const u32* lane_mask, u32 part) {
  if ((part & (part - 1)) == 0) return part != 0;
  const auto first = static_cast<u32>(std::countr_zero(part)), start = first / n * n,
             second = static_cast<u32>(std::countr_zero(part & (part - 1)));
  u32 different = 0, off = 0, places = 0, every = 1, most = 0;
  for (u32 i = start; i < start + n; ++i) different |= (units[i] ^ units[first]) & lane_mask[i];
  if (different < n) return 1;  // in one row of the banks
  const u32 ahead = units[second] - units[first], lanes = second - first;
  const u32 step = lanes == 1 ? ahead : static_cast<u32>(static_cast<s32>(ahead) / static_cast<s32>(lanes));
  for (u32 i = start; i < start + n; ++i) {
    off |= (units[i] ^ (units[first] + (i - first) * step)) & lane_mask[i];
    places |= (1u << (units[i] % n)) & lane_mask[i];
  }
  if (count_lanes(places) == count_lanes(part)) return 1;
  if (off == 0) {  // With a constant stride, lanes at a distance of `period` share their banks.
    const u32 period = n / std::min<u32>(step & (0 - step), n);
    for (u32 k = period; k < kLanes; k *= 2) every |= every << k;
    for (u32 k = 0; k < period; ++k) most = std::max(most, count_lanes(part >> start & every << k));
    return most;
  }
  // The different units at each place. They are few, so a linear search is faster than sorting.
  u32 known[n][n], n_known[n] = {};
  for (u32 m = part; m != 0; m &= m - 1) {
    const u32 unit = units[std::countr_zero(m)], place = unit % n;
    u32 k = 0;
    while (k < n_known[place] && known[place][k] != unit) ++k;
    if (k < n_known[place]) continue;
    known[place][k] = unit;
    most = std::max(most, ++n_known[place]);
  }
  return most;
}

// Counts the shared-memory wavefronts of an access in units of words, or of 8 or 16 bytes: 8-byte accesses
// are processed by half warps, 16-byte accesses by quarter warps.
template <u32 kUnit>
[[gnu::noinline]] u64 count_wavefronts(const Warp& w, const Lanes& a) {
  constexpr u32 kLanesPerPass = 4 * kLanes / kUnit;
  alignas(64) u32 units[kLanes];
  SIM_FOR_LANES(i) units[i] = static_cast<u32>(a.at[i] / kUnit);
  u64 wavefronts = 0;
  for (u32 start = 0; start < kLanes; start += kLanesPerPass)
    wavefronts += wavefronts_of<kLanesPerPass>(units, w.lane_mask,
                                               w.mask & (kAllLanes >> (kLanes - kLanesPerPass)) << start);
  return wavefronts;
}

// Whether an access exceeds `size` bytes. Any address is allowed.
inline bool ends_beyond(u64 address, u64 bytes, u64 size) {
  return address > size || bytes > size - address;
}

inline bool prepare_shared(Warp& w, const MicroOp& op, const Lanes& a, u64 bytes) {
  const u64 size = w.block->shared_bytes;
  const bool run = w.mask == kAllLanes && contiguous(a, bytes) && (a.at[0] & (bytes - 1)) == 0 &&
                   !ends_beyond(a.at[0], kLanes * bytes, size);
  if (!run) {
    const auto [low, high, bits] = extent_of(w, a);
    check_alignment(w, a, bits, bytes, kSharedWindow);
    if (ends_beyond(high, bytes, size)) {
      const u32 bad = lanes_where(w, [&](int i) { return ends_beyond(a.at[i], bytes, size); });
      throw DeviceFault(
          Fault::illegal_address,
          fmt::format("{}-byte access {}", bytes, outside_of_shared(a.at[std::countr_zero(bad)], size)), bad,
          kSharedWindow + a.at[std::countr_zero(bad)]);
    }
  }
  if (w.worker->counting) {
    OpCounters& counters = w.worker->op_counters[op.index];
    counters.requests += 1;
    counters.lanes += count_lanes(w.mask);
    const u64 passes = run && bytes >= 4 ? bytes / 4
                       : bytes <= 4      ? count_wavefronts<4>(w, a)
                       : bytes == 8      ? count_wavefronts<8>(w, a)
                                         : count_wavefronts<16>(w, a);
    counters.wavefronts += passes;
    const u64 least = std::max<u64>((count_lanes(w.mask) * bytes + 4 * kLanes - 1) / (4 * kLanes), 1);
    counters.conflicts += passes - std::min(passes, least);
    w.time += static_cast<u64>(static_cast<double>(passes - 1) * w.worker->conflict_clocks);
  }
  return run;
}

// --- the accesses ------------------------------------------------------------------------------------------

enum class Place : u8 { global, shared, local, generic };
template <Place P>
using At = std::integral_constant<Place, P>;

// The number of sectors of a checked, and so aligned, local access. The same word of eight lanes is in one
// sector.
[[gnu::noinline]] inline u64 count_local_sectors(const Warp& w, const Lanes& a, u64 bytes) {
  const u64 word_bytes = std::max<u64>(bytes, 4);
  alignas(64) u32 place[kLanes];
  SIM_FOR_LANES(i) place[i] = static_cast<u32>(a.at[i] >> std::countr_zero(word_bytes));
  u64 different = 0;
  for (u32 first = 0; first < kLanes; first += 8) {
    for (u32 left = w.mask >> first & 0xFF; left != 0; ++different) {
      const u32 one = place[first + static_cast<u32>(std::countr_zero(left))];
      u32 same = 0;
      for (u32 i = 0; i < 8; ++i) same |= place[first + i] == one ? 1u << i : 0;
      left &= ~same;
    }
  }
  return different * (word_bytes / 4);
}

// Checks the addresses of a local access.
inline void check_local(const Warp& w, const Lanes& a, u64 bytes) {
  const u32 bad = lanes_where(w, [&](int i) {
    if ((a.at[i] & (bytes - 1)) != 0) misaligned(1u << i, kLocalWindow + a.at[i], bytes);
    return ends_beyond(a.at[i], bytes, w.local_stride);
  });
  if (bad != 0)
    throw DeviceFault(Fault::illegal_address,
                      fmt::format("{}-byte access outside of the thread's local memory", bytes), bad,
                      kLocalWindow + a.at[std::countr_zero(bad)]);
}

// Converts the checked addresses of a local access to host addresses; each lane has its own memory.
inline void localise(const Warp& w, Lanes& a) {
  const u64 base = reinterpret_cast<u64>(w.local.data());
  for (int i = 0; i < kLanes; ++i) a.at[i] += base + static_cast<u64>(i) * w.local_stride;
}

// The memory space of a generic address.
inline Place place_of(u64 address) {
  if (address >= kLocalWindow && address < kLocalWindow + kWindowSize) return Place::local;
  if (address >= kSharedWindow && address < kSharedWindow + kWindowSize) return Place::shared;
  return Place::global;
}

inline bool reaches_out(const Warp& w, const Lanes& a) {
  if (w.block->cluster == nullptr) return false;
  u64 all = 0;
  for (u32 m = w.mask; m != 0; m &= m - 1) all |= a.at[std::countr_zero(m)];
  return all >= kBlockPart;
}

// For an address in part `part` of the window of shared memory, which is that of no running block.
[[noreturn, gnu::noinline]] inline void no_such_block(const Block& own, u64 part, u32 lanes, u64 generic) {
  const u64 size = own.cluster->members.size();
  throw DeviceFault(Fault::illegal_address,
                    part <= size
                        ? fmt::format("shared memory of the cluster's block {}, which has ended", part - 1)
                        : fmt::format("shared memory of block {} in a cluster of {}", part - 1, size),
                    lanes, generic);
}

// Calls `each(offsets of the lanes in that block)` for each block of the cluster whose shared memory the
// lanes access, as if the warp belonged to that block.
template <typename Each>
inline void for_blocks(Warp& w, const Lanes& a, const Each& each) {
  struct Visit {  // its destructor restores the warp, also when `each` throws
    Warp& w;
    Block* own;
    u32 mask;
    ~Visit() {
      w.block = own;
      w.set_mask(mask);
    }
  } visit{w, w.block, w.mask};
  const auto part_of = [&](int i) { return a.at[i] / kBlockPart; };
  for (u32 left = visit.mask; left != 0;) {
    const u64 part = part_of(std::countr_zero(left));
    u32 same = 0;
    for (u32 m = left; m != 0; m &= m - 1)
      if (part_of(std::countr_zero(m)) == part) same |= m & -m;
    left &= ~same;
    w.block = visit.own;
    if (part != 0) {
      const auto& members = visit.own->cluster->members;
      w.block = part <= members.size() ? members[part - 1] : nullptr;
      if (w.block == nullptr) {
        w.block = visit.own;
        no_such_block(*w.block, part, same, kSharedWindow + a.at[std::countr_zero(same)]);
      }
    }
    w.set_mask(same);
    Lanes there;
    SIM_FOR_LANES(i) there.at[i] = a.at[i] - part * kBlockPart;
    each(there);
  }
}

// Where `bytes` bytes at a generic address of a lane of block `own` lie in the shared memory of the cluster.
// Throws DeviceFault unless they are aligned to `alignment` and inside one block's shared memory. `what` is
// the subject of the message: "the copy's mbarrier".
struct SharedPlace {
  Block* block;
  u64 address;  // generic, in the block's own part of the window
};
[[gnu::noinline]] inline SharedPlace shared_place(Block& own, int lane, u64 generic, u64 bytes, u64 alignment,
                                                  const char* what) {
  const u32 bit = 1u << lane;
  if (place_of(generic) != Place::shared)
    throw DeviceFault(Fault::illegal_address, fmt::format("{} must lie in shared memory", what), bit,
                      generic);
  if ((generic & (alignment - 1)) != 0) misaligned(bit, generic, alignment);
  SharedPlace found{&own, generic};
  const u64 part = (generic - kSharedWindow) / kBlockPart;
  if (part != 0 && own.cluster != nullptr) {
    const auto& members = own.cluster->members;
    Block* const other = part <= members.size() ? members[part - 1] : nullptr;
    if (other == nullptr) no_such_block(own, part, bit, generic);
    found = {other, generic - part * kBlockPart};
  }
  if (ends_beyond(found.address - kSharedWindow, bytes, found.block->shared_bytes))
    throw DeviceFault(
        Fault::illegal_address,
        fmt::format("{}, of {} bytes, is {}", what, bytes,
                    outside_of_shared(found.address - kSharedWindow, found.block->shared_bytes)),
        bit, generic);
  return found;
}

// The checks and counts of an access, compiled once per size; all rows of loads, stores and atomics call
// these.
template <u64 kBytes>
[[gnu::noinline]] bool prepare_global(Warp& w, const MicroOp& op, const Lanes& a) {
  return prepare_global(w, op, a, kBytes);
}
template <u64 kBytes>
[[gnu::noinline]] bool prepare_shared(Warp& w, const MicroOp& op, const Lanes& a) {
  return prepare_shared(w, op, a, kBytes);
}
template <u64 kBytes>
[[gnu::noinline]] void check_local(const Warp& w, const Lanes& a) {
  check_local(w, a, kBytes);
}

// Checks the addresses of the active lanes and calls `access(host addresses, contiguous, place)`. `place` is
// a type whose value is never generic.
template <Place P, u64 kBytes, typename Access>
inline void with_memory(Warp& w, const MicroOp& op, Lanes& a, const Access& access) {
  if constexpr (P == Place::global) {
    access(a, prepare_global<kBytes>(w, op, a), At<P>{});
  } else if constexpr (P == Place::shared) {
    if (reaches_out(w, a)) [[unlikely]] {
      return for_blocks(w, a, [&](Lanes& there) {
        prepare_shared<kBytes>(w, op, there);
        const u64 base = reinterpret_cast<u64>(w.block->shared);
        SIM_FOR_LANES(i) there.at[i] += base;
        access(there, false, At<P>{});
      });
    }
    const bool run = prepare_shared<kBytes>(w, op, a);
    const u64 base = reinterpret_cast<u64>(w.block->shared);
    SIM_FOR_LANES(i) a.at[i] += base;
    access(a, run, At<P>{});
  } else if constexpr (P == Place::local) {
    check_local<kBytes>(w, a);
    if (w.worker->counting && !w.program->locals_in_registers) {
      OpCounters& counters = w.worker->op_counters[op.index];
      const u64 n_sectors = count_local_sectors(w, a, kBytes);
      counters.requests += 1;
      counters.sectors += n_sectors;
      w.worker->lines += (n_sectors + 3) / 4;
    }
    localise(w, a);
    access(a, false, At<P>{});
  } else {
    // Generic addresses: split the lanes by memory space.
    const u32 mask = w.mask;
    u32 by_place[3] = {0, 0, 0};
    for (u32 m = mask; m != 0; m &= m - 1)
      by_place[static_cast<int>(place_of(a.at[std::countr_zero(m)]))] |= m & -m;
    const auto part = [&]<Place Q>(u32 lanes, u64 window) {
      if (lanes == 0) return;
      w.set_mask(lanes);
      Lanes shifted;
      SIM_FOR_LANES(i) shifted.at[i] = a.at[i] - window;
      with_memory<Q, kBytes>(w, op, shifted, access);
    };
    part.template operator()<Place::global>(by_place[0], 0);
    part.template operator()<Place::shared>(by_place[1], kSharedWindow);
    part.template operator()<Place::local>(by_place[2], kLocalWindow);
    w.set_mask(mask);
  }
}

template <typename T>
inline T* at(u64 address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace course::sim::SIM_ISA
