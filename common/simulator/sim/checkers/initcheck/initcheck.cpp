// SPDX-License-Identifier: MIT
#include "sim/checkers/initcheck/initcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "sim/checkers/library_kernels.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/machine.hpp"

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

void set(std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  if (first % 64 == 0 && n >= 1024) {
    std::memset(bits + first / 64, 0xff, n / 64 * 8);
    first += n / 64 * 64;
    n %= 64;
  }
  for_words(bits, first, n, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
}
void clear(std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  for_words(bits, first, n, [](std::uint64_t& word, std::uint64_t mask) {
    if ((word & mask) != 0) word &= ~mask;  // pages that are zero are not written, and take no memory
  });
}
// The same as set(), but other threads may set bits at the same time.
void set_atomically(std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  for_words(bits, first, n, [](std::uint64_t& word, std::uint64_t mask) {
    if (~mask == 0)
      __atomic_store_n(&word, mask, __ATOMIC_RELAXED);
    else if ((__atomic_load_n(&word, __ATOMIC_RELAXED) & mask) != mask)
      __atomic_fetch_or(&word, mask, __ATOMIC_RELAXED);
  });
}
// Other threads may set bits of the same words.
void unset(std::uint64_t* bits, std::uint64_t first, std::uint64_t n) {
  for_words(bits, first, n, [](std::uint64_t& word, std::uint64_t mask) {
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

// mbarrier.init is a write, too.
bool exchanges(const MicroOp& op) {
  const BitRule rule = op.kind == OpKind::atomic ? bit_rule(op) : BitRule{};
  return rule.how == BitRule::swaps && rule.data == 1;
}

bool only_writes(const MicroOp& op) {
  return op.kind == OpKind::store || (op.kind == OpKind::mbarrier && (op.order & kOrderMask) == kWeak) ||
         (op.dst[0] == MicroOp::kNoSlot && exchanges(op));
}

}  // namespace

Gap Initcheck::gap(const OpRow& row) {
  if (is_plain(row.kind) || row.kind == OpKind::copy) return nullptr;
  if (row.kind == OpKind::mbarrier)
    return is_of(row, {"st.async"}) ? "what an asynchronous store writes is not followed" : nullptr;
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
    : arena_(main.arena_), findings_(findings), global_(main.global_), parallel_(true) {}

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
  slot->followed.assign(block.warps.size(), {});
  for (Warp& w : block.warps) function_begins(w, 0, w.live);
  slot->shared.assign(block.shared_bytes / 64 + 1, 0);
  set(slot->shared.data(), 0, program_->reserved_shared);  // the system uses it without initialising
  slot->shared_whole = false;
  slot->looks = 0;
  slot->next_look = kFirstLook;
  slot->local.resize(block.warps.size() * kLanes);
  if (!slot->has_local) return;
  for (Bits& bits : slot->local) std::fill(bits.begin(), bits.end(), 0);
  slot->has_local = false;
}

Initcheck::Bits& Initcheck::local_bits(const Warp& w, int lane, std::uint64_t end) {
  BlockState& block = *blocks_[w.block->storage];
  block.has_local = true;
  Bits& bits = block.local[w.number * kLanes + static_cast<std::size_t>(lane)];
  if (bits.size() * 64 < end) bits.resize(end / 64 + 1);
  return bits;
}

void Initcheck::frame_opened(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  clear(local_bits(w, lane, std::uint64_t{offset} + bytes).data(), offset, bytes);
  // What a recursive function had in its registers comes back, so they are not followed.
  const CallFrame& call = w.calls[lane].back();
  if (!call.spilled) function_begins(w, call.function, 1u << lane);
}

void Initcheck::local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  set(local_bits(w, lane, std::uint64_t{offset} + bytes).data(), offset, bytes);
}

// --- asynchronous copies -----------------------------------------------------------------------------------

// The source of a copy must have been written. The destination counts as written when the copy is done.
void Initcheck::copies_issued(Warp& w, const CopyBatch& batch) {
  for (std::uint32_t m = batch.lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
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
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const Shadow shadow = shadow_of(block.warps[batch.warp], place_of(batch.to[i]));
    const std::uint64_t to = batch.to[i] - shadow.base;
    set(shadow.bits, to, batch.bytes[i]);
    // What the source lacks, the copy lacks, too.
    if (batch.read[i] == 0) continue;
    const Shadow source = shadow_of(block.warps[batch.warp], place_of(batch.from[i]));
    const std::uint64_t from = batch.from[i] - source.base;
    if (all_set(source.bits, from, batch.read[i])) continue;
    for (std::uint64_t k = 0; k < batch.read[i]; ++k)
      if (!all_set(source.bits, from + k, 1)) unset(shadow.bits, to + k, 1);
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

void Initcheck::mark(const Shadow& shadow, std::uint64_t first, std::uint64_t n) {
  if (parallel_ && shadow.bits == global_->bits.data())
    set_atomically(shadow.bits, first, n);
  else
    set(shadow.bits, first, n);
}

// A store or swap of a value of which some bytes have not been initialised.
void Initcheck::stores_padding(Warp& w, const MicroOp& op, const LaneAccess& a) {
  padded_ = 0;
  const auto padding = std::exchange(padding_, {});
  for (std::uint32_t m = a.mask; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const Place place = place_of(a.at(i));
    lane(w, op, a, i, place, padding[static_cast<std::size_t>(i)]);
    if (place == Place::shared) blocks_[w.block->storage]->shared_whole = false;
  }
}

void Initcheck::access(Warp& w, const MicroOp& op, const LaneAccess& a) {
  if (op.space == MemorySpace::constant) return;
  if (padded_ != 0) return stores_padding(w, op, a);
  if (!a.mixed && a.place != Place::local) {
    const Shadow shadow = shadow_of(w, a.place);
    if (a.place == Place::shared) {
      BlockState& block = *blocks_[w.block->storage];
      if (block.shared_whole || (!only_writes(op) && find_whole(block, shadow))) return;
    }
    const std::uint64_t first = a.start() - shadow.base, n = std::uint64_t{a.count} * a.bytes;
    if (!a.run || first >= shadow.size || first + n > shadow.size) return each_lane(w, op, a, shadow);
    const std::uint8_t* const whole = global_->whole_pages.data();
    if (a.place == Place::global && whole[first / kPage] != 0 && whole[(first + n - 1) / kPage] != 0) return;
    if (only_writes(op)) return mark(shadow, first, n);
    if (all_set(shadow.bits, first, n)) return;
  }
  for (std::uint32_t m = a.mask; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    lane(w, op, a, i, place_of(a.at(i)));
  }
}

// For lanes with any pattern of addresses, all in one kind of memory. The bits of an aligned access are in
// one word.
void Initcheck::each_lane(Warp& w, const MicroOp& op, const LaneAccess& a, const Shadow& shadow) {
  const std::uint64_t bits = (std::uint64_t{1} << a.bytes) - 1, last = shadow.size - a.bytes;
  if (shadow.size < a.bytes) return;  // a fault follows
  const bool reads = !only_writes(op), writes = op.kind != OpKind::load;
  for (std::uint32_t m = a.mask; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const std::uint64_t first = a.at(i) - shadow.base;
    if (first > last || (first & (a.bytes - 1)) != 0) continue;  // a fault follows
    const std::uint64_t word = __atomic_load_n(shadow.bits + first / 64, __ATOMIC_RELAXED);
    const std::uint64_t there = word >> first % 64 & bits;
    if (reads && there != bits)
      lane(w, op, a, i, a.place);
    else if (writes)
      mark(shadow, first, a.bytes);
  }
}

void Initcheck::lane(Warp& w, const MicroOp& op, const LaneAccess& a, int lane, Place place, u32 absent) {
  std::uint64_t* bits = nullptr;
  std::uint64_t first = 0, size = 0;
  switch (place) {
    case Place::global:
      first = a.at(lane) - arena_.base();
      size = arena_.size();
      bits = global_->bits.data();
      break;
    case Place::shared:
      first = a.at(lane) - kSharedWindow;
      size = w.block->shared_bytes;
      bits = blocks_[w.block->storage]->shared.data();
      break;
    case Place::local:
      first = a.at(lane) - kLocalWindow;
      size = w.local_stride;
      break;
    case Place::registers: return;
  }
  if (first >= size || first + a.bytes > size) return;  // a fault follows
  if (place == Place::local) bits = local_bits(w, lane, first + a.bytes).data();
  if (!only_writes(op) && !all_set(bits, first, a.bytes)) {
    if (place == Place::global && arena_.find(a.at(lane)) == nullptr) return;  // a fault follows
    const bool again = parallel_ && place == Place::global;                    // the launch will be repeated
    const bool swaps = exchanges(op) || (bit_rule(op).how == BitRule::swaps && any_set(bits, first, a.bytes));
    if ((op.kind == OpKind::load || swaps) && !again) {
      begin_to_follow(w, op, lane, place, a.at(lane), bits, first);
    } else {
      report(w, op, lane, place, a.at(lane), any_set(bits, first, a.bytes));
      if (again) return;
      set(bits, first, a.bytes);  // reported only once
    }
  }
  if (op.kind == OpKind::load) return;
  if (absent == 0) return mark({bits, 0, size}, first, a.bytes);
  for (u32 k = 0; k < a.bytes; ++k)
    if ((absent >> k & 1) == 0)
      mark({bits, 0, size}, first + k, 1);
    else if (op.kind == OpKind::store)
      unset(bits, first + k, 1);
}

// --- what becomes of a value -------------------------------------------------------------------------------

void Initcheck::begin_to_follow(Warp& w, const MicroOp& load, int lane, Place place, std::uint64_t address,
                                const std::uint64_t* bits, std::uint64_t first) {
  const u32 bit = 1u << lane;
  const bool padded = any_set(bits, first, std::uint64_t{load.width} * load.count);
  auto& list = blocks_[w.block->storage]->followed[w.number];
  for (u32 k = 0; k < load.count; ++k) {
    const std::uint64_t at = first + k * load.width;
    if (load.dst[k] == MicroOp::kNoSlot || all_set(bits, at, load.width)) continue;
    auto it = std::find_if(list.begin(), list.end(), [&](const Followed& f) {
      return f.load == &load && f.slot == load.dst[k] && f.element == k;
    });
    if (it == list.end()) it = list.insert(list.end(), {load.dst[k], 0, &load, k, 0, 0, 0, place, {}, {}});
    const bool whole = !any_set(bits, at, load.width);
    it->lanes |= bit;
    it->padded = padded ? it->padded | bit : it->padded & ~bit;
    it->whole = whole ? it->whole | bit : it->whole & ~bit;
    it->changed &= ~bit;
    it->place = place;
    it->from[static_cast<std::size_t>(lane)] = address;
    std::uint64_t& missing = it->missing[static_cast<std::size_t>(lane)] = 0;
    for (u32 byte = 0; byte < std::min<u32>(load.width, 8); ++byte)
      if (!any_set(bits, at + byte, 1)) missing |= std::uint64_t{0xff} << 8 * byte;
  }
  w.observed = ~0u;
}

// A function begins in `lanes`, and has written no register.
void Initcheck::function_begins(Warp& w, u32 function, u32 lanes) {
  auto& list = blocks_[w.block->storage]->followed[w.number];
  for (const u32 slot : program_->functions[function].unset_slots) {
    auto it = std::find_if(list.begin(), list.end(),
                           [&](const Followed& f) { return f.slot == slot && f.load == nullptr; });
    if (it == list.end())
      it = list.insert(list.end(), {slot, 0, nullptr, 0, 0, 0, 0, Place::registers, {}, {}});
    it->lanes |= lanes;
    it->missing.fill(~std::uint64_t{0});
    w.observed = ~0u;
  }
}

// Whether `lanes` go on depends on a register.
void Initcheck::decides(Warp& w, u32 slot, u32 lanes) {
  auto& list = blocks_[w.block->storage]->followed[w.number];
  if (list.empty() || slot == MicroOp::kNoSlot) return;
  for (Followed& f : list) {
    if (f.slot != slot || (f.lanes & lanes) == 0) continue;
    if (f.load == nullptr) f.load = w.current;
    used(w, f, f.lanes & lanes);
    f.lanes &= ~lanes;
  }
  std::erase_if(list, [](const Followed& f) { return f.lanes == 0; });
}

void Initcheck::branches(Warp& w, const BasicBlock& b, u32 mask) {
  decides(w, b.exit == Exit::call_indirect ? program_->calls[b.target].selector : b.predicate, mask);
}

void Initcheck::used(Warp& w, const Followed& value, u32 lanes) {
  if (value.place == Place::registers) return report(w, *value.load, std::countr_zero(lanes), value.place, 0);
  const std::uint64_t bytes = std::uint64_t{value.load->width} * value.load->count;
  std::set<std::uint64_t> reported_addresses;
  for (u32 m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const std::uint64_t address = value.from[static_cast<std::size_t>(i)];
    if (value.place != Place::local && !reported_addresses.insert(address).second) continue;
    report(w, *value.load, i, value.place, address + value.element * value.load->width,
           (value.whole >> i & 1) == 0);
    // A later load of the same memory is not reported again.
    if (value.place == Place::local) {
      local_moved(w, i, static_cast<std::uint32_t>(address - kLocalWindow),
                  static_cast<std::uint32_t>(bytes));
    } else {
      const Shadow shadow = shadow_of(w, value.place);
      set(shadow.bits, address - shadow.base, bytes);
    }
  }
}

// The op reads, in some lanes, bits of `f` that are missing while others are not. Adds what it passes on.
// Returns the lanes in which it uses them.
u32 Initcheck::follow_bits(Warp& w, const MicroOp& op, const Followed& f, std::vector<Followed>& passed) {
  const BitRule rule = bit_rule(op);
  const u32 partial = f.lanes & ~f.whole, active = partial & w.mask;
  const auto lanes_with = [&](std::uint64_t bits) {
    u32 lanes = 0;
    for (u32 m = active; m != 0; m &= m - 1)
      if ((f.missing[static_cast<std::size_t>(std::countr_zero(m))] & bits) != 0) lanes |= m & -m;
    return lanes;
  };
  const auto reads = [&](u32 k) { return op.src[k] == f.slot; };
  if (op.kind == OpKind::store || rule.how == BitRule::swaps) {
    if (reads(0)) return active;
    const std::uint64_t bits = op.width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * op.width) - 1;
    const u32 copied = lanes_with(bits);
    for (u32 k = 0; k < op.count; ++k) {
      const u32 source = op.kind != OpKind::store ? rule.data : 1 + k;
      if (source < 4 ? !reads(source) : op.dst[3] != f.slot) continue;
      for (u32 m = copied & ~f.changed; m != 0; m &= m - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(m));
        for (u32 byte = 0; byte < op.width; ++byte)
          if ((~f.missing[i] >> 8 * byte & 0xff) == 0) padding_[i] |= 1u << (k * op.width + byte);
        padded_ |= m & -m;
      }
    }
    return copied & f.changed;
  }
  std::array<LaneBits, 4> missing{};
  u32 swapped = 0;  // lanes in which a source is what a swap read
  for (const Followed& other : blocks_[w.block->storage]->followed[w.number])
    for (u32 k = 0; k < 4; ++k) {
      if (op.src[k] != other.slot) continue;
      if (other.load != nullptr && other.load->kind == OpKind::atomic) swapped |= other.lanes;
      for (u32 m = other.lanes; m != 0; m &= m - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(m));
        missing[k][i] |= other.missing[i];
      }
    }
  const u32 all = lanes_with(rule.counted());
  // A loop around a swap compares what it read with what it had expected, whatever bytes are in the word.
  if (rule.how == BitRule::equals) return all & ~(swapped & ~f.changed);
  if (rule.how == BitRule::uses || (rule.how == BitRule::logic && reads(3))) return all;
  if (rule.how == BitRule::routes)
    for (u32 k = rule.data; k < 4; ++k)
      if (reads(k)) return lanes_with(~std::uint64_t{0});
  const LaneBits left = missing_after(w, op, rule, missing);
  LaneBits source{};  // the lanes that the bits come from
  for (std::size_t i = 0; i < kLanes; ++i) source[i] = i;
  if (op.kind == OpKind::shuffle) source = result_of(w, op, &source, 1);
  Followed next = f;
  next.slot = op.dst[0];
  next.lanes = next.whole = next.changed = 0;
  next.padded = ~0u;
  next.missing = left;
  for (u32 m = w.mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(m));
    if (left[i] == 0 || (partial >> source[i] & 1) == 0) continue;
    next.lanes |= m & -m;
    if ((f.changed >> source[i] & 1) != 0) next.changed |= m & -m;
    next.from[i] = f.from[source[i]];
  }
  if (rule.how == BitRule::orders) return next.lanes;
  if (rule.how == BitRule::carries || rule.how == BitRule::halves) next.changed = next.lanes;
  for (const Followed& other : passed)
    if (other.slot == next.slot) next.lanes &= ~(other.lanes & ~other.whole);
  if (next.lanes != 0 && next.slot != MicroOp::kNoSlot) passed.push_back(next);
  return 0;
}

void Initcheck::before(Warp& w, const MicroOp& op) {
  auto& list = blocks_[w.block->storage]->followed[w.number];
  // Selp a, b, p: only the selected value is passed on.
  const bool selects = op.n_src == 3 && op.pred_src == 4;
  const bool copies = op.kind == OpKind::move && op.n_src == 1;
  // Ops such as those of matrices read more registers than their sources list.
  const bool reads_anything =
      op.kind == OpKind::other || op.kind == OpKind::control || op.kind == OpKind::copy;
  const bool calculates = op.kind == OpKind::move || op.kind == OpKind::combine || op.kind == OpKind::shuffle;
  const bool fourth_is_read = op.kind == OpKind::store || op.kind == OpKind::atomic;
  const auto concerned = [&](const Followed& f) {
    const auto is_it = [&](u32 slot) { return slot == f.slot; };
    return (reads_anything && f.place != Place::registers) || is_it(op.guard) ||
           std::any_of(std::begin(op.src), std::end(op.src), is_it) ||
           std::any_of(std::begin(op.dst), std::end(op.dst), is_it);
  };
  if (std::none_of(list.begin(), list.end(), concerned)) return;
  decides(w, op.guard, w.mask);
  std::vector<Followed> kept, passed;
  // Lanes; other elements of the same vector load are not reported again.
  std::map<const MicroOp*, u32> reported;
  for (Followed f : list) {
    const auto reads = [&](u32 slot) { return slot == f.slot; };
    kept.push_back(f);
    const u32 whole = f.lanes & f.whole & w.mask;
    u32 lanes = 0, goes_on = 0;
    const bool listed =
        std::any_of(std::begin(op.src), std::end(op.src), reads) || (fourth_is_read && reads(op.dst[3]));
    if (selects) {
      const u32 p = w.predicate(op.src[2]);
      goes_on = ((reads(op.src[0]) ? p : 0) | (reads(op.src[1]) ? ~p : 0)) & whole;
    } else if (reads_anything || listed) {
      (copies ? goes_on : lanes) = whole;
    }
    // A structure is copied with its padding: the copy has not been initialised there, either.
    if (op.kind == OpKind::store && !reads(op.src[0])) {
      const u32 bytes = op.width == 16 ? 0xffff : (1u << op.width) - 1;
      for (u32 k = 0; k < op.count; ++k)
        if (reads(k < 3 ? op.src[1 + k] : op.dst[3]))
          for (u32 m = lanes & f.padded; m != 0; m &= m - 1) {
            padding_[static_cast<std::size_t>(std::countr_zero(m))] |= bytes << k * op.width;
            padded_ |= m & -m;
          }
      lanes &= ~f.padded;
    }
    if (f.load == nullptr) f.load = &op;
    const u32 in_part = listed && (f.lanes & ~f.whole) != 0 ? follow_bits(w, op, f, passed) : 0;
    if (f.place != Place::registers || !calculates)
      lanes |= in_part;
    else if (in_part != 0)
      for (const u32 to : op.dst) {
        u32 fresh = to == MicroOp::kNoSlot ? 0 : in_part;
        for (const Followed& other : passed)
          if (other.slot == to) fresh &= ~other.lanes;
        if (fresh == 0) continue;
        passed.push_back(f);
        passed.back().slot = to;
        passed.back().lanes = passed.back().changed = fresh;
        passed.back().missing.fill(~std::uint64_t{0});
      }
    lanes &= ~reported[f.load];
    if (lanes != 0) used(w, f, lanes);
    reported[f.load] |= lanes;
    if (goes_on != 0) {
      passed.push_back(f);
      passed.back().slot = op.dst[0];
      passed.back().lanes = goes_on;
    }
    const bool overwritten =
        op.kind != OpKind::store && std::any_of(std::begin(op.dst), std::end(op.dst), reads);
    kept.back().lanes &= overwritten ? ~w.mask : ~lanes;
  }
  kept.insert(kept.end(), passed.begin(), passed.end());
  for (Followed& f : kept) f.lanes &= ~reported[f.load];
  std::erase_if(kept, [](const Followed& f) { return f.lanes == 0; });
  list.swap(kept);
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
