// SPDX-License-Identifier: MIT
// The rows of asynchronous copies and mbarriers. They check and count the lanes' addresses; copies.hpp and
// mbarrier.hpp do the rest. Addresses are generic, in wide slots. Compiled once per instruction set of the
// host.
// Source: NVIDIA, "PTX ISA", version 9.0, sections 9.7.9.25 (asynchronous copies), 9.7.13.15 (mbarrier),
// 9.7.9.23 (mapa).
#include "sim/machine/copies.hpp"
#include "sim/machine/mbarrier.hpp"
#include "sim/ops/memory.hpp"
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

namespace {

// --- copies ------------------------------------------------------------------------------------------------

// Checks one side of a copy of `bytes` bytes per lane for the lanes in `lanes`. Counts sectors and
// wavefronts, but no request. Returns the time when global memory is there.
u64 check_side(Warp& w, const MicroOp& op, const u64* generic, u32 lanes, u64 bytes, bool in_shared) {
  if (lanes == 0) return 0;
  const u32 whole = w.mask;
  w.set_mask(lanes);
  Lanes a;
  u32 elsewhere = 0;
  for (const int i : EachLane{lanes}) {
    if ((place_of(generic[i]) == Place::shared) != in_shared) elsewhere |= 1u << i;
  }
  if (elsewhere != 0)
    throw DeviceFault(Fault::illegal_address,
                      in_shared ? "asynchronous copy: this side must lie in shared memory"
                                : "asynchronous copy: this side must lie in global memory",
                      elsewhere, generic[std::countr_zero(elsewhere)]);
  SIM_FOR_LANES(i) a.at[i] = generic[i] - (in_shared ? kSharedWindow : 0);
  const OpCounters before = w.worker->op_counters[op.index];
  u64 there = 0;
  if (in_shared) {
    prepare_shared(w, op, a, bytes);
  } else {
    there = requested(w, op, [&](const MicroOp& read) { prepare_global(w, read, a, bytes); });
  }
  OpCounters& counters = w.worker->op_counters[op.index];
  counters.requests = before.requests;
  counters.lanes = before.lanes;
  w.set_mask(whole);
  return there;
}

void count_copy(Warp& w, const MicroOp& op, u64 bytes) {
  if (!w.worker->counting) return;
  w.worker->op_counters[op.index].requests += 1;
  w.worker->op_counters[op.index].copied += bytes;
}

// cp.async. src: destination, source, and the number of bytes that are read (kNoSlot: all). op.width bytes
// are written.
void copy_small(Warp& w, const MicroOp& op) {
  const u64 *to = w.slot<u64>(op.src[0]), *from = w.slot<u64>(op.src[1]);
  CopyBatch batch = new_copies(w, op);
  u32 full = 0;
  u64 read = 0;
  for (const int i : EachLane{w.mask}) {
    batch.to[i] = to[i];
    batch.from[i] = from[i];
    batch.bytes[i] = op.width;
    batch.read[i] =
        op.src[2] == MicroOp::kNoSlot ? op.width : std::min<u32>(w.slot<u32>(op.src[2])[i], op.width);
    batch.barrier[i] = 0;
    read += batch.read[i];
    if (batch.read[i] == op.width) full |= 1u << i;
  }
  check_side(w, op, to, w.mask, op.width, true);
  batch.ready = check_side(w, op, from, full, op.width, false);
  for (u32 m = w.mask & ~full; m != 0; m &= m - 1) {  // bytes that are not read need not exist
    const int i = std::countr_zero(m);
    if (batch.read[i] == 0) continue;
    if ((from[i] & (op.width - 1u)) != 0) misaligned(m & -m, from[i], op.width);
    if (!within(*w.worker, op, from[i], from[i] + batch.read[i]))
      out_of_bounds(m & -m, from[i], batch.read[i]);
  }
  count_copy(w, op, read);
  issue(w, batch, CopyKind::small);
}

// Counts one lane's `bytes` of global memory; the warp continues during the transfer. Returns its end.
u64 count_range(Warp& w, const MicroOp& op, OpKind kind, u64 address, u64 bytes) {
  if (!w.worker->counting) return 0;
  return requested(w, op, [&](MicroOp request) {
    request.kind = kind;
    w.worker->op_counters[op.index].sectors += touch_range(w, request, address, bytes);
  });
}

// src: generic address, and the number of bytes (kNoSlot: its sector). Brings them into L1, or only into L2
// if `imm` is 2; a load from there takes as long as without a prefetch. Other memory is ignored, and no
// address is a fault.
void prefetch(Warp& w, const MicroOp& op) {
  if (!w.worker->counting) return;
  const u64* from = w.slot<u64>(op.src[0]);
  MicroOp read = op;
  if (op.imm == 2) read.order = kRelaxed;  // not through L1
  u64 lines[kLanes];                       // lanes with the same sector make one request
  int n = 0;
  for (const int i : EachLane{w.mask}) {
    const u64 bytes = op.src[1] == MicroOp::kNoSlot ? 1 : w.slot<u32>(op.src[1])[i];
    if (bytes == 0 || place_of(from[i]) != Place::global || !within(*w.worker, op, from[i], from[i] + bytes))
      continue;
    if (op.src[1] == MicroOp::kNoSlot) {
      if (std::find(lines, lines + n, from[i] / 32) != lines + n) continue;
      lines[n++] = from[i] / 32;
    }
    count_range(w, read, OpKind::load, from[i], bytes);
  }
  w.worker->op_counters[op.index].requests += 1;
}

// Checks bytes that must lie in the shared memory of the lane's own block.
void in_own_block(Warp& w, int lane, u64 generic, u64 bytes, u64 alignment, const char* what) {
  const SharedPlace place = shared_place(*w.block, lane, generic, bytes, alignment, what);
  if (place.block != w.block || place.address != generic)
    throw DeviceFault(Fault::illegal_address,
                      fmt::format("{} must lie in the shared memory of the thread's own block", what),
                      1u << lane, generic);
}

// Checks one lane's side of a bulk copy; counts its sectors. Returns the time when global memory is there.
u64 check_bulk(Warp& w, const MicroOp& op, int lane, u64 address, u64 bytes, OpKind kind) {
  const u32 bit = 1u << lane;
  if (place_of(address) == Place::shared) {
    in_own_block(w, lane, address, bytes, 16, "a side of the copy");
    if (w.worker->counting) w.worker->op_counters[op.index].wavefronts += (bytes + 127) / 128;
    return 0;
  }
  if ((address & 15) != 0) misaligned(bit, address, 16);
  if (place_of(address) != Place::global || !within(*w.worker, op, address, address + bytes))
    throw DeviceFault(Fault::illegal_address,
                      fmt::format("copy of {} bytes reaches outside of any allocation", bytes), bit, address);
  return count_range(w, op, kind, address, bytes);
}

// cp.async.bulk. src: destination, source, bytes, mbarrier (kNoSlot: completion by bulk groups).
void copy_bulk(Warp& w, const MicroOp& op) {
  const u64 *to = w.slot<u64>(op.src[0]), *from = w.slot<u64>(op.src[1]);
  const u32* bytes = w.slot<u32>(op.src[2]);
  const u64* barrier = op.src[3] == MicroOp::kNoSlot ? nullptr : w.slot<u64>(op.src[3]);
  CopyBatch batch = new_copies(w, op);
  u64 copied = 0;
  for (const int i : EachLane{w.mask}) {
    if (bytes[i] % 16 != 0)
      throw DeviceFault(Fault::illegal_instruction,
                        fmt::format("cp.async.bulk of {} bytes: the size must be a multiple of 16", bytes[i]),
                        1u << i);
    // A copy of no bytes does not check its addresses and does not change its mbarrier.
    if (bytes[i] == 0) {
      batch.lanes &= ~(1u << i);
      continue;
    }
    batch.ready = std::max({batch.ready, check_bulk(w, op, i, to[i], bytes[i], OpKind::store),
                            check_bulk(w, op, i, from[i], bytes[i], OpKind::load)});
    batch.to[i] = to[i];
    batch.from[i] = from[i];
    batch.bytes[i] = batch.read[i] = bytes[i];
    batch.barrier[i] = 0;
    if (barrier != nullptr) {
      in_own_block(w, i, barrier[i], 8, 8, "the copy's mbarrier");
      batch.barrier[i] = barrier[i];
    }
    copied += bytes[i];
  }
  count_copy(w, op, copied);
  if (batch.lanes != 0) issue(w, batch, CopyKind::bulk);
}

template <CopyKind K>
void commit(Warp& w, const MicroOp&) {
  commit_copies(w, K);
}

// imm: the number of groups that may remain pending; −1: no copy may.
template <CopyKind K>
void wait(Warp& w, const MicroOp& op) {
  await_copies(w, K, op.imm < 0 ? 0 : static_cast<u32>(op.imm), op.imm < 0);
}

// --- mbarriers ---------------------------------------------------------------------------------------------

// Calls `each(lane, generic address)` for the active lanes after it has checked their mbarriers at src[0].
// `w.block` is the block that has them.
template <typename Each>
void for_mbarriers(Warp& w, const MicroOp& op, const Each& each) {
  Lanes a;
  addresses(w, op, a);
  const Lanes generic = a;
  const u32 mask = w.mask;
  for (u32 m = mask; m != 0; m &= m - 1)
    if (place_of(a.at[std::countr_zero(m)]) != Place::shared)
      throw DeviceFault(Fault::illegal_address, "an mbarrier must lie in shared memory", m & -m,
                        a.at[std::countr_zero(m)]);
  SIM_FOR_LANES(i) a.at[i] -= kSharedWindow;
  if (reaches_out(w, a)) {
    return for_blocks(w, a, [&](Lanes& there) {
      prepare_shared(w, op, there, 8);
      for (u32 m = w.mask; m != 0; m &= m - 1)
        each(std::countr_zero(m), kSharedWindow + there.at[std::countr_zero(m)]);
    });
  }
  prepare_shared(w, op, a, 8);
  for (u32 m = mask; m != 0; m &= m - 1) each(std::countr_zero(m), generic.at[std::countr_zero(m)]);
}

inline void put(Warp& w, const Mbarrier& r, u64 address) {
  const u64 word = r.word();
  std::memcpy(host_address(*w.block, address), &word, sizeof word);
}

void mbarrier_init(Warp& w, const MicroOp& op) {
  const u32* count = w.slot<u32>(op.src[1]);
  for_mbarriers(w, op, [&](int lane, u64 address) {
    if (count[lane] == 0 || count[lane] > Mbarrier::kMax)
      throw DeviceFault(
          Fault::illegal_instruction,
          fmt::format("mbarrier.init for {} arrivals; 1 to {} are allowed", count[lane], Mbarrier::kMax),
          1u << lane, address);
    Mbarrier r;
    r.pending = r.expected = count[lane];
    put(w, r, address);
  });
}

void mbarrier_inval(Warp& w, const MicroOp& op) {
  for_mbarriers(w, op, [&](int, u64 address) { put(w, Mbarrier{}, address); });
}

// src[1]: arrivals (kNoSlot: one), src[2]: expected bytes (kNoSlot: none); dst[0]: the previous state.
template <Arrival K, bool kMayEnd>
void mbarrier_arrive(Warp& w, const MicroOp& op) {
  for_mbarriers(w, op, [&](int lane, u64 address) {
    if (op.src[2] != MicroOp::kNoSlot) expect_bytes(w, lane, address, w.slot<u32>(op.src[2])[lane]);
    const u32 count = op.src[1] == MicroOp::kNoSlot ? 1 : w.slot<u32>(op.src[1])[lane];
    const u64 before = arrive(w, lane, address, count, K, kMayEnd);
    if (op.dst[0] != MicroOp::kNoSlot) w.slot<u64>(op.dst[0])[lane] = before;
  });
}

void mbarrier_expect(Warp& w, const MicroOp& op) {
  for_mbarriers(w, op,
                [&](int lane, u64 address) { expect_bytes(w, lane, address, w.slot<u32>(op.src[1])[lane]); });
}

void mbarrier_complete(Warp& w, const MicroOp& op) {
  for_mbarriers(
      w, op, [&](int lane, u64 address) { complete_bytes(*w.block, address, w.slot<u32>(op.src[1])[lane]); });
}

// src[1]: the parity or the state of a phase; dst[0]: whether the phase is complete.
template <bool kByParity>
void mbarrier_test(Warp& w, const MicroOp& op) {
  u32 ended = 0;
  for_mbarriers(w, op, [&](int lane, u64 address) {
    const u32 phase =
        kByParity ? w.slot<u32>(op.src[1])[lane] : Mbarrier::of(w.slot<u64>(op.src[1])[lane]).phase;
    if (has_ended(w, lane, address, phase, kByParity)) ended |= 1u << lane;
  });
  u32& out = w.predicate(op.dst[0]);
  out = (out & ~w.mask) | ended;
}

void mbarrier_pending(Warp& w, const MicroOp& op) {
  const u64* state = w.slot<u64>(op.src[0]);
  write_lanes<u32>(w, op.dst[0], [&](int i) { return Mbarrier::of(state[i]).pending; });
}

// cp.async.mbarrier.arrive: the phase waits for the lane's copies so far. With .noinc the expected count
// already includes this arrival; without it the pending count is incremented.
template <bool kCounted>
void mbarrier_arrive_by_copies(Warp& w, const MicroOp& op) {
  const u64* barrier = w.slot<u64>(op.src[0]);
  for (u32 m = w.mask; m != 0; m &= m - 1)  // copies of another block cannot be handed over
    in_own_block(w, std::countr_zero(m), barrier[std::countr_zero(m)], 8, 8, "the mbarrier");
  for_mbarriers(w, op, [&](int lane, u64 address) {
    hand_copies_over(w, lane, address);
    if (kCounted) arrive(w, lane, address, 1, Arrival::plain, true);
  });
}

// --- clusters ----------------------------------------------------------------------------------------------

// src: address, rank of the target block in the cluster, the block's own rank. A mapped address may be mapped
// again.
template <typename T>
void map_to_block(Warp& w, const MicroOp& op) {
  const u32 *rank = w.slot<u32>(op.src[1]), *own = w.slot<u32>(op.src[2]);
  const u64 size = w.block->cluster == nullptr ? 1 : w.block->cluster->members.size();
  for (u32 m = w.mask; m != 0; m &= m - 1)
    if (rank[std::countr_zero(m)] >= size)
      throw DeviceFault(
          Fault::illegal_instruction,
          size == 1 ? fmt::format("mapa: rank {} in a cluster of one block, because the launch has no "
                                  "clusters: declare the kernel with __cluster_dims__, or launch it "
                                  "with cudaLaunchKernelEx and "
                                  "cudaLaunchAttributeClusterDimension",
                                  rank[std::countr_zero(m)])
                    : fmt::format("mapa: rank {} in a cluster of {} blocks", rank[std::countr_zero(m)], size),
          m & -m);
  constexpr T kPart = static_cast<T>(kBlockPart), kRanks = T{0xff} * kPart;
  const T* in = w.slot<T>(op.src[0]);
  write_lanes<T>(w, op.dst[0], [&](int i) {
    return static_cast<T>((in[i] & ~kRanks) +
                          (rank[i] == own[i] ? T{0} : static_cast<T>(rank[i] + 1) * kPart));
  });
}

}  // namespace

void add_async_rows(OpTable& table) {
  PlainRows r{table};
  using enum SlotKind;
  r.row("cp.async", &copy_small, OpKind::copy);
  r.row("cp.async.bulk", &copy_bulk, OpKind::copy);
  r.row("prefetch", &prefetch, OpKind::other, {wide});
  r.row("cp.async.commit_group", &commit<CopyKind::small>, OpKind::other);
  r.row("cp.async.wait_group", &wait<CopyKind::small>, OpKind::other);
  r.row("cp.async.bulk.commit_group", &commit<CopyKind::bulk>, OpKind::other);
  r.row("cp.async.bulk.wait_group", &wait<CopyKind::bulk>, OpKind::other);
  r.row("cp.async.mbarrier.arrive", &mbarrier_arrive_by_copies<false>, OpKind::mbarrier, {wide});
  r.row("cp.async.mbarrier.arrive.noinc", &mbarrier_arrive_by_copies<true>, OpKind::mbarrier, {wide});
  r.row("mbarrier.init", &mbarrier_init, OpKind::mbarrier, {wide, narrow});
  r.row("mbarrier.inval", &mbarrier_inval, OpKind::mbarrier, {wide});
  r.row("mbarrier.arrive", &mbarrier_arrive<Arrival::plain, true>, OpKind::mbarrier, {wide});
  r.row("mbarrier.arrive.noComplete", &mbarrier_arrive<Arrival::plain, false>, OpKind::mbarrier, {wide});
  r.row("mbarrier.arrive_drop", &mbarrier_arrive<Arrival::drop, true>, OpKind::mbarrier, {wide});
  r.row("mbarrier.arrive_drop.noComplete", &mbarrier_arrive<Arrival::drop, false>, OpKind::mbarrier, {wide});
  r.row("mbarrier.expect_tx", &mbarrier_expect, OpKind::mbarrier, {wide, narrow});
  r.row("mbarrier.complete_tx", &mbarrier_complete, OpKind::mbarrier, {wide, narrow});
  r.row("mbarrier.test_wait", &mbarrier_test<false>, OpKind::mbarrier, {wide, wide}, {predicate});
  r.row("mbarrier.test_wait.parity", &mbarrier_test<true>, OpKind::mbarrier, {wide, narrow}, {predicate});
  r.row("mbarrier.pending_count", &mbarrier_pending, OpKind::other, {wide}, {narrow});
  r.row("mapa.u32", &map_to_block<u32>, OpKind::other, {narrow, narrow, narrow}, {narrow});
  r.row("mapa.u64", &map_to_block<u64>, OpKind::other, {wide, narrow, narrow}, {wide});
}

}  // namespace course::sim::SIM_ISA
