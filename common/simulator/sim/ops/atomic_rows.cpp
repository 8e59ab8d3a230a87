// SPDX-License-Identifier: MIT
// The rows of atom and red. The read-modify-write of a lane is atomic with respect to other host threads, if
// there are any; shared memory is used by one host thread only. The lanes of a warp execute one after the
// other, starting with Warp::first_lane. Compiled once per instruction set of the host.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.13.5 (atom) and 9.7.13.7 (red).
#include "sim/grid/signal_waits.hpp"
#include "sim/ops/memory.hpp"
#include "sim/ops/narrow.hpp"

namespace course::sim::SIM_ISA {

namespace {

// The new value of a memory cell: of(old, b, c).
struct FetchAdd {
  template <typename T>
  static T of(T old, T b, T) {
    return alu::canonical(alu::Add::of(old, b));
  }
};
// f32 in global memory: subnormal operands and results are flushed to zero (PTX ISA, atom; in shared memory
// they are not).
struct FetchAddFlushed {
  static f32 of(f32 old, f32 b, f32) { return alu::Ftz<alu::Add>::of(old, b); }
};
struct FetchMin {
  template <typename T>
  static T of(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct FetchMax {
  template <typename T>
  static T of(T old, T b, T) {
    return old < b ? b : old;
  }
};
struct FetchAnd {
  template <typename T>
  static T of(T old, T b, T) {
    return static_cast<T>(old & b);
  }
};
struct FetchOr {
  template <typename T>
  static T of(T old, T b, T) {
    return static_cast<T>(old | b);
  }
};
struct FetchXor {
  template <typename T>
  static T of(T old, T b, T) {
    return static_cast<T>(old ^ b);
  }
};
struct FetchExchange {
  template <typename T>
  static T of(T, T b, T) {
    return b;
  }
};
struct FetchCompareSwap {
  template <typename T>
  static T of(T old, T compare, T value) {
    return old == compare ? value : old;
  }
};
struct FetchIncrement {
  template <typename T>
  static T of(T old, T bound, T) {
    return old >= bound ? T{0} : static_cast<T>(old + 1);
  }
};
struct FetchDecrement {
  template <typename T>
  static T of(T old, T bound, T) {
    return old == 0 || old > bound ? bound : static_cast<T>(old - 1);
  }
};
// 16-bit floats, single (T is u16) or two in a word (u32).
template <typename Op>
struct FetchHalf {
  static u16 of(u16 old, u16 b, u16) { return Op::of(0, old, b); }
  static u32 of(u32 old, u32 b, u32) {
    const u16 low = Op::of(0, static_cast<u16>(old), static_cast<u16>(b));
    return static_cast<u32>(Op::of(0, static_cast<u16>(old >> 16), static_cast<u16>(b >> 16))) << 16 | low;
  }
};

// One lane's read-modify-write.
template <typename Op, typename T>
inline T fetch(u64 address, T b, T c, bool alone) {
  using Raw = std::conditional_t<sizeof(T) == 2, u16, Stored<T>>;
  auto* cell = at<Raw>(address);
  if (alone) {
    const T old = std::bit_cast<T>(*cell);
    *cell = std::bit_cast<Raw>(Op::of(old, b, c));
    return old;
  }
  Raw seen = __atomic_load_n(cell, __ATOMIC_RELAXED);
  while (true) {
    const T old = std::bit_cast<T>(seen);
    const Raw wanted = std::bit_cast<Raw>(Op::of(old, b, c));
    if (__atomic_compare_exchange_n(cell, &seen, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      return old;
  }
}

// Lanes with the same address are serialised. Returns the largest number of lanes with one address.
[[gnu::noinline]] u64 most_on_one_address(const Warp& w, const Lanes& a) {
  alignas(64) u64 same[kLanes] = {};
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const u64 address = a.at[std::countr_zero(m)];
    SIM_FOR_LANES(i) same[i] += a.at[i] == address ? 1 : 0;
  }
  return *std::max_element(same, same + kLanes);
}

// Adds the warp's global atomics to the worker's HotSpots.
[[gnu::noinline]] void count_hot_spots(Warp& w, const Lanes& a, bool combined) {
  u64 sorted[kLanes];
  int n = 0;
  for (u32 m = w.mask; m != 0; m &= m - 1) sorted[n++] = a.at[std::countr_zero(m)];
  std::sort(sorted, sorted + n);
  for (int k = 0; k < n;) {
    // One sector: different words are handled at the same time, lanes on the same word one after the other.
    const u64 sector = sorted[k] / 32;
    u64 most = 0, run = 0;
    for (const int first = k; k < n && sorted[k] / 32 == sector; ++k) {
      run = k > first && sorted[k] == sorted[k - 1] ? run + 1 : 1;
      most = combined ? 1 : std::max(most, run);
    }
    w.worker->hot_spots.add(sector * 32 / HotSpots::kChunkBytes, most);
    w.worker->atomic_passes += 1;
  }
}

template <Place P>
void count_atomic(Warp& w, const MicroOp& op, const Lanes& a) {
  Worker& worker = *w.worker;
  if (P == Place::global && worker.signals != nullptr && atomic_signal(w, op, a.at)) return;
  const bool combined = (op.order & kCombined) != 0;
  const u64 most = combined ? 1 : most_on_one_address(w, a);
  worker.op_counters[op.index].serialised += most;
  if constexpr (P == Place::shared) {
    if (op.dst[0] != MicroOp::kNoSlot)
      w.time += static_cast<u64>(static_cast<double>(most) * worker.shared_atomic_clocks);
  } else if constexpr (P == Place::global) {
    count_hot_spots(w, a, combined);
    if (op.dst[0] != MicroOp::kNoSlot) w.stall = std::max(w.stall, worker.fetch_stall);
  }
}

// src: address, b, c (c for cas only); dst[0]: the old value, kNoSlot for red.
template <Place P, typename Op, typename T>
void atomic(Warp& w, const MicroOp& op) {
  Lanes a;
  addresses(w, op, a);
  with_memory<P, sizeof(T)>(w, op, a, [&](const Lanes& to, bool, auto place) {
    constexpr Place kPlace = decltype(place)::value;
    constexpr bool kFlushes =
        kPlace == Place::global && std::is_same_v<T, f32> && std::is_same_v<Op, FetchAdd>;
    using Done = std::conditional_t<kFlushes, FetchAddFlushed, Op>;
    if (w.worker->counting) count_atomic<kPlace>(w, op, to);
    const bool alone = kPlace != Place::global || w.worker->alone;
    const auto* b = w.slot<Stored<T>>(op.src[1]);
    const auto* c = op.src[2] == MicroOp::kNoSlot ? b : w.slot<Stored<T>>(op.src[2]);
    auto* out = op.dst[0] == MicroOp::kNoSlot ? nullptr : w.slot<Stored<T>>(op.dst[0]);
    for_lanes_in_turn(w, w.mask, [&](int i) {
      const T old = fetch<Done, T>(to.at[i], from_stored<T>(b[i]), from_stored<T>(c[i]), alone);
      if (out != nullptr) out[i] = to_stored<T>(old);
    });
  });
}

// 16-byte atomics. Each value is in two slots: b in src[1] and src[2], c in src[3] and dst[3] (like the
// fourth value of a store), the old value in dst[0] and dst[1]. Programs with these outside of shared memory
// run on one host thread.
template <Place P, bool kCompare>
void atomic_wide(Warp& w, const MicroOp& op) {
  Lanes a;
  addresses(w, op, a);
  with_memory<P, 16>(w, op, a, [&](const Lanes& to, bool, auto place) {
    if (w.worker->counting) count_atomic<decltype(place)::value>(w, op, to);
    const u64 *b0 = w.slot<u64>(op.src[1]), *b1 = w.slot<u64>(op.src[2]);
    const u64 *c0 = kCompare ? w.slot<u64>(op.src[3]) : b0, *c1 = kCompare ? w.slot<u64>(op.dst[3]) : b1;
    for_lanes_in_turn(w, w.mask, [&](int i) {
      u64* cell = at<u64>(to.at[i]);
      const u64 old0 = cell[0], old1 = cell[1];
      if (!kCompare || (old0 == b0[i] && old1 == b1[i])) {
        cell[0] = c0[i];
        cell[1] = c1[i];
      }
      if (op.dst[0] == MicroOp::kNoSlot) return;
      w.slot<u64>(op.dst[0])[i] = old0;
      w.slot<u64>(op.dst[1])[i] = old1;
    });
  });
}

struct AtomicRows {
  OpTable& table;

  void row(std::string key, Handler fn) { table.add(OpRow{std::move(key), fn, OpKind::atomic, {}, {}}); }

  template <Place P, typename Op, typename... T>
  void of(const std::string& place, const char* name) {
    (row("atom." + place + "." + name + "." + suffix<T>(), &atomic<P, Op, T>), ...);
  }
  template <Place P, typename Op>
  void halves(const std::string& place, const std::string& name, const char* type) {
    row("atom." + place + "." + name + "." + type, &atomic<P, FetchHalf<Op>, u16>);
    row("atom." + place + "." + name + "." + type + "x2", &atomic<P, FetchHalf<Op>, u32>);
  }

  template <Place P>
  void all(const std::string& place) {
    of<P, FetchAdd, u32, s32, u64, s64, f32, f64>(place, "add");
    of<P, FetchMin, u32, s32, u64, s64>(place, "min");
    of<P, FetchMax, u32, s32, u64, s64>(place, "max");
    of<P, FetchAnd, u32, u64>(place, "and");
    of<P, FetchOr, u32, u64>(place, "or");
    of<P, FetchXor, u32, u64>(place, "xor");
    of<P, FetchExchange, u32, u64>(place, "exch");
    of<P, FetchCompareSwap, u16, u32, u64>(place, "cas");
    of<P, FetchIncrement, u32>(place, "inc");
    of<P, FetchDecrement, u32>(place, "dec");
    using namespace alu;
    halves<P, Half<F16, HalfArithmetic<Add>>>(place, "add", "f16");
    halves<P, Half<BF16, HalfArithmetic<Add>>>(place, "add", "bf16");
    if constexpr (P != Place::shared) {  // only vectors, which must be in global memory
      halves<P, Half<F16, HalfExtreme<false>>>(place, "min", "f16");
      halves<P, Half<F16, HalfExtreme<true>>>(place, "max", "f16");
      halves<P, Half<BF16, HalfExtreme<false>>>(place, "min", "bf16");
      halves<P, Half<BF16, HalfExtreme<true>>>(place, "max", "bf16");
    }
    row("atom." + place + ".exch.b128", &atomic_wide<P, false>);
    row("atom." + place + ".cas.b128", &atomic_wide<P, true>);
  }
};

}  // namespace

void add_atomic_rows(OpTable& table) {
  AtomicRows rows{table};
  rows.all<Place::global>("global");
  rows.all<Place::shared>("shared");
  rows.all<Place::generic>("generic");
}

}  // namespace course::sim::SIM_ISA
