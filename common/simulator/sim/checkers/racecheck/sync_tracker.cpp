// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/sync_tracker.hpp"

#include <algorithm>

#include "sim/checkers/racecheck/memory_model.hpp"
#include "sim/checkers/racecheck/old_values.hpp"

namespace course::sim::race {
namespace {

constexpr std::size_t kMaxSyncVariables = std::size_t{1} << 20;  // a limit for hints only
// Limits: writers that all synchronisation variables together remember, and writers that each of them may
// always remember.
constexpr std::size_t kMaxWriters = std::size_t{1} << 21, kMinWriters = 4;

void observe(CurrentAccess& h, int lane, const Published& from, bool acquires, Scope scope) {
  const bool own_block = from.owner == h.b.number && !from.block.empty();
  if (from.device.empty() && !own_block) return;
  ThreadClocks& k = h.b.clocks_of(h.w, lane);
  if (own_block) (acquires ? k.known : k.seen[kBlockWide]).join(from.block);
  (acquires && scope == kDeviceWide ? k.known : k.seen[kDeviceWide]).join(from.device);
  std::uint64_t& fence = acquires && scope == kDeviceWide ? h.b.fence : h.b.seen_fence;
  fence = std::max(fence, from.fence);
}

// Adds what the lane has ready to what a value publishes, or replaces it.
void add_published(Published& into, const CurrentAccess& h, int lane, bool replaces) {
  const ThreadClocks& k = h.ws.of(lane);
  const std::uint32_t lanes = 1u << lane;
  if (replaces) into.fence = 0;
  if (!k.ready[kDeviceWide].empty()) into.fence = std::max(into.fence, h.b.fence);
  if (replaces) into.device = VectorClock{};
  k.ready[kDeviceWide].add_to(into.device, h.b.number, h.w.number, lanes);
  if (replaces || into.owner != h.b.number) into.block = VectorClock{};
  into.owner = h.b.number;
  k.ready[kBlockWide].add_to(into.block, h.b.number, h.w.number, lanes);
}

void note_look(CurrentAccess& h, int lane, std::uint64_t key, const SyncVariable& variable) {
  BlockState& b = h.b;
  const auto at = [&](std::uint32_t n) -> Look& { return b.looks[n % b.looks.size()]; };
  if (b.n_looks == 0 || at(b.n_looks - 1).key != key || at(b.n_looks - 1).warp != h.w.number)
    at(b.n_looks++) = {key, 0, h.w.number, 0, 0, {}};
  Look& look = at(b.n_looks - 1);
  look.lanes |= 1u << lane;
  look.version = variable.version;
  look.barrier = b.bound;
  look.last = variable.last;
}

}  // namespace

void SyncTracker::launch_begins(const Program& program) {
  variables_.clear();
  n_writers_ = 0;
  locks_.launch_begins(program);
  fences_ = orders_global_ = exchanges_ = false;
  for (const MicroOp& op : program.ops) {
    const int order = op.order & kOrderMask;
    if (op.kind == OpKind::fence && order != kWeak) fences_ = true;
    if ((op.kind == OpKind::load || op.kind == OpKind::store) && order != kWeak) exchanges_ = true;
    if (accesses_memory(op.kind) && order >= kAcquire) fences_ = true;
    const bool hears = (op.kind == OpKind::load && order != kWeak) ||
                       (op.kind == OpKind::atomic && op.dst[0] != MicroOp::kNoSlot);
    if (hears && (op.space == MemorySpace::global || op.space == MemorySpace::generic)) orders_global_ = true;
  }
  orders_global_ = orders_global_ || fences_;
}

void SyncTracker::before(BlockState& b, Warp& w, const MicroOp& op, OldValues& old_values) {
  WarpState& ws = b.warps[w.number];
  const RecordId next = records_.next();
  if (op.kind != OpKind::fence && exchanges_) ws.note_wait(w.mask, next, next);
  if ((op.order & kOrderMask) == kWeak) return;
  const Scope scope = (op.order & kScopeMask) >= kScopeDevice ? kDeviceWide : kBlockWide;
  if (scope == kDeviceWide) old_values.note_fence(b, op);
  const auto one = [&](ThreadClocks& k) {
    k.acquire_seen(scope);
    k.prepare({next, ws.bound, b.bound, k.known}, scope);
  };
  b.trivial = false;
  if (!ws.split && (w.live & ~w.mask) == 0)
    one(ws.whole);
  else
    for (const int lane : EachLane{w.mask}) one(b.clocks_of(w, lane));
  ws.fresh = next;
}

void SyncTracker::note_wait_or_ticket(CurrentAccess& h, std::uint32_t lanes) const {
  const bool waits = (h.op.order & kWaits) != 0, ticket = h.op.kind == OpKind::atomic && is_look(h.op);
  h.ws.may_exchange = h.ws.may_exchange || !waits;
  const RecordId next = records_.next();
  if (exchanges_ && (waits || ticket)) h.ws.note_wait(lanes, waits ? next : h.id, next);
  if (exchanges_ && ticket)
    for_lanes_in_turn(h.w, lanes, [&](int lane) { h.ws.ticket_at(h.a.at(lane)) = {h.a.at(lane), lane}; });
}

void SyncTracker::order_by(CurrentAccess& h, std::uint32_t lanes, OldValues& old_values) {
  const bool shared = h.shadow.shared;
  const RecordId next = records_.next();
  for (const int lane : EachLane{locks_.any() && h.writes ? lanes : 0}) {
    locks_.note({h.a.at(lane) / 4, shared ? h.b.number : ~0u}, {h.b.number, h.w.number, lane}, h.op.index,
                next);
  }
  note_wait_or_ticket(h, lanes);
  if (shared ? !fences_ : !orders_global_) return;
  SyncVariables& variables = shared ? h.b.sync_variables : variables_;
  const Scope scope = reaches_device(h.op) ? kDeviceWide : kBlockWide;
  const bool atomic = h.op.kind == OpKind::atomic, acquiring = acquires(h.op);
  const bool hears = h.reads || (atomic && h.op.dst[0] != MicroOp::kNoSlot);
  const bool releasing = h.writes && releases(h.op);
  for_lanes_in_turn(h.w, lanes, [&](int lane) {
    const Keys keys = keys_of(h.op, h.a.at(lane));
    Published* const old = (h.gets_old >> lane & 1) != 0 ? &old_values.published_at(h.a.at(lane)) : nullptr;
    if (hears && old != nullptr) {
      observe(h, lane, *old, acquiring, scope);
    } else if (hears) {
      for_variables(variables, keys, [&](std::uint64_t key, const SyncVariable& variable) {
        observe(h, lane, variable, acquiring, scope);
        if (!shared) note_look(h, lane, key, variable);
      });
    }
    if (!h.writes) return;
    if (releasing) {
      ThreadClocks& k = h.b.clocks_of(h.w, lane);
      k.prepare({next, h.ws.bound, h.b.bound, k.known}, scope);
    }
    for (std::uint64_t k = 0; k < keys.n; ++k)
      publish(h, lane, variables, keys.first + k * keys.step, !atomic);
    if (old != nullptr) add_published(*old, h, lane, false);
  });
  if (releasing) h.ws.fresh = next;
}

void SyncTracker::publish(CurrentAccess& h, int lane, SyncVariables& variables, std::uint64_t key,
                          bool replaces) {
  const ThreadClocks& k = h.ws.of(lane);
  const bool silent = k.ready[kBlockWide].empty() && k.ready[kDeviceWide].empty();
  auto it = variables.find(key);
  if (it == variables.end()) {
    if (silent && (h.shadow.shared || variables.size() >= kMaxSyncVariables)) return;
    if (key >= kByteKey) variables[(key - kByteKey) / 4].has_bytes = true;
    it = variables.try_emplace(key).first;
  }
  SyncVariable& variable = it->second;
  if (replaces && variable.has_bytes)
    for (std::uint64_t byte = 0; byte < 4; ++byte) variables.erase(kByteKey + key * 4 + byte);
  variable.has_bytes = variable.has_bytes && !replaces;
  const Publication& ready = k.ready[kDeviceWide];
  SyncVariable::Writer writer;
  writer.block = h.b.number;
  writer.warp = h.w.number;
  writer.lane = static_cast<std::uint32_t>(lane);
  writer.before = records_.next();
  writer.own = ready.own;
  writer.same_warp = ready.warp;
  writer.same_block = ready.block;
  writer.barrier = h.b.bound;
  writer.version = ++variable.version;
  writer.is_ticket = h.op.kind == OpKind::atomic && h.op.dst[0] != MicroOp::kNoSlot;
  variable.last = writer;
  if (!variable.writers.empty() && variable.writers.back().block == writer.block) {
    variable.writers.back() = writer;
  } else if (variable.writers.size() < kMinWriters || n_writers_ < kMaxWriters) {
    variable.writers.push_back(writer);
    ++n_writers_;
  } else {
    variable.writers[variable.next_writer++ % variable.writers.size()] = writer;
  }
  add_published(variable, h, lane, replaces);
}

}  // namespace course::sim::race
