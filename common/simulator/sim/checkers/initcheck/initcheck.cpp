// SPDX-License-Identifier: MIT
// Reading order: access (a load finds unwritten bits: begin_to_follow); before (each later op: where the
// followed bits go); fate_of (dropped, passed, copied, used); report.
#include "sim/checkers/initcheck/initcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/checkers/library_kernels.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

using u32 = std::uint32_t;

constexpr std::uint64_t kPage = 4096;  // bytes that one entry of Global::whole_pages stands for

// --- ranges of bits ----------------------------------------------------------------------------------------

// Calls `each(word, mask)` for the words that hold bits [first, first + n).
template <typename Word, typename Each>
inline void for_words(Word* bits, std::uint64_t first, std::uint64_t n, const Each& each) {
  while (n > 0) {
    const std::uint64_t in_word = first % 64, here = std::min<std::uint64_t>(64 - in_word, n);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << in_word;
    each(bits[first / 64], mask);
    first += here;
    n -= here;
  }
}

// Other host threads may set and clear bits of the same words.
void set(std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  if (first % 64 == 0 && n >= 1024) {
    std::memset(bits + first / 64, 0xff, n / 64 * 8);
    first += n / 64 * 64;
    n %= 64;
  }
  for_words(bits, first, n, [](std::uint64_t& word, std::uint64_t mask) {
    if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(&word, mask, __ATOMIC_RELAXED);
  });
}
void clear(std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  for_words(bits, first, n, [](std::uint64_t& word, std::uint64_t mask) {
    if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & mask) != 0)  // else a page of zeros would take memory
      __atomic_fetch_and(&word, ~mask, __ATOMIC_RELAXED);
  });
}
bool all_set(const std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  std::uint64_t missing = 0;
  for_words(bits, first, n, [&](const std::uint64_t& word, std::uint64_t mask) {
    missing |= ~__atomic_load_n(&word, __ATOMIC_RELAXED) & mask;
  });
  return missing == 0;
}
bool any_set(const std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  std::uint64_t there = 0;
  for_words(bits, first, n, [&](const std::uint64_t& word, std::uint64_t mask) {
    there |= __atomic_load_n(&word, __ATOMIC_RELAXED) & mask;
  });
  return there != 0;
}

}  // namespace

// An exchange whose old value is not used is a write, and so is mbarrier.init.
bool Initcheck::only_writes(const MicroOp& op) const {
  return op.kind == OpKind::store || (op.kind == OpKind::mbarrier && (op.order & kOrderMask) == kWeak) ||
         (op.dst[0] == MicroOp::kNoSlot && exchanges(op));
}

Gap Initcheck::gap(const OpRow& row) {
  if (is_plain(row.kind) || row.kind == OpKind::copy || row.kind == OpKind::mbarrier) return nullptr;
  if (is_of(row, {"tex", "suld", "sust"})) return "accesses to textures and surfaces are not followed";
  if (is_of(row, {"mapa"})) return "accesses to the shared memory of other blocks are not followed";
  return nullptr;  // before() treats registers that the others read as used
}

Gap Initcheck::gap(MemoryKind kind) {
  if (kind == MemoryKind::device || kind == MemoryKind::module_variable) return nullptr;
  return kind == MemoryKind::texture ? "accesses to textures and surfaces are not followed"
                                     : "what host code writes there is not followed";
}

Initcheck::Initcheck(const Arena& arena, std::vector<Finding>& findings)
    : arena_(arena),
      findings_(findings),
      global_(std::make_shared<Global>(Global{Reserved<std::uint64_t>(arena.size() / 64 + 1),
                                              Reserved<std::uint8_t>(arena.size() / kPage + 1)})) {
  trust_all();
}

Initcheck::Initcheck(const Initcheck& main, std::vector<Finding>& findings)
    : arena_(main.arena_), findings_(findings), global_(main.global_), will_repeat_(true) {}

// --- what the host does ------------------------------------------------------------------------------------

void Initcheck::allocated(std::uint64_t address, std::uint64_t n_bytes, MemoryKind kind) {
  const std::uint64_t first = address - arena_.base();
  if (kind != MemoryKind::device) return written(first, n_bytes);  // the host writes there directly
  clear(global_->bits.data(), first, n_bytes);
  if (n_bytes > 0)
    std::memset(global_->whole_pages.data() + first / kPage, 0,
                (first + n_bytes - 1) / kPage - first / kPage + 1);
}

std::vector<ByteRange> Initcheck::never_written(std::uint64_t address, std::uint64_t n_bytes) const {
  const std::uint64_t begin = address - arena_.base();
  std::vector<ByteRange> ranges;
  if (begin >= arena_.size() || n_bytes > arena_.size() - begin) return ranges;
  const std::uint64_t* const bits = global_->bits.data();
  const auto add = [&](std::uint64_t first, std::uint64_t n) {
    if (ranges.empty() || ranges.back().first + ranges.back().n_bytes != first)
      ranges.push_back({first, n});
    else
      ranges.back().n_bytes += n;
  };
  for (std::uint64_t at = begin; at < begin + n_bytes;) {
    const std::uint64_t here = std::min(64 - at % 64, begin + n_bytes - at);
    const std::uint64_t mask = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    std::uint64_t missing = ~bits[at / 64] >> at % 64 & mask;
    for (std::uint64_t from = at; missing != 0;) {
      const int skipped = std::countr_zero(missing), n = std::countr_one(missing >> skipped);
      add(from + static_cast<std::uint64_t>(skipped) + arena_.base(), static_cast<std::uint64_t>(n));
      if (skipped + n == 64) break;
      missing >>= skipped + n;
      from += static_cast<std::uint64_t>(skipped + n);
    }
    at += here;
  }
  return ranges;
}

void Initcheck::host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
  const std::uint64_t first = address - arena_.base();
  if (first < arena_.size() && n_bytes <= arena_.size() - first) written(first, n_bytes);
}

void Initcheck::released(std::uint64_t address, std::uint64_t n_bytes) {
  const std::uint64_t first = address - arena_.base(), end = first + n_bytes;
  global_->bits.drop((first + 63) / 64, end / 64 - std::min((first + 63) / 64, end / 64));
  // The partial pages at both ends.
  const std::uint64_t edge = std::min(n_bytes, 2 * 8 * kPage);
  clear(global_->bits.data(), first, edge);
  clear(global_->bits.data(), end - edge, edge);
}

void Initcheck::trust_all() {
  for (const auto& [base, allocation] : arena_.live()) written(base - arena_.base(), allocation.size);
}

void Initcheck::written(std::uint64_t first, std::uint64_t n_bytes) {
  set(global_->bits.data(), first, n_bytes);
  const std::uint64_t page = (first + kPage - 1) / kPage, end = (first + n_bytes) / kPage;
  if (page < end) std::memset(global_->whole_pages.data() + page, 1, end - page);
}

// --- a launch ----------------------------------------------------------------------------------------------

void Initcheck::launch_begins(const Program& program, const LaunchRequest& launch) {
  program_ = &program;
  launch_ = &launch;
  reported_.clear();
  unset_.assign(program.functions.size(), {});
  for (std::size_t f = 0; f < program.functions.size(); ++f) {
    const ProgramFunction& function = program.functions[f];
    const auto is_one_of = [](const std::vector<std::uint32_t>& slots, std::uint32_t slot) {
      return std::ranges::find(slots, slot) != slots.end();
    };
    for (const std::uint32_t slot : function.unset_slots)
      unset_[f].push_back(
          {slot, is_one_of(function.predicate_slots, slot), is_one_of(function.wide_slots, slot)});
  }
}

void Initcheck::races_found(const std::set<std::uint32_t>& racing) {
  std::erase_if(reported_, [&](const auto& known) { return racing.contains(known.first); });
}

void Initcheck::launch_ends() {
  for (auto& [op, finding] : reported_) add_finding(findings_, std::move(finding));
  reported_.clear();
}

void Initcheck::block_begins(Block& block) {
  if (blocks_.size() <= block.storage) blocks_.resize(block.storage + 1);
  auto& slot = blocks_[block.storage];
  if (slot == nullptr) slot = std::make_unique<BlockState>();
  slot->followed.resize(block.warps.size());
  for (Warp& w : block.warps) {
    Followed& f = slot->followed[w.number];
    f.values.reset(*program_);
    f.forget_sources();
    function_begins(w, 0, w.live);
  }
  slot->shared.assign(block.shared_bytes / 64 + 1, 0);
  set(slot->shared.data(), 0, program_->reserved_shared);  // the system uses it without initialising
  slot->shared_whole = false;
  slot->looks = 0;
  slot->next_look = kFirstLook;
  slot->local.resize(block.warps.size());
  if (!slot->has_local) return;
  for (auto& lanes : slot->local) std::ranges::fill(lanes, 0);
  slot->has_local = false;
}

std::uint32_t* Initcheck::local_lanes(const Warp& w, std::uint64_t end) {
  BlockState& block = *blocks_[w.block->storage];
  block.has_local = true;
  auto& lanes = block.local[w.number];
  if (lanes.size() < end) lanes.resize(end);
  return lanes.data();
}

void Initcheck::frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  u32* const lanes = local_lanes(w, std::uint64_t{offset} + bytes);
  for (u32 k = offset; k < offset + bytes; ++k) lanes[k] &= ~(1u << lane);
  // What a recursive function had in its registers comes back, so they are not followed.
  const CallFrame& call = w.calls[lane].back();
  if (!call.spilled) function_begins(w, call.function, 1u << lane);
}

void Initcheck::local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  u32* const lanes = local_lanes(w, std::uint64_t{offset} + bytes);
  for (u32 k = offset; k < offset + bytes; ++k) lanes[k] |= 1u << lane;
}

// --- asynchronous copies -----------------------------------------------------------------------------------

// The source of a copy must have been written. The destination counts as written when the copy is done.
void Initcheck::copies_issued(Warp& w, const CopyBatch& batch) {
  for (const int i : EachLane{batch.lanes}) {
    if (batch.read[i] == 0) continue;
    const Place place = place_of(batch.from[i]);
    const Shadow shadow = shadow_of(w, place);
    const std::uint64_t first = batch.from[i] - shadow.base;
    if (any_set(shadow.bits, first, batch.read[i])) continue;
    report(w, *batch.op, i, place, batch.from[i]);
    set(shadow.bits, first, batch.read[i]);  // reported only once
  }
}

void Initcheck::copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes,
                                std::uint64_t /*barrier*/) {
  for (const int i : EachLane{lanes}) {
    const Shadow shadow = shadow_of(block.warps[batch.warp], place_of(batch.to[i]));
    const std::uint64_t to = batch.to[i] - shadow.base;
    set(shadow.bits, to, batch.bytes[i]);
    // What the source lacks, the copy lacks, too.
    if (batch.read[i] == 0) continue;
    const Shadow source = shadow_of(block.warps[batch.warp], place_of(batch.from[i]));
    const std::uint64_t from = batch.from[i] - source.base;
    if (all_set(source.bits, from, batch.read[i])) continue;
    for (std::uint64_t k = 0; k < batch.read[i]; ++k)
      if (!all_set(source.bits, from + k, 1)) clear(shadow.bits, to + k, 1);
  }
}

// --- accesses ----------------------------------------------------------------------------------------------

Initcheck::Shadow Initcheck::shadow_of(Warp& w, Place place) {
  if (place == Place::shared)
    return {blocks_[w.block->storage]->shared.data(), kSharedWindow, w.block->shared_bytes};
  return {global_->bits.data(), arena_.base(), arena_.size()};
}

bool Initcheck::find_whole(BlockState& block, const Shadow& shadow) {
  if (++block.looks == block.next_look) {
    block.next_look *= 4;
    block.shared_whole = all_set(shadow.bits, 0, shadow.size);
  }
  return block.shared_whole;
}

// A store or swap of a value of which some bytes have not been initialised.
void Initcheck::stores_padding(Warp& w, const MicroOp& op, const LaneAccess& a) {
  padded_ = 0;
  const auto padding = std::exchange(padding_, {});
  for (const int i : EachLane{a.mask}) {
    const Place place = place_of(a.at(i));
    lane(w, op, a, i, place, padding[static_cast<std::size_t>(i)]);
    if (place == Place::shared) blocks_[w.block->storage]->shared_whole = false;
  }
}

void Initcheck::access(Warp& w, const MicroOp& op, const LaneAccess& a) {
  if (op.space == MemorySpace::constant) return;
  if (padded_ != 0) return stores_padding(w, op, a);
  if (!a.mixed && a.place == Place::local) return each_local_lane(w, op, a);
  if (!a.mixed) {
    const Shadow shadow = shadow_of(w, a.place);
    if (a.place == Place::shared) {
      BlockState& block = *blocks_[w.block->storage];
      if (block.shared_whole || (!only_writes(op) && find_whole(block, shadow))) return;
    }
    if (!a.is_within(shadow.base, shadow.size)) return each_lane(w, op, a, shadow);
    const std::uint64_t first = a.low - shadow.base, n = a.end - a.low;
    const std::uint8_t* const whole = global_->whole_pages.data();
    if (a.place == Place::global && n <= kPage && whole[first / kPage] != 0 &&
        whole[(first + n - 1) / kPage] != 0)
      return;
    if (!a.run) return each_lane(w, op, a, shadow);
    if (only_writes(op)) return set(shadow.bits, first, n);
    if (all_set(shadow.bits, first, n)) return;
  }
  for (const int i : EachLane{a.mask}) {
    lane(w, op, a, i, place_of(a.at(i)));
  }
}

// For lanes with any pattern of addresses, all in one kind of memory. The bits of an aligned access are in
// one word.
void Initcheck::each_lane(Warp& w, const MicroOp& op, const LaneAccess& a, const Shadow& shadow) {
  const std::uint64_t bits = (std::uint64_t{1} << a.bytes) - 1, last = shadow.size - a.bytes;
  if (shadow.size < a.bytes) return;  // a fault follows
  const bool reads = !only_writes(op), writes = op.kind != OpKind::load;
  for (const int i : EachLane{a.mask}) {
    const std::uint64_t first = a.at(i) - shadow.base;
    if (first > last || (first & (a.bytes - 1)) != 0) continue;  // a fault follows
    const std::uint64_t word = __atomic_load_n(shadow.bits + first / 64, __ATOMIC_RELAXED);
    const std::uint64_t there = word >> first % 64 & bits;
    if (reads && there != bits)
      lane(w, op, a, i, a.place);
    else if (writes)
      set(shadow.bits, first, a.bytes);
  }
}

void Initcheck::each_local_lane(Warp& w, const MicroOp& op, const LaneAccess& a) {
  const bool reads = !only_writes(op), writes = op.kind != OpKind::load;
  u32 lacking = 0;
  for_lanes(a.mask, [&](int i) {
    const std::uint64_t at = a.at(i) - kLocalWindow;
    const bool inside = at < w.local_stride && at + a.bytes <= w.local_stride;
    u32* const lanes = inside ? local_lanes(w, at + a.bytes) + at : nullptr;
    u32 there = inside ? 1u << i : 0;
    for (u32 k = 0; inside && reads && k < a.bytes; ++k) there &= lanes[k];
    for (u32 k = 0; there != 0 && writes && k < a.bytes; ++k) lanes[k] |= there;
    lacking |= there ^ 1u << i;
  });
  for_lanes(lacking, [&](int i) { lane(w, op, a, i, Place::local); });
}

void Initcheck::lane(Warp& w, const MicroOp& op, const LaneAccess& a, int lane, Place place, u32 absent) {
  if (place != Place::local) {
    const Shadow shadow = shadow_of(w, place);
    return lane_at(w, op, a, lane, place, shadow, a.at(lane) - shadow.base, absent);
  }
  const std::uint64_t first = a.at(lane) - kLocalWindow;
  if (first >= w.local_stride || first + a.bytes > w.local_stride) return;  // a fault follows
  u32* const lanes = local_lanes(w, first + a.bytes) + first;
  std::uint64_t bits = 0;
  for (u32 k = 0; k < a.bytes; ++k) bits |= std::uint64_t{lanes[k] >> lane & 1} << k;
  const std::uint64_t before = bits;
  lane_at(w, op, a, lane, place, {&bits, kLocalWindow, a.bytes}, 0, absent);
  for (u32 k = 0; bits != before && k < a.bytes; ++k)
    lanes[k] = (lanes[k] & ~(1u << lane)) | (static_cast<u32>(bits >> k & 1) << lane);
}

// `first`: of the access among the bits of `shadow`.
void Initcheck::lane_at(Warp& w, const MicroOp& op, const LaneAccess& a, int lane, Place place,
                        const Shadow& shadow, std::uint64_t first, u32 absent) {
  if (first >= shadow.size || first + a.bytes > shadow.size) return;  // a fault follows
  std::uint64_t* const bits = shadow.bits;
  if (!only_writes(op) && !all_set(bits, first, a.bytes)) {
    if (place == Place::global && arena_.find(a.at(lane)) == nullptr) return;  // a fault follows
    const bool again = will_repeat_ && place == Place::global;
    const bool swaps = exchanges(op) || (rule_of(op).how == FlowRule::swaps && any_set(bits, first, a.bytes));
    if ((op.kind == OpKind::load || swaps) && !again) {
      begin_to_follow(w, op, lane, place, a.at(lane), bits, first);
    } else {
      report(w, op, lane, place, a.at(lane), any_set(bits, first, a.bytes));
      if (again) return;
      set(bits, first, a.bytes);  // reported only once
    }
  }
  if (op.kind == OpKind::load) return;
  if (absent == 0) return set(shadow.bits, first, a.bytes);
  for (u32 k = 0; k < a.bytes; ++k)
    if ((absent >> k & 1) == 0)
      set(shadow.bits, first + k, 1);
    else if (op.kind == OpKind::store)
      clear(bits, first + k, 1);
}

// --- what becomes of a value -------------------------------------------------------------------------------

std::uint32_t Initcheck::number_of(Followed& f, const Source& source) {
  const auto [known, fresh] = f.numbers.try_emplace(source, static_cast<u32>(f.sources.size()));
  if (fresh) f.sources.push_back(source);
  return known->second;
}

void Initcheck::begin_to_follow(Warp& w, const MicroOp& load, int lane, Place place, std::uint64_t address,
                                const std::uint64_t* bits, std::uint64_t first) {
  Followed& f = followed(w);
  if (f.values.empty()) f.forget_sources();
  const bool padded = any_set(bits, first, std::uint64_t{load.width} * load.count);
  for (u32 k = 0; k < load.count; ++k) {
    const std::uint64_t at = first + k * load.width;
    if (load.dst[k] == MicroOp::kNoSlot || all_set(bits, at, load.width)) continue;
    std::uint64_t missing = 0;
    for (u32 byte = 0; byte < std::min<u32>(load.width, 8); ++byte)
      if (!any_set(bits, at + byte, 1)) missing |= std::uint64_t{0xff} << 8 * byte;
    const bool whole = !any_set(bits, at, load.width);
    const u32 source = number_of(f, {&load, address, k, place, whole, padded});
    follow(f, ValueSlot::result(load, static_cast<int>(k)), lane, missing, source, false);
  }
  f.from_memory = true;
  w.observed = ~0u;
}

// A function begins in `lanes`, and has written no register.
void Initcheck::function_begins(Warp& w, u32 function, u32 lanes) {
  Followed& f = followed(w);
  for (const ValueSlot& at : unset_[function]) {
    const u32 source = number_of(f, {nullptr, at.slot, 0, Place::registers, false, false});
    for_lanes(lanes, [&](int i) { follow(f, at, i, ~std::uint64_t{0}, source, false); });
    w.observed = ~0u;
  }
}

void Initcheck::follow(Followed& f, ValueSlot at, int lane, std::uint64_t missing, u32 source, bool changed) {
  const auto word = [&](std::uint64_t bits) {
    const auto low = static_cast<u32>(bits);
    return low == 0 ? Missing{} : Missing{low, source, changed};
  };
  f.values.set(at, lane, word(missing), word(missing >> 32));
}

// The missing bits of a lane's value, of both words.
Initcheck::Found Initcheck::find(const Followed& f, ValueSlot at, int lane) {
  const Missing low = f.values.low(at, lane), high = f.values.high(at, lane);
  return {low.bits | std::uint64_t{high.bits} << 32, low.source != 0 ? low.source : high.source,
          low.changed || high.changed};
}

// Whether `lanes` go on depends on a register.
void Initcheck::decides(Warp& w, ValueSlot at, u32 lanes) {
  Followed& f = followed(w);
  lanes &= f.values.lanes(at);
  if (lanes == 0) return;
  Uses uses;
  for_lanes(lanes, [&](int i) { uses[find(f, at, i).source] |= 1u << i; });
  report_uses(w, *w.current, uses);
}

void Initcheck::branches(Warp& w, const BasicBlock& b, u32 mask) {
  if (b.exit == Exit::call_indirect)
    return decides(w, {program_->calls[b.target].selector, false, true}, mask);
  decides(w, {b.predicate, b.exit == Exit::branch}, mask);
}

// `op` uses values. Others of the same load, such as further elements of a vector, are not reported again.
void Initcheck::report_uses(Warp& w, const MicroOp& op, const Uses& uses) {
  if (uses.empty()) return;
  Followed& f = followed(w);
  std::map<const MicroOp*, u32> reported;
  for (const auto& [number, all] : uses) {
    const Source source = f.sources[number];
    const MicroOp& read = source.op != nullptr ? *source.op : op;
    const u32 lanes = all & ~std::exchange(reported[&read], reported[&read] | all);
    if (lanes == 0) continue;
    const std::uint64_t bytes = std::uint64_t{read.width} * read.count;
    // A later load of the same memory is not reported again.
    if (source.place == Place::registers) {
      report(w, read, std::countr_zero(lanes), source.place, 0);
    } else if (source.place == Place::local) {
      for_lanes(lanes, [&](int i) {
        report(w, read, i, source.place, source.address + source.element * read.width, !source.whole);
        local_moved(w, i, static_cast<u32>(source.address - kLocalWindow), static_cast<u32>(bytes));
      });
    } else {
      report(w, read, std::countr_zero(lanes), source.place, source.address + source.element * read.width,
             !source.whole);
      const Shadow shadow = shadow_of(w, source.place);
      set(shadow.bits, source.address - shadow.base, bytes);
    }
    f.values.forget_if(lanes, [&, n = number](int, const Missing& v) {
      return v.source == n || f.sources[v.source].op == &read;
    });
  }
}

// What an op does with a value of which bits are missing.
enum class Initcheck::Fate : std::uint8_t { dropped, passed, copied, used };

// Of source `k`. `left`: the result's missing bits; `swapped`: a source is what an atomic has read.
Initcheck::Fate Initcheck::fate_of(const MicroOp& op, int k, const Found& v, const Source& source,
                                   std::uint64_t left, bool swapped) const {
  const FlowRule& rule = rule_of(op);
  const bool swaps = rule.how == FlowRule::swaps;
  if (op.kind == OpKind::store || swaps) {
    if (k == 0 || (source.whole && (swaps || !source.padded))) return Fate::used;
    if (source.whole) return Fate::copied;
    const std::uint64_t stored = op.width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * op.width) - 1;
    if ((v.bits & stored) == 0) return Fate::dropped;
    if (v.changed) return Fate::used;
    return !swaps || k == rule.data ? Fate::copied : Fate::dropped;
  }
  if (source.whole) {
    const bool selects = rule.selects && op.pred_src == 4 && k < 2;
    return selects || (op.kind == OpKind::move && op.n_src == 1) ? Fate::passed : Fate::used;
  }
  const bool counts = (v.bits & rule.counted()) != 0;
  const auto used_if = [](bool uses) { return uses ? Fate::used : Fate::dropped; };
  switch (rule.how) {
    case FlowRule::uses: return used_if(counts);
    // A loop around a swap compares what it read with what it had expected, whatever bytes are in the word.
    case FlowRule::equals: return used_if(counts && (!swapped || v.changed));
    case FlowRule::orders: return used_if(left != 0);
    case FlowRule::logic: return k == 3 ? used_if(counts) : Fate::passed;
    case FlowRule::routes: return k >= rule.data ? Fate::used : Fate::passed;
    default: return Fate::passed;
  }
}

void Initcheck::before(Warp& w, const MicroOp& op) {
  Followed& f = followed(w);
  if (f.values.empty()) return;
  decides(w, ValueSlot::guard(op), w.mask);
  Uses uses;
  // Ops such as those of matrices read more registers than their sources list.
  const bool reads_anything =
      op.kind == OpKind::other || op.kind == OpKind::control || op.kind == OpKind::copy;
  if (reads_anything && f.from_memory)
    f.values.forget_if(w.mask, [&](int i, const Missing& v) {
      if (f.sources[v.source].whole) uses[v.source] |= 1u << i;
      return false;
    });
  const bool shuffles = op.kind == OpKind::shuffle;
  // The last element of a vector store, and of a 128-bit atomic, is where results are otherwise.
  const int n_sources = op.kind == OpKind::store || op.kind == OpKind::atomic ? 5 : 4;
  const auto slot = [&](int k) { return k < 4 ? ValueSlot::source(op, k) : ValueSlot::stored(op, 3); };
  u32 lanes = 0;
  for (int k = 0; k < n_sources; ++k) lanes |= f.values.lanes(slot(k)) & (shuffles ? kAllLanes : w.mask);
  if (lanes == 0) {
    f.values.forget_results(op, w.mask);
    return report_uses(w, op, uses);
  }

  const FlowRule& rule = rule_of(op);
  std::array<LaneBits, 4> missing{};
  u32 swapped = 0;
  for (int k = 0; k < 4; ++k)
    for_lanes(f.values.lanes(slot(k)), [&](int i) {
      const Found v = find(f, slot(k), i);
      missing[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)] = v.bits;
      const MicroOp* const read = f.sources[v.source].op;
      if (read != nullptr && read->kind == OpKind::atomic) swapped |= 1u << i;
    });
  LaneBits left{}, from{};
  const bool by_bits = rule.how >= FlowRule::routes && rule.how <= FlowRule::orders;
  if (by_bits) left = missing_after(w, op, rule, missing);
  if (shuffles) from = lanes_read(w, op);
  const bool calculates =
      op.kind == OpKind::move || op.kind == OpKind::combine || op.kind == OpKind::divide || shuffles;
  struct Result {
    int lane, k;
    Found value;
  };
  std::vector<Result> results;
  for_lanes(shuffles ? w.mask : lanes, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    const bool selects = rule.selects && op.pred_src == 4;
    const int left_out = !selects ? -1 : (w.predicate(op.src[2]) >> i & 1) != 0 ? 1 : 0;
    Found result, everywhere;
    for (int k = 0; k < n_sources; ++k) {
      Found v = find(f, slot(k), shuffles && k == 0 ? static_cast<int>(from[at] % kLanes) : i);
      if (v.source == 0 || k == left_out) continue;
      const Source source = f.sources[v.source];
      const Fate fate = fate_of(op, k, v, source, left[at], (swapped >> i & 1) != 0);
      if (source.op == nullptr && calculates)
        v.source = number_of(f, {&op, source.address, 0, Place::registers, false, false});
      if (fate == Fate::used && source.place == Place::registers && calculates) {
        everywhere = {~std::uint64_t{0}, v.source, false};
      } else if (fate == Fate::used) {
        uses[v.source] |= 1u << i;
      } else if (fate == Fate::passed && result.source == 0) {
        v.changed = v.changed || rule.how == FlowRule::carries || rule.how == FlowRule::halves;
        result = {by_bits ? left[at] : ~std::uint64_t{0}, v.source, v.changed};
      } else if (fate == Fate::copied) {
        const u32 element = op.kind == OpKind::store ? static_cast<u32>(k - 1) : 0;
        for (u32 byte = 0; byte < op.width; ++byte)
          if (source.whole || (~v.bits >> 8 * byte & 0xff) == 0)
            padding_[at] |= 1u << (element * op.width + byte);
        padded_ |= 1u << i;
      }
    }
    if (result.bits == 0) result = everywhere;
    results.push_back({i, 0, result});
    for (int k = 1; k < 4 && everywhere.source != 0; ++k) results.push_back({i, k, everywhere});
  });
  f.values.forget_results(op, w.mask);
  for (const auto& [lane, k, v] : results)
    if (op.kind != OpKind::store && v.source != 0)
      follow(f, ValueSlot::result(op, k), lane, v.bits, v.source, v.changed);
  report_uses(w, op, uses);
}

void Initcheck::report(Warp& w, const MicroOp& op, int lane, Place place, std::uint64_t address,
                       bool in_part) {
  const bool in_library_kernel =
      (place == Place::shared || place == Place::registers) && is_library_kernel(program_->demangled);
  const auto [it, fresh] = reported_.try_emplace(in_library_kernel ? kAnyOp : op.index);
  Finding& f = it->second;
  if (!fresh) {
    ++f.times;
    return;
  }
  static constexpr const char* kKinds[] = {"uninitialised-global", "uninitialised-shared",
                                           "uninitialised-local", "uninitialised-variable"};
  static constexpr const char* kSince[] = {"nothing has been written there since it was allocated",
                                           "no thread of the block has written it",
                                           "the thread has not written it", "has not set it"};
  f.checker = Checker::initcheck;
  if (in_library_kernel) f.severity = Severity::hint;
  f.kind = kKinds[static_cast<int>(place)];
  f.kernel = program_->demangled;
  f.where = places_of(*program_, op);
  f.thread = thread_of(*launch_, w.block->linear, w.number * kLanes + static_cast<std::uint32_t>(lane));
  f.object =
      place == Place::registers ? "a variable" : describe_address(*program_, arena_, address, op.width);
  f.message =
      fmt::format("{} {} {} at {}, but {}{}", describe_thread(f.thread),
                  place == Place::registers                                  ? "reads"
                  : op.kind == OpKind::atomic || op.kind == OpKind::mbarrier ? "updates"
                  : op.kind == OpKind::copy                                  ? "copies"
                                                                             : "reads",
                  f.object, one_line(f.where),
                  in_part ? "some of its bytes have never been written" : kSince[static_cast<int>(place)],
                  in_library_kernel ? kLibraryNote : "");
}

}  // namespace course::sim
