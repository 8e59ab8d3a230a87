// SPDX-License-Identifier: MIT
// The rows of loads and stores: one for each memory space, element and vector length. Compiled once per
// instruction set of the host.
#include "sim/grid/signal_waits.hpp"
#include "sim/ops/memory.hpp"

namespace course::sim::SIM_ISA {

namespace {

// T: the type in memory, extended to the slot with its sign or zeros. Count: elements of a vector, 1, 2 or 4.
template <Place P, typename T, int Count>
void load(Warp& w, const MicroOp& op) {
  Lanes a;
  addresses(w, op, a);
  with_memory<P, sizeof(T) * Count>(w, op, a, [&](const Lanes& from, bool run, auto) {
    for (int k = 0; k < Count; ++k) {
      if (op.dst[k] == MicroOp::kNoSlot) continue;
      auto* out = w.slot<Stored<T>>(op.dst[k]);
      using Wide = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<Stored<T>>, Stored<T>>;
      if (run) {
        const T* source = at<const T>(from.at[0]) + k;
        SIM_FOR_LANES(i) out[i] = static_cast<Stored<T>>(static_cast<Wide>(source[i * Count]));
      } else if (w.mask == kAllLanes) {
        SIM_FOR_LANES(i) out[i] = static_cast<Stored<T>>(static_cast<Wide>(at<const T>(from.at[i])[k]));
      } else {
        for (const int i : EachLane{w.mask}) {
          out[i] = static_cast<Stored<T>>(static_cast<Wide>(at<const T>(from.at[i])[k]));
        }
      }
    }
  });
}

// src[0] is the address, src[1 …] the values.
template <Place P, typename T, int Count>
void store(Warp& w, const MicroOp& op) {
  Lanes a;
  addresses(w, op, a);
  with_memory<P, sizeof(T) * Count>(w, op, a, [&](const Lanes& to, bool run, auto place) {
    if constexpr (decltype(place)::value == Place::global)
      if (w.worker->signals != nullptr && (op.order & kOrderMask) != kWeak) raise_signal(w, op, to.at);
    for (int k = 0; k < Count; ++k) {
      // The fourth value is in dst[3], because a store has no results.
      const u32 slot = k < 3 ? op.src[1 + k] : op.dst[3];
      const auto* in = w.slot<Stored<T>>(slot);
      if (run) {
        T* target = at<T>(to.at[0]) + k;
        SIM_FOR_LANES(i) target[i * Count] = static_cast<T>(in[i]);
      } else {
        // Of lanes that store in one place, the last one wins.
        for_lanes_in_turn(w, w.mask, [&](int i) { at<T>(to.at[i])[k] = static_cast<T>(in[i]); });
      }
    }
  });
}

struct MemoryRows {
  OpTable& table;

  void row(std::string key, Handler fn, OpKind kind) { table.add(OpRow{std::move(key), fn, kind, {}, {}}); }

  template <Place P, typename T>
  void access(const char* place) {
    const std::string end = std::string(".") + place + "." + suffix<T>();
    row("ld" + end, &load<P, T, 1>, OpKind::load);
    row("ld.v2" + end, &load<P, T, 2>, OpKind::load);
    if constexpr (sizeof(T) <= 4) row("ld.v4" + end, &load<P, T, 4>, OpKind::load);
    if constexpr (std::is_unsigned_v<T>) {
      row("st" + end, &store<P, T, 1>, OpKind::store);
      row("st.v2" + end, &store<P, T, 2>, OpKind::store);
      if constexpr (sizeof(T) <= 4) row("st.v4" + end, &store<P, T, 4>, OpKind::store);
    }
  }

  template <Place P>
  void accesses(const char* place) {
    access<P, u8>(place);
    access<P, s8>(place);
    access<P, u16>(place);
    access<P, s16>(place);
    access<P, u32>(place);
    access<P, u64>(place);
  }
};

}  // namespace

void add_load_store_rows(OpTable& table) {
  MemoryRows rows{table};
  rows.accesses<Place::global>("global");
  rows.accesses<Place::shared>("shared");
  rows.accesses<Place::local>("local");
  rows.accesses<Place::generic>("generic");
}

}  // namespace course::sim::SIM_ISA
