// SPDX-License-Identifier: MIT
// What orders the accesses of different threads: barriers, warp barriers, and fences with strong accesses.
#include <algorithm>
#include <bit>

#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/machine/control_flow.hpp"

namespace course::sim {
namespace {

constexpr std::size_t kMaxSyncVariables = std::size_t{1} << 20;  // a limit for hints only
// Limits: writers that all synchronisation variables together remember, and writers that each of them may
// always remember.
constexpr std::size_t kMaxWriters = std::size_t{1} << 21, kMinWriters = 4;

race::Locks::Thread thread_in(std::uint32_t block, std::uint32_t warp, auto lane) {
  return {block, warp * kLanes + static_cast<std::uint32_t>(lane)};
}

}  // namespace

// --- knowledge of lanes ------------------------------------------------------------------------------------

// The knowledge of one lane, to be changed: from now on, the lanes of its warp differ.
Racecheck::ThreadClocks& Racecheck::clocks_of(Warp& w, WarpState& ws, int lane) {
  state(*w.block).trivial = false;
  if (!ws.split && w.live == 1u << lane) return ws.whole;
  if (!ws.split) {
    ws.split = true;
    ws.lane.assign(kLanes, ws.whole);
  }
  return ws.lane[static_cast<std::size_t>(lane)];
}

void Racecheck::join(ThreadClocks& into, const ThreadClocks& from) const {
  into.known.join(from.known);
  for (int s = 0; s < kScopes; ++s) {
    into.seen[s].join(from.seen[s]);
    into.ready[s].other.join(from.ready[s].other);
  }
}

// Adds a publication by `lanes` of a warp to `into`, which does not depend on the state of the publisher any
// more.
void Racecheck::add_publication(VectorClock& into, const Publication& p, std::uint32_t block,
                                std::uint32_t warp, std::uint32_t lanes) const {
  if (p.empty()) return;
  BlockClock news;
  news.all_up_to(p.block);
  news.add({warp, kAllLanes, p.warp});
  news.add({warp, lanes, p.own});
  into.join(p.other);
  into.add(block, news);
}

// Adds to `into` what `lanes` of a warp know and have ready. A barrier also acquires what they have seen.
void Racecheck::pour(ThreadClocks& into, const ThreadClocks& from, std::uint32_t block, std::uint32_t warp,
                     std::uint32_t lanes) const {
  into.known.join(from.known);
  for (int s = 0; s < kScopes; ++s) {
    into.known.join(from.seen[s]);
    add_publication(into.ready[s].other, from.ready[s], block, warp, lanes);
  }
}

void Racecheck::pour(ThreadClocks& into, const BlockState& b, std::uint32_t warp, std::uint32_t lanes) const {
  const WarpState& ws = b.warps[warp];
  if (!ws.split) {
    if (!ws.whole.trivial()) pour(into, ws.whole, b.number, warp, lanes);
    return;
  }
  for (std::uint32_t left = lanes; left != 0;) {
    const ThreadClocks& first = ws.of(std::countr_zero(left));
    std::uint32_t alike = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1)
      if (first.is_copy_of(ws.of(std::countr_zero(m)))) alike |= m & -m;
    pour(into, first, b.number, warp, alike);
    left &= ~alike;
  }
}

void Racecheck::give(Warp& w, WarpState& ws, std::uint32_t lanes, const ThreadClocks& news) {
  if (!ws.split && (w.live & ~lanes) == 0) {
    join(ws.whole, news);
    state(*w.block).trivial = false;
    return;
  }
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) join(clocks_of(w, ws, std::countr_zero(m)), news);
}

// --- barriers ----------------------------------------------------------------------------------------------

void Racecheck::barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) {
  BlockState& b = state(*w.block);
  WarpState& ws = b.warps[w.number];
  // At the barrier of a cluster, arriving and waiting are two instructions. What a thread does between them
  // counts as done before the barrier.
  const bool waits = waits_at_barrier(op) || op.imm == kClusterArrive;
  b.arrivals[barrier_number(w, mask, op)].push_back(
      {w.number, mask, next(), waits, op.src[2] != MicroOp::kNoSlot});
  ws.fresh = next();
}

void Racecheck::barrier_released(Block& block, std::uint32_t barrier) {
  BlockState& b = state(block);
  std::vector<Arrival>& arrivals = b.arrivals[barrier];
  b.fence = std::max(b.fence, b.seen_fence);
  std::uint32_t waiting = 0;
  bool all_wait = true, counted = false;
  for (const Arrival& a : arrivals) {
    waiting += count_lanes(a.lanes);
    all_wait = all_wait && a.waits;
    counted = counted || a.counted;
  }
  // If all threads take part, one number is enough. Threads that have exited count as arrived at a
  // __syncthreads().
  if (all_wait && waiting >= (counted ? block.n_threads : block.live_threads)) {
    if (!b.trivial) {
      ThreadClocks news;
      for (const Arrival& a : arrivals) pour(news, b, a.warp, a.lanes);
      news.known.forget(b.number);
      for (WarpState& ws : b.warps) {
        ws.split = false;
        ws.whole = news;
      }
      b.trivial = news.trivial();
    }
    b.bound = next();
    for (WarpState& ws : b.warps) ws.fresh = b.bound;
    if (!b.flights.empty()) renew_flights(block);
  } else {
    ThreadClocks news;
    BlockClock own;
    for (const Arrival& a : arrivals) {
      pour(news, b, a.warp, a.lanes);
      own.add({a.warp, kAllLanes, b.warps[a.warp].bound});
      own.add({a.warp, a.lanes, a.before});
    }
    news.known.add(b.number, own);
    for (const Arrival& a : arrivals)
      if (a.waits) give(block.warps[a.warp], b.warps[a.warp], a.lanes, news);
  }
  arrivals.clear();
}

// bar.warp.sync: several tiles of a warp may execute the same instruction together, each with its own mask.
void Racecheck::warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) {
  BlockState& b = state(*w.block);
  WarpState& ws = b.warps[w.number];
  const std::uint32_t* members = w.slot<std::uint32_t>(op.src[3]);
  for (std::uint32_t left = mask; left != 0;) {
    const std::uint32_t wanted = members[std::countr_zero(left)];
    std::uint32_t tile = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1)
      if (members[std::countr_zero(m)] == wanted) tile |= m & -m;
    left &= ~tile;
    const bool trivial = !ws.split && ws.whole.trivial();
    if ((w.live & ~tile) == 0) {
      if (!trivial) {
        ThreadClocks news;
        pour(news, b, w.number, tile);
        ws.split = false;
        ws.whole = std::move(news);
      }
      ws.bound = next();
    } else {
      ThreadClocks news;
      if (!trivial) pour(news, b, w.number, tile);
      BlockClock own;
      own.add({w.number, tile, next()});
      news.known.add(b.number, own);
      give(w, ws, tile, news);
      note_wait(ws, tile, *std::max_element(ws.waited, ws.waited + kLanes));
    }
  }
  ws.fresh = next();
}

// --- fences and strong accesses ----------------------------------------------------------------------------

// Prepares what the threads have done and know for publication by their next strong write.
void Racecheck::prepare(ThreadClocks& k, const WarpState& ws, const BlockState& b, Scope scope) const {
  const Publication now{next(), ws.bound, b.bound, k.known};
  k.ready[kBlockWide] = now;
  if (scope == kDeviceWide) k.ready[kDeviceWide] = now;
}

void Racecheck::acquire_seen(ThreadClocks& k, Scope scope) const {
  for (int s = 0; s <= scope; ++s) {
    k.known.join(k.seen[s]);
    k.seen[s] = VectorClock{};
  }
}

void Racecheck::before(Warp& w, const MicroOp& op) {
  if (op.kind != OpKind::fence && exchanges_) note_wait(state(*w.block).warps[w.number], w.mask, next());
  if ((op.order & kOrderMask) == kWeak) return;
  BlockState& b = state(*w.block);
  WarpState& ws = b.warps[w.number];
  const Scope scope = (op.order & kScopeMask) >= kScopeDevice ? kDeviceWide : kBlockWide;
  if (gives_old_values_ && scope == kDeviceWide) {
    note_release(b);
    b.fence = std::max(b.fence, b.seen_fence);
    if ((op.order & kOrderMask) == kSequential) b.fence = ++n_fences_;
  }
  const auto one = [&](ThreadClocks& k) {
    acquire_seen(k, scope);
    prepare(k, ws, b, scope);
  };
  b.trivial = false;
  if (!ws.split && (w.live & ~w.mask) == 0)
    one(ws.whole);
  else
    for (std::uint32_t m = w.mask; m != 0; m &= m - 1) one(clocks_of(w, ws, std::countr_zero(m)));
  ws.fresh = next();
}

// From now on the lanes go by what others of their warp have done before record `before`.
void Racecheck::note_wait(WarpState& ws, std::uint32_t lanes, RecordId before) {
  for (std::uint32_t m = lanes; m != 0; m &= m - 1)
    ws.waited[std::countr_zero(m)] = std::max(ws.waited[std::countr_zero(m)], before);
  if (std::exchange(ws.may_exchange, false)) ws.fresh = next();
}

// Each element of a vector is an access of its own (PTX ISA 8.2, vector data types).
Racecheck::Keys Racecheck::keys_of(const MicroOp& op, std::uint64_t address) {
  const std::uint64_t bytes = std::uint64_t{op.width} * op.count;
  if (bytes < 4) return {kByteKey + address, 1, bytes};
  const std::uint64_t words = std::max<std::uint64_t>(op.width / 4, 1);
  return {address / 4, words, bytes / 4 / words};
}

// A strong access publishes at its address. What was published there, it has seen, or acquires at once.
void Racecheck::order_by(CurrentAccess& h, std::uint32_t lanes) {
  const bool shared = h.shadow.shared;
  for (std::uint32_t m = locks_.any() && h.writes ? lanes : 0; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    locks_.note({h.a.at(lane) / 4, shared ? h.b.number : ~0u}, thread_in(h.b.number, h.w.number, lane),
                h.op.index, next());
  }
  const bool waits = (h.op.order & kWaits) != 0, ticket = h.op.kind == OpKind::atomic && is_look(h.op);
  h.ws.may_exchange = h.ws.may_exchange || !waits;
  if (exchanges_ && (waits || ticket)) note_wait(h.ws, lanes, waits ? next() : h.id);
  if (exchanges_ && ticket)
    for_lanes_in_turn(h.w, lanes, [&](int lane) { h.ws.ticket_at(h.a.at(lane)) = {h.a.at(lane), lane}; });
  if (shared ? !fences_ : !sync_global_) return;
  SyncVariables& variables = shared ? h.b.sync_variables : sync_variables_;
  const int order = h.op.order & kOrderMask;
  const Scope scope =
      order == kVolatile || (h.op.order & kScopeMask) >= kScopeDevice ? kDeviceWide : kBlockWide;
  const bool atomic = h.op.kind == OpKind::atomic;
  const bool hears = h.reads || (atomic && h.op.dst[0] != MicroOp::kNoSlot);
  const bool acquires = Racecheck::acquires(h.op);
  const bool releases = h.writes && Racecheck::releases(h.op);
  for_lanes_in_turn(h.w, lanes, [&](int lane) {
    const Keys keys = keys_of(h.op, h.a.at(lane));
    Published* const old = (h.gets_old >> lane & 1) != 0 ? &unseen_.at(h.a.at(lane)).old_published : nullptr;
    if (hears && old != nullptr) {
      observe(h, lane, *old, acquires, scope);
    } else if (hears) {
      for_variables(variables, keys, [&](std::uint64_t key, const SyncVariable& variable) {
        observe(h, lane, variable, acquires, scope);
        if (!shared) note_look(h, lane, key, variable);
      });
    }
    if (!h.writes) return;
    if (releases) prepare(clocks_of(h.w, h.ws, lane), h.ws, h.b, scope);
    for (std::uint64_t k = 0; k < keys.n; ++k)
      publish(h, lane, variables, keys.first + k * keys.step, !atomic);
    if (old != nullptr) add_published(*old, h, lane, false);
  });
  if (releases) h.ws.fresh = next();
}

void Racecheck::observe(CurrentAccess& h, int lane, const Published& from, bool acquires, Scope scope) {
  const bool own_block = from.owner == h.b.number && !from.block.empty();
  if (from.device.empty() && !own_block) return;
  ThreadClocks& k = clocks_of(h.w, h.ws, lane);
  if (own_block) (acquires ? k.known : k.seen[kBlockWide]).join(from.block);
  (acquires && scope == kDeviceWide ? k.known : k.seen[kDeviceWide]).join(from.device);
  std::uint64_t& fence = acquires && scope == kDeviceWide ? h.b.fence : h.b.seen_fence;
  fence = std::max(fence, from.fence);
}

void Racecheck::publish(CurrentAccess& h, int lane, SyncVariables& variables, std::uint64_t key,
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
  writer.before = next();
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

// Adds what the lane has ready to what a value publishes, or replaces it.
void Racecheck::add_published(Published& into, const CurrentAccess& h, int lane, bool replaces) const {
  const ThreadClocks& k = h.ws.of(lane);
  const std::uint32_t lanes = 1u << lane;
  if (replaces) into.fence = 0;
  if (!k.ready[kDeviceWide].empty()) into.fence = std::max(into.fence, h.b.fence);
  if (replaces) into.device = VectorClock{};
  add_publication(into.device, k.ready[kDeviceWide], h.b.number, h.w.number, lanes);
  if (replaces || into.owner != h.b.number) into.block = VectorClock{};
  into.owner = h.b.number;
  add_publication(into.block, k.ready[kBlockWide], h.b.number, h.w.number, lanes);
}

void Racecheck::note_look(CurrentAccess& h, int lane, std::uint64_t place, const SyncVariable& variable) {
  BlockState& b = h.b;
  const auto at = [&](std::uint32_t n) -> Look& { return b.looks[n % b.looks.size()]; };
  if (b.n_looks == 0 || at(b.n_looks - 1).place != place || at(b.n_looks - 1).warp != h.w.number)
    at(b.n_looks++) = {place, 0, h.w.number, 0, 0, {}};
  Look& look = at(b.n_looks - 1);
  look.lanes |= 1u << lane;
  look.version = variable.version;
  look.barrier = b.bound;
  look.last = variable.last;
}

Racecheck::Missing Racecheck::missing_between(const CurrentAccess& h, int lane, const Record& r, RecordId id,
                                              std::uint32_t other_lane, std::uint64_t but_not) const {
  if (r.block == h.b.number) {
    return locks_.pass(thread_in(r.block, warp_of(r), other_lane), id,
                       thread_in(h.b.number, h.w.number, lane))
               ? Missing::lock_fence
               : Missing::nothing_passes;
  }
  if (h.shadow.shared) return Missing::nothing_passes;
  Missing missing = Missing::nothing_passes;
  const auto consider = [&](const Look& look, const SyncVariable& variable,
                            const SyncVariable::Writer& writer) {
    if (writer.block != r.block || writer.before <= id || writer.version > look.version) return;
    const bool same_warp = writer.warp == warp_of(r), same_thread = same_warp && writer.lane == other_lane;
    const bool published = (same_thread && writer.own > id) || (same_warp && writer.same_warp > id) ||
                           writer.same_block > id ||
                           variable.device.covers(r.block, author(r), other_lane, id);
    const bool own_look = look.warp == h.w.number && (look.lanes >> lane & 1) != 0;
    if (published ? own_look || h.b.bound > look.barrier : same_thread || writer.barrier > id)
      missing = published ? Missing::readers_fence : Missing::writers_fence;
    else if (missing == Missing::nothing_passes)
      missing = published ? Missing::readers_barrier : Missing::writers_barrier;
  };
  for (std::uint32_t k = 0; k < std::min<std::size_t>(h.b.n_looks, h.b.looks.size()); ++k) {
    const Look& look = h.b.looks[k];
    const auto variable = sync_variables_.find(look.place);
    if (look.place == but_not || variable == sync_variables_.end()) continue;
    consider(look, variable->second, look.last);
    for (const SyncVariable::Writer& writer : variable->second.writers)
      consider(look, variable->second, writer);
  }
  return missing;
}

// Whether this block has seen a flag that the block of record `r` set before that access.
Racecheck::Announced Racecheck::announced(const CurrentAccess& h, const Record& r, RecordId id,
                                          std::uint32_t other_lane) const {
  Announced found = Announced::no;
  for (std::uint32_t k = 0; k < std::min<std::size_t>(h.b.n_looks, h.b.looks.size()); ++k) {
    const SyncVariable::Writer& writer = h.b.looks[k].last;
    if (writer.block != r.block || writer.before > id || writer.is_ticket) continue;
    if (writer.warp == warp_of(r) && writer.lane == other_lane) return Announced::before_by_itself;
    found = Announced::before_by_another;
  }
  return found;
}

// What the write of this conflict has replaced: a weak write of the same word, of which the reader knows.
// 0: unknown.
Racecheck::Cell Racecheck::replaced_by(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                                       std::uint32_t other_lane, bool old_writes) const {
  if (h.shadow.shared || old_writes == h.writes) return 0;
  if (h.writes) {
    const Cell earlier = h.shadow.written[offset / 4];
    const RecordId written = earlier >> kLaneBits;
    // The reader knows of it, since otherwise it would have been reported.
    if (written < h.shadow.floor || written >= id || record(written).kind != Record::access) return 0;
    return reported_.contains(pair_of(Hazard::read_write, record(written).what, record(id).what)) ? 0
                                                                                                  : earlier;
  }
  const auto found = replaced_.find(offset / 4);
  if (found == replaced_.end()) return 0;
  const RecordId written = found->second >> kLaneBits;
  const std::uint32_t written_by = found->second & kLaneMask;
  const bool known = written < id && record(written).block == record(id).block && written_by == other_lane &&
                     ordered(h, written, written_by, lane);
  return known ? found->second : 0;
}

}  // namespace course::sim
