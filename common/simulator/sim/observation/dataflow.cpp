// SPDX-License-Identifier: MIT
// Reading order: the algebra of origins, after(), branches().
#include "sim/observation/dataflow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <numeric>
#include <span>
#include <utility>

#include "sim/machine/machine.hpp"

namespace course::sim {
namespace {

// What observers cannot see in a MicroOp.
enum Role : std::uint8_t {
  kCarryIn = 1,
  kCarryOut = 2,
  kPack = 4,
  kHighWord = 8,
  kLowWord = 16,
  kWideMove = 32,
  kClock = 64,
  kSelects = 128
};

std::uint8_t role_of(const OpRow& row) {
  if (row.key == "pack.b64") return kPack;
  if (row.key == "high.b64") return kHighWord;
  if (row.key == "cvt.u32.u64") return kLowWord;
  if (row.key == "mov.wide") return kWideMove;
  if (is_of(row, {"selp", "slct"})) return kSelects;
  if (is_of(row,
            {"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi", "nanosleep"}))
    return kClock;
  std::uint8_t role = 0;
  if (is_of(row, {"addc", "subc", "madc"})) role |= kCarryIn;
  if (is_of(row,
            {"add.cc", "addc.cc", "sub.cc", "subc.cc", "mad.lo.cc", "mad.hi.cc", "madc.lo.cc", "madc.hi.cc"}))
    role |= kCarryOut;
  return role;
}

// Of a tree of n values.
std::uint32_t tree_steps(std::uint32_t n) {
  return n > 1 ? static_cast<std::uint32_t>(std::bit_width(n - 1)) : 0;
}

// Does not depend on the order of a and b.
std::uint32_t mixed(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t x = (std::uint64_t{a} + b) * 0x9e3779b97f4a7c15u ^ (std::uint64_t{a ^ b} << 20);
  return static_cast<std::uint32_t>((x ^ x >> 29) * 0xbf58476d1ce4e5b9u >> 32);
}

constexpr std::uint32_t bit_of(MemorySpace space) {
  return 1u << static_cast<std::uint32_t>(space);
}
constexpr std::uint32_t kAnywhere =
    bit_of(MemorySpace::global) | bit_of(MemorySpace::shared) | bit_of(MemorySpace::local);

template <typename Each>
void for_lanes(std::uint32_t mask, const Each& each) {
  for (; mask != 0; mask &= mask - 1) each(std::countr_zero(mask));
}

}  // namespace

Gap Dataflow::gap(const OpRow& row) {
  const bool of_several = row.key.ends_with("x2") || is_of(row, {"dp2a", "dp4a", "video"});
  if ((row.kind == OpKind::combine && of_several) ||
      (row.kind == OpKind::atomic && (row.key.ends_with("x2") || row.key.ends_with("b128"))))
    return "several operations in one instruction count as one";
  if (is_plain(row.kind)) return nullptr;
  if (row.kind == OpKind::copy)
    return is_of(row, {"cp.async.bulk"}) ? "copies of parts of words are not followed" : nullptr;
  if (row.kind == OpKind::mbarrier) return "the state of an mbarrier is not followed";
  if (is_of(row, {"mma", "movmatrix"})) return "values that pass between lanes in a matrix are not followed";
  if (is_of(row, {"tex", "suld", "sust", "mbarrier", "mapa"}))
    return "values in such memory are not followed";
  return nullptr;  // the others compute nothing from data
}

Dataflow::Dataflow(const Arena& arena) : arena_(arena) {
  void* place = mmap(nullptr, arena.size() / 4 * sizeof(Origin), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  global_ = static_cast<Origin*>(place);
}

Dataflow::~Dataflow() {
  munmap(global_, arena_.size() / 4 * sizeof(Origin));
  if (global_stamps_ != nullptr) munmap(global_stamps_, arena_.size() / 4 * sizeof(std::uint32_t));
}

// The watched buffers start with depth 0, each element with an id of its own; marked again only if the number
// of buffers has changed.
void Dataflow::mark_data() {
  const auto ranges = arena_.data_ranges();
  inputs_ = ranges;
  if (ranges.size() == marked_ranges_) return;
  marked_ranges_ = ranges.size();
  for (const Allocation& range : ranges) {
    const std::uint64_t first = (range.base - arena_.base()) / 4,
                        last = (range.base + range.size - arena_.base() + 3) / 4;
    const std::uint64_t words = std::max<std::uint64_t>(range.element_bytes / 4, 1);
    for (std::uint64_t k = first; k < last; ++k)
      global_[k] = {1, mixed(static_cast<std::uint32_t>(first + (k - first) / words), 1)};
  }
}

// What the host writes does not derive from data, unless it is the data.
void Dataflow::host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
  for (std::uint64_t at = (address + 3) / 4 * 4; at + 4 <= address + n_bytes; at += 4) {
    Origin& word = global_[(at - arena_.base()) / 4];
    const auto holds = [&](const Allocation& one) { return at - one.base < one.size; };
    if (word.depth != 0 && std::none_of(inputs_.begin(), inputs_.end(), holds)) put(word, 0, 4, {});
  }
}

void Dataflow::launch_begins(const Program& program, const LaunchRequest&) {
  program_ = &program;
  regions_.of_program(program);
  roles_.assign(program.ops.size(), 0);
  predicate_number_.assign(program.register_bytes / 4 + kLanes, 0);
  n_predicates_ = 1;
  const auto number = [&](std::uint32_t slot) {
    if (slot != MicroOp::kNoSlot && predicate_number_[slot / 4] == 0)
      predicate_number_[slot / 4] = n_predicates_++;
  };
  number(program.carry_slot);
  for (const BasicBlock& b : program.blocks)
    if (b.exit == Exit::branch) number(b.predicate);
  for (const MicroOp& op : program.ops) {
    roles_[op.index] = role_of(*program.rows[op.index]);
    number(op.guard);
    for (int k = 0; k < 4; ++k) {
      if ((op.pred_src >> k & 1) != 0) number(op.src[k]);
      if ((op.pred_dst >> k & 1) != 0) number(op.dst[k]);
    }
  }
  blocks_.clear();
  mark_data();
}

void Dataflow::block_begins(Block& block) {
  if (blocks_.size() <= block.storage) blocks_.resize(block.storage + 1);
  auto& all = blocks_[block.storage];
  if (all == nullptr) all = std::make_unique<BlockShadow>();
  all->warps.resize(block.warps.size());
  for (Shadow& shadow : all->warps) {
    shadow.registers.assign(program_->register_bytes / 4 + 2 * kLanes, {});
    shadow.predicates.assign(std::size_t{n_predicates_} * kLanes, {});
    shadow.decisions.clear();
    shadow.copies = shadow.ended = {};
  }
  all->shared.assign(block.shared_bytes / 4 + 1, {});
  all->missed = {};
  all->stamps.clear();
  all->flow = {};
  std::fill_n(all->arrived, kBarriers, Gathered{});
  std::fill_n(all->released, kBarriers, Origin{});
}

// --- the algebra of origins --------------------------------------------------------------------------------

Dataflow::Origin Dataflow::combined(Origin a, Origin b, bool counts, bool is_known) {
  if (a.depth == 0) return b;
  if (b.depth == 0) return a;
  if (counts) ++work_;
  const std::uint32_t depth = std::max(a.depth, b.depth) + 1;
  deepest_ = std::max<std::uint64_t>(deepest_, depth - 1);
  if (a.id == b.id) return {depth, a.id};
  ++n_values_;
  return is_known ? Origin{depth, mixed(a.id, b.id)} : distinct({depth, mixed(a.id, b.id)});
}

// With kAbsences: a value of its own, since there may be several results of the same values. Where a lane
// writes both halves of one value, n_values_ stays.
Dataflow::Origin Dataflow::distinct(Origin value) {
  return {value.depth, absences_ ? mixed(value.id, n_values_) : value.id};
}

// Two parts of one value, or two values that are not combined by an operation: combines them only if they are
// of different origin.
Dataflow::Origin Dataflow::merged(Origin a, Origin b, bool counts) {
  if (a.depth != 0 && b.depth != 0 && a.id != b.id) return combined(a, b, counts);
  return a.depth >= b.depth ? a : b;
}

// Whether values of the same origin select each other without a step: what was computed from one item. Of
// what was combined from many, such as several votes of the same lanes, a selection can compute another
// result.
bool Dataflow::is_free(Origin value, Origin by) const {
  return !absences_ || std::max(value.depth, by.depth) == 1;
}

// `value`, which is what it is because of `by`: a data-dependent address, or a branch on data. If `by` is
// deeper, it may have compared the value, which was one operation; with kAbsences, it counts as another one.
Dataflow::Origin Dataflow::chosen(Origin value, Origin by, bool counts) {
  if (by.depth == 0) return value;
  if (value.depth == 0 || (value.id == by.id && is_free(value, by)))
    return value.depth > by.depth ? value : by;
  const std::uint32_t depth = (absences_ ? std::max(value.depth, by.depth) : value.depth) + 1;
  if (depth > by.depth && counts) ++work_;
  deepest_ = std::max<std::uint64_t>(deepest_, std::max(depth, by.depth) - 1);
  return distinct({std::max(depth, by.depth), mixed(value.id, by.id)});
}

// Of a and b, without an operation.
Dataflow::Origin Dataflow::deeper(Origin a, Origin b) {
  if (a.depth == 0 || b.depth == 0 || a.id == b.id) return a.depth >= b.depth ? a : b;
  return {std::max(a.depth, b.depth), mixed(a.id, b.id)};
}

// by ? a : b. If `by` compares a and b, it is one operation deeper than both, and the selection costs
// nothing. With kAbsences, its origin must show that it does.
Dataflow::Origin Dataflow::selected(Origin a, Origin b, Origin by) {
  if (by.depth == 0) return a.depth >= b.depth ? a : b;
  if (a.depth == 0 || b.depth == 0) return chosen(a.depth == 0 ? b : a, by);
  const Origin value = a.depth >= b.depth ? a : b;
  const bool of_one = a.id == b.id && by.id == a.id;
  if (of_one && is_free(value, by)) return value.depth >= by.depth ? value : by;
  const std::uint32_t deepest = std::max(value.depth, by.depth);
  const bool compared = !absences_ || of_one || by.id == mixed(a.id, b.id);
  const std::uint32_t depth = compared ? std::max(deepest, std::min(a.depth, b.depth) + 1) : deepest + 1;
  if (depth > deepest) ++work_;
  deepest_ = std::max<std::uint64_t>(deepest_, depth - 1);
  return distinct({depth, mixed(mixed(a.id, b.id), by.id)});
}

// --- registers ---------------------------------------------------------------------------------------------

Dataflow::Origin Dataflow::whole(std::uint32_t slot, bool wide, int lane) {
  const Origin* words = low(slot);
  return wide ? merged(words[lane], words[kLanes + lane], true) : words[lane];
}

Dataflow::Origin Dataflow::source(const MicroOp& op, int k, int lane) {
  if (op.src[k] == MicroOp::kNoSlot) return {};
  if ((op.pred_src >> k & 1) != 0) return predicate(op.src[k])[lane];
  return whole(op.src[k], (op.wide_src >> k & 1) != 0, lane);
}

// A lane that executes `op` writes `value`, because of the op's guard.
void Dataflow::assign(const MicroOp& op, int lane, Origin& at, Origin value) {
  const Origin guard = op.guard == MicroOp::kNoSlot ? Origin{} : predicate(op.guard)[lane];
  at = guard.depth == 0 ? value : selected(value, at, guard);
}

void Dataflow::write(const MicroOp& op, int k, int lane, Origin low_word, Origin high_word) {
  if (op.dst[k] == MicroOp::kNoSlot) return;
  n_values_ += op.guard != MicroOp::kNoSlot ? 1 : 0;
  if ((op.pred_dst >> k & 1) != 0) return assign(op, lane, predicate(op.dst[k])[lane], low_word);
  assign(op, lane, low(op.dst[k])[lane], low_word);
  if ((op.wide_dst >> k & 1) != 0) assign(op, lane, low(op.dst[k])[kLanes + lane], high_word);
}

// --- memory ------------------------------------------------------------------------------------------------

std::uint64_t Dataflow::local_key(const Warp& w, int lane, std::uint64_t address) {
  return (reinterpret_cast<std::uint64_t>(&w) * kLanes + static_cast<std::uint64_t>(lane)) ^
         ((address - kLocalWindow) / 4 << 40);
}

// The word at a generic address.
Dataflow::Origin& Dataflow::cell(Warp& w, int lane, std::uint64_t address) {
  if (address >= kFunctionWindow) return outside_[address / 4];
  if (address >= kLocalWindow) return local_[local_key(w, lane, address)];
  if (address >= kSharedWindow) {
    const std::uint64_t offset = address - kSharedWindow;
    auto& shared = blocks_[w.block->storage]->shared;
    return offset / 4 < shared.size() ? shared[offset / 4] : outside_[address / 4];
  }
  if (!arena_.contains(address)) return outside_[address / 4];
  return global_[(address - arena_.base()) / 4];
}

// The bytes [first, first + n) of a word.
Dataflow::Origin Dataflow::get(Origin at, std::uint32_t first, std::uint32_t n) {
  if (at.depth != kSplit) return at;
  Origin all;
  for (std::uint32_t k = first; k < first + n; ++k) all = merged(all, splits_[at.id][k], true);
  return all;
}

void Dataflow::put(Origin& at, std::uint32_t first, std::uint32_t n, Origin value) {
  if (n == 4) {
    if (at.depth == kSplit) unused_splits_.push_back(at.id);
    at = value;
    return;
  }
  if (at == value) return;
  if (at.depth != kSplit) {
    if (unused_splits_.empty()) {
      unused_splits_.push_back(static_cast<std::uint32_t>(splits_.size()));
      splits_.emplace_back();
    }
    const std::uint32_t number = unused_splits_.back();
    unused_splits_.pop_back();
    splits_[number].fill(at);
    at = {kSplit, number};
  }
  std::fill_n(splits_[at.id].begin() + first, n, value);
}

// Calls `each(cell, first, n)` for the words of [address, address + n_bytes) and their bytes in it.
template <typename Each>
void Dataflow::for_words(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes, const Each& each) {
  for (std::uint32_t done = 0; done < n_bytes;) {
    const auto first = static_cast<std::uint32_t>((address + done) & 3);
    const std::uint32_t n = std::min(4 - first, n_bytes - done);
    each(cell(w, lane, address + done), first, n);
    done += n;
  }
}

Dataflow::Origin Dataflow::load(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes) {
  Origin all;
  for_words(w, lane, address, n_bytes, [&](const Origin& at, std::uint32_t first, std::uint32_t n) {
    all = merged(all, get(at, first, n), true);
  });
  if (!absences_) return all;
  for (std::uint64_t at = address & ~std::uint64_t{3}; at < address + n_bytes; at += 4) {
    std::uint32_t* stamp = nullptr;
    const Missed* missed = missed_at(w, lane, at, stamp);
    if (missed != nullptr && *stamp < missed->now) all = chosen(all, missed->by);
  }
  return all;
}

void Dataflow::store(Warp& w, int lane, std::uint64_t address, std::uint32_t n_bytes, Origin value) {
  for_words(w, lane, address, n_bytes,
            [&](Origin& at, std::uint32_t first, std::uint32_t n) { put(at, first, n, value); });
  if (!absences_ || ((address | n_bytes) & 3) != 0) return;
  for (std::uint64_t at = address; at < address + n_bytes; at += 4) {
    std::uint32_t* stamp = nullptr;
    if (const Missed* missed = missed_at(w, lane, at, stamp); missed != nullptr) *stamp = missed->now;
  }
}

// --- what did not happen -----------------------------------------------------------------------------------

// nullptr if no store has missed memory of this kind, or the word is a task's input, which is never written.
const Dataflow::Missed* Dataflow::missed_at(Warp& w, int lane, std::uint64_t address, std::uint32_t*& stamp) {
  if (address >= kLocalWindow && address < kFunctionWindow) {
    if (missed_locally_.now == 0) return nullptr;
    stamp = &local_stamps_[local_key(w, lane, address)];
    return &missed_locally_;
  }
  if (address >= kSharedWindow && address < kLocalWindow) {
    BlockShadow& block = *blocks_[w.block->storage];
    const std::uint64_t word = (address - kSharedWindow) / 4;
    if (block.missed.now == 0 || word >= block.shared.size()) return nullptr;
    stamp = &block.stamps[word];
    return &block.missed;
  }
  if (missed_globally_.now == 0 || !arena_.contains(address)) return nullptr;
  for (const Allocation& input : inputs_)
    if (address >= input.base && address < input.base + input.size) return nullptr;
  stamp = &global_stamps_[(address - arena_.base()) / 4];
  return &missed_globally_;
}

// A store that may have hit any word of `spaces` (bits 1 << MemorySpace), because of `by`, has not hit those
// whose stamps stay behind.
void Dataflow::miss(Warp& w, std::uint32_t spaces, Origin by) {
  if ((spaces & bit_of(MemorySpace::generic)) != 0) spaces |= kAnywhere;
  const auto one_more = [&](Missed& missed) {
    missed.by = deeper(missed.by, by);
    ++missed.now;
  };
  BlockShadow& block = *blocks_[w.block->storage];
  if ((spaces & bit_of(MemorySpace::local)) != 0) one_more(missed_locally_);
  if ((spaces & bit_of(MemorySpace::shared)) != 0) {
    one_more(block.missed);
    block.stamps.resize(block.shared.size());
  }
  if ((spaces & bit_of(MemorySpace::global)) == 0) return;
  one_more(missed_globally_);
  if (global_stamps_ != nullptr) return;
  void* place = mmap(nullptr, arena_.size() / 4 * sizeof(std::uint32_t), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  global_stamps_ = static_cast<std::uint32_t*>(place);
}

// An op that lanes `lanes` execute writes to addresses computed from data.
void Dataflow::miss_by_address(Warp& w, const MicroOp& op, std::uint32_t lanes) {
  Origin all;
  for_lanes(lanes, [&](int lane) {
    if (op.src[0] == MicroOp::kNoSlot) return;
    const Origin* words = low(op.src[0]);
    Origin by = words[lane];
    if ((op.wide_src & 1) != 0) by = deeper(by, words[kLanes + lane]);
    if (by.depth == 0) return;
    if (op.guard != MicroOp::kNoSlot) by = deeper(by, predicate(op.guard)[lane]);
    for (const Decision& d : here_->decisions)
      if ((d.lanes >> lane & 1) != 0) by = deeper(by, d.by[static_cast<std::size_t>(lane)]);
    all = deeper(all, by);
  });
  const bool to_shared = op.kind == OpKind::copy && op.space == MemorySpace::global;
  if (all.depth != 0) miss(w, bit_of(to_shared ? MemorySpace::shared : op.space), all);
}

// The addresses that an op would access, for lanes that do not execute it or the ops that compute them.
Addresses Dataflow::addresses_after(Warp& w, const std::vector<const MicroOp*>& ops, std::uint32_t lanes,
                                    const MicroOp& op) {
  if (ops.empty()) return addresses_of(w, op);
  const std::uint32_t mask = w.mask;
  std::vector<std::pair<std::span<std::uint32_t>, std::vector<std::uint32_t>>> saved;
  for (const MicroOp* one : ops)
    for (int k = 0; k < 4; ++k) {
      if (one->dst[k] == MicroOp::kNoSlot) continue;
      const std::size_t n = (one->pred_dst >> k & 1) != 0   ? 1
                            : (one->wide_dst >> k & 1) != 0 ? 2 * kLanes
                                                            : kLanes;
      const std::span words(w.slot<std::uint32_t>(one->dst[k]), n);
      saved.emplace_back(words, std::vector(words.begin(), words.end()));
    }
  w.set_mask(lanes);
  for (const MicroOp* one : ops) one->fn(w, *one);
  w.set_mask(mask);
  const Addresses a = addresses_of(w, op);
  for (const auto& [words, before] : saved) std::copy(before.begin(), before.end(), words.begin());
  return a;
}

// Lanes that do not execute a store or an atomic because of `by`; `address`: the ops that compute its
// address. As a vote, it is one step for all of them. If the address depends on data, so does each value that
// other lanes store there.
void Dataflow::spare(Warp& w, std::uint32_t lanes, const MicroOp& op,
                     const std::vector<const MicroOp*>& address, const Origin* by) {
  Origin unknown;
  const auto by_data = [&](const MicroOp& one, int n) {
    for_lanes(lanes, [&](int lane) {
      for (int k = 0; k < n; ++k) {
        const Origin here = source(one, k, lane);
        if (here.depth == 0) continue;
        lanes &= ~(1u << lane);
        unknown = deeper(unknown, deeper(here, by[lane]));
      }
    });
  };
  by_data(op, 1);
  for (const MicroOp* one : address) by_data(*one, 4);
  if (absences_ && unknown.depth != 0)
    miss(w, bit_of(op.kind == OpKind::copy ? MemorySpace::shared : op.space), unknown);
  if (lanes == 0) return;
  const Addresses a = addresses_after(w, address, lanes, op);
  spared_.clear();
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t at_first = a.at[lane];
    if (at_first < kSharedWindow ? !arena_.contains(at_first) : at_first >= kFunctionWindow) return;
    for_words(w, lane, at_first, a.bytes, [&](Origin& at, std::uint32_t first, std::uint32_t n) {
      const Origin now = get(at, first, n), one = by[lane];
      const auto known = std::find_if(spared_.begin(), spared_.end(),
                                      [&](const Spared& s) { return s.cell == &at && s.first == first; });
      Origin after = now;
      if (known == spared_.end()) {
        spared_.push_back({&at, first, std::max(now.depth, one.depth)});
        after = chosen(now, one, false);
      } else {
        if (now.id != one.id) after = {std::max(now.depth, known->deepest + 1), mixed(now.id, one.id)};
        after.depth = std::max(after.depth, one.depth);
        known->deepest = std::max(known->deepest, one.depth);
        deepest_ = std::max<std::uint64_t>(deepest_, after.depth - 1);
      }
      put(at, first, n, after);
    });
  });
}

// `value`, which this memory access leaves at its address: it also depends on what decides that the lane
// executes the access, and where.
Dataflow::Origin Dataflow::placed(Origin value, const MicroOp& op, int lane) {
  for (const Decision& d : here_->decisions)
    if ((d.lanes >> lane & 1) != 0) value = chosen(value, d.by[static_cast<std::size_t>(lane)]);
  if (op.guard != MicroOp::kNoSlot) value = chosen(value, predicate(op.guard)[lane]);
  return chosen(value, source(op, 0, lane));
}

// --- ops ---------------------------------------------------------------------------------------------------

void Dataflow::before(Warp& w, const MicroOp& op) {
  here_ = &shadow(w);
  if (!here_->decisions.empty()) leave_regions(w, regions_.block_of(op), op.function, w.mask);
  if (op.kind == OpKind::load || op.kind == OpKind::store || op.kind == OpKind::atomic)
    addresses_ = addresses_of(w, op);
  if (op.kind != OpKind::shuffle) return;
  // Executes the op on the numbers of the lanes instead of the values, to find out where they come from; in a
  // register behind the others, as that of the values may also hold the lanes to read.
  MicroOp on_numbers = op;
  on_numbers.src[0] = on_numbers.dst[0] = program_->register_bytes;
  on_numbers.dst[1] = MicroOp::kNoSlot;
  auto* numbers = w.slot<std::uint32_t>(program_->register_bytes);
  std::iota(numbers, numbers + kLanes, 0u);
  op.fn(w, on_numbers);
  std::copy_n(numbers, kLanes, from_lane_);
}

void Dataflow::after(Warp& w, const MicroOp& op) {
  switch (op.kind) {
    case OpKind::move: move(w, op); break;
    case OpKind::combine: combine(w, op); break;
    case OpKind::load:
      for_lanes(w.mask, [&](int lane) {
        const Origin by = source(op, 0, lane);
        for (int k = 0; k < op.count; ++k) {
          const std::uint64_t address = addresses_.at[lane] + static_cast<std::uint64_t>(k) * op.width;
          const Origin low_word = chosen(load(w, lane, address, std::min<std::uint32_t>(op.width, 4)), by);
          write(op, k, lane, low_word, op.width == 8 ? chosen(load(w, lane, address + 4, 4), by) : Origin{});
        }
      });
      break;
    case OpKind::store:
      if (absences_) miss_by_address(w, op, w.mask);
      for_lanes_in_turn(w, w.mask, [&](int lane) {  // of those that store in one place, the last one wins
        for (int k = 0; k < op.count; ++k) {
          const Origin* value = low(k < 3 ? op.src[1 + k] : op.dst[3]);
          const std::uint64_t address = addresses_.at[lane] + static_cast<std::uint64_t>(k) * op.width;
          store(w, lane, address, std::min<std::uint32_t>(op.width, 4), placed(value[lane], op, lane));
          if (op.width == 8) store(w, lane, address + 4, 4, placed(value[kLanes + lane], op, lane));
        }
      });
      break;
    case OpKind::atomic: {
      if (absences_) miss_by_address(w, op, w.mask);
      bool combines = false;
      for_lanes(w.mask, [&](int lane) { combines = atomic(w, op, lane) || combines; });
      if (combines) operation_lanes_ += static_cast<std::uint64_t>(std::popcount(w.mask));
      break;
    }
    case OpKind::shuffle: {
      const Origin* in = low(op.src[0]);
      Origin moved[kLanes];
      for_lanes(w.mask, [&](int lane) {
        const Origin by = merged(source(op, 1, lane), source(op, 2, lane), true);
        const std::uint32_t from = from_lane_[lane];
        moved[lane] = chosen(in[from], by);
        // What has decided on the value in a region that the other lane has not left, unless this lane's
        // branches had the same reason.
        for (const Decision& d : here_->decisions)
          if (absences_ && (d.lanes >> from & 1) != 0 &&
              ((d.lanes >> lane & 1) == 0 || d.by[static_cast<std::size_t>(lane)].id != d.by[from].id))
            moved[lane] = chosen(moved[lane], d.by[from]);
        if (op.dst[1] != MicroOp::kNoSlot) write(op, 1, lane, by);
      });
      for_lanes(w.mask, [&](int lane) { write(op, 0, lane, moved[lane]); });
      break;
    }
    case OpKind::vote:
    case OpKind::reduce: warp_wide(w, op); break;
    case OpKind::sync:
      if (op.dst[0] == MicroOp::kNoSlot) break;
      for_lanes(w.mask, [&](int lane) {
        const std::uint32_t number = w.slot<std::uint32_t>(op.src[1])[lane] & 15;
        const BlockShadow& block = *blocks_[w.block->storage];
        write(op, 0, lane, absences_ ? chosen(block.released[number], block.flow) : block.released[number]);
      });
      break;
    case OpKind::fence:
    case OpKind::control: break;
    case OpKind::copy:
    case OpKind::mbarrier:
    case OpKind::other: {
      Gathered all;
      for_lanes(w.mask, [&](int lane) {
        for (int k = 0; k < 4; ++k) all.add(source(op, k, lane));
      });
      if (all.differ) work_ += all.n - 1;
      Origin result = gathered(all, tree_steps(all.n));
      if (absences_ && (roles_[op.index] & kClock) != 0) {
        if (op.guard != MicroOp::kNoSlot)
          for_lanes(w.mask, [&](int lane) { result = deeper(result, predicate(op.guard)[lane]); });
        flows(w, result);
        result = blocks_[w.block->storage]->flow;
      }
      for (int k = 0; k < op.n_dst; ++k) for_lanes(w.mask, [&](int lane) { write(op, k, lane, result); });
      break;
    }
  }
}

void Dataflow::move(Warp& w, const MicroOp& op) {
  const std::uint8_t role = roles_[op.index];
  if ((role & kSelects) != 0) {
    const bool wide = (op.wide_dst & 1) != 0, by_predicate = (op.pred_src & 4) != 0;
    const std::uint32_t taken = by_predicate ? w.predicate(op.src[2]) : 0;
    const Origin *a = low(op.src[0]), *b = low(op.src[1]);
    for_lanes(w.mask, [&](int lane) {
      const Origin by = source(op, 2, lane);
      ++n_values_;
      const auto one = [&](int at) {
        if (by.depth != 0 || !by_predicate) return selected(a[at], b[at], by);
        return (taken >> lane & 1) != 0 ? a[at] : b[at];
      };
      write(op, 0, lane, one(lane), wide ? one(kLanes + lane) : Origin{});
    });
    return;
  }
  for_lanes(w.mask, [&](int lane) {
    if ((role & kPack) != 0) {
      write(op, 0, lane, low(op.src[0])[lane], low(op.src[1])[lane]);
    } else if ((role & (kHighWord | kLowWord | kWideMove)) != 0) {
      const Origin *in = low(op.src[0]), high = in[kLanes + lane];
      write(op, 0, lane, (role & kHighWord) != 0 ? high : in[lane], high);
    } else {
      Origin value;
      for (int k = 0; k < std::max<int>(op.n_src, 1); ++k) value = merged(value, source(op, k, lane), true);
      write(op, 0, lane, value);
    }
  });
}

void Dataflow::combine(Warp& w, const MicroOp& op) {
  const std::uint8_t role = roles_[op.index];
  int operands[4], n = 0;
  for (int k = 0; k < std::max<int>(op.n_src, 1) && k < 4 && op.src[k] != MicroOp::kNoSlot; ++k) {
    bool repeated = false;
    for (int j = 0; j < k; ++j) repeated = repeated || op.src[j] == op.src[k];
    if (!repeated) operands[n++] = k;
  }
  Origin* const carry = (role & (kCarryIn | kCarryOut)) != 0 ? predicate(program_->carry_slot) : nullptr;
  // A comparison must be known as one of these values, and the parts of a sum as one value.
  const bool is_known = role != 0 || (op.pred_dst & 1) != 0;
  bool combines = false;
  for_lanes(w.mask, [&](int lane) {
    Origin value;
    for (int k = 0; k < n; ++k) {
      const Origin operand = source(op, operands[k], lane);
      combines = combines || (value.depth != 0 && operand.depth != 0);
      value = combined(value, operand, true, is_known);
    }
    if ((role & kCarryIn) != 0) value = merged(value, carry[lane], true);
    write(op, 0, lane, value);
    if ((role & kCarryOut) != 0) assign(op, lane, carry[lane], value);
  });
  if (combines) operation_lanes_ += static_cast<std::uint64_t>(std::popcount(w.mask));
}

// Returns whether it combines two values.
bool Dataflow::atomic(Warp& w, const MicroOp& op, int lane) {
  const std::uint64_t address = addresses_.at[lane];
  const bool wide = op.width == 16;  // b in src[1] and src[2], c in src[3] and dst[3]
  const bool compares = wide ? op.src[3] != MicroOp::kNoSlot : op.src[2] != MicroOp::kNoSlot;
  Origin value, compared;
  if (wide) {
    value = merged(whole(op.src[compares ? 3 : 1], true, lane),
                   whole(compares ? op.dst[3] : op.src[2], true, lane), true);
    if (compares) compared = merged(whole(op.src[1], true, lane), whole(op.src[2], true, lane), true);
  } else {
    value = source(op, compares ? 2 : 1, lane);
    if (compares) compared = source(op, 1, lane);
  }
  const Origin old = load(w, lane, address, op.width);
  Origin now = placed(combined(old, value), op, lane);
  if (compares) now = deeper(now, merged(old, compared, false));
  store(w, lane, address, op.width, now);
  const Origin seen = chosen(old, source(op, 0, lane));
  write(op, 0, lane, seen);
  if (wide) write(op, 1, lane, seen);
  return old.depth != 0 && value.depth != 0;
}

// Operands of many lanes that one op combines.
void Dataflow::Gathered::add(Origin one) {
  if (one.depth == 0) return;
  ++n;
  differ = differ || (n > 1 && one.id != first_id);
  if (n == 1) first_id = one.id;
  all.id = n == 1 ? one.id : mixed(all.id, one.id);
  all.depth = std::max(all.depth, one.depth);
}

Dataflow::Origin Dataflow::gathered(const Gathered& lanes, std::uint32_t steps) {
  if (!lanes.differ) return {lanes.all.depth, lanes.first_id};
  Origin all = lanes.all;
  all.depth += steps;
  deepest_ = std::max<std::uint64_t>(deepest_, all.depth - 1);
  ++n_values_;
  return distinct(all);
}

// What decides that of `lanes` these are here, and others have ended. If `op` names no members, lanes may
// also have come apart at a branch that they have left behind.
Dataflow::Origin Dataflow::presence(const Warp& w, const MicroOp& op, std::uint32_t lanes) {
  const std::uint32_t apart = op.src[3] == MicroOp::kNoSlot ? lanes : lanes & ~w.live;
  Gathered all;
  for (const Decision& d : here_->decisions)
    for_lanes(d.lanes & lanes, [&](int lane) { all.add(d.by[static_cast<std::size_t>(lane)]); });
  for_lanes(apart, [&](int lane) { all.add(here_->ended[static_cast<std::size_t>(lane)]); });
  if (op.guard != MicroOp::kNoSlot) for_lanes(lanes, [&](int lane) { all.add(predicate(op.guard)[lane]); });
  work_ += all.differ ? 1 : 0;
  return gathered(all, 1);
}

// Votes and matches are one operation; a reduction is as many as a tree of additions.
void Dataflow::warp_wide(Warp& w, const MicroOp& op) {
  if (op.src[0] == MicroOp::kNoSlot) {  // activemask, elect: which lanes are here
    const Origin here = presence(w, op, ~0u);
    for_lanes(w.mask, [&](int lane) {
      const Origin seen = absences_ ? chosen(here, source(op, 3, lane)) : here;
      for (int k = 0; k < 2; ++k) write(op, k, lane, seen);
    });
    return;
  }
  const std::uint32_t* members = w.slot<std::uint32_t>(op.src[3]);
  std::uint32_t last = 0;
  Origin result;
  Origin results[kLanes];
  for_lanes(w.mask, [&](int lane) {
    const std::uint32_t peers = members[lane] & w.mask;
    if (peers != last) {
      last = peers;
      Gathered all;
      for_lanes(peers, [&](int peer) { all.add(source(op, 0, peer)); });
      if (op.kind == OpKind::reduce && all.n > 1) {
        all.differ = true;
        work_ += all.n - 1;
        result = gathered(all, tree_steps(all.n));
      } else {
        work_ += all.differ ? 1 : 0;
        result = gathered(all, 1);
      }
      if (absences_) result = chosen(result, presence(w, op, members[lane]));
    }
    results[lane] = absences_ ? chosen(result, source(op, 3, lane)) : result;
  });
  for (int k = 0; k < 2; ++k) for_lanes(w.mask, [&](int lane) { write(op, k, lane, results[lane]); });
}

void Dataflow::guarded_off(Warp& w, const MicroOp& op, std::uint32_t lanes) {
  here_ = &shadow(w);
  if (!here_->decisions.empty()) leave_regions(w, regions_.block_of(op), op.function, lanes);
  const Origin* guard = predicate(op.guard);
  const bool writes_memory =
      op.kind == OpKind::store || op.kind == OpKind::atomic || (absences_ && op.kind == OpKind::copy);
  std::uint32_t by_data = 0;
  for_lanes(lanes, [&](int lane) { by_data |= guard[lane].depth != 0 ? 1u << lane : 0; });
  if (by_data == 0) return;
  if (writes_memory) spare(w, by_data, op, {}, guard);
  if (absences_ && (roles_[op.index] & kClock) != 0)
    for_lanes(by_data, [&](int lane) { flows(w, guard[lane]); });
  for_lanes(by_data, [&](int lane) {
    ++n_values_;
    const auto depends = [&](Origin& at) { at = chosen(at, guard[lane]); };
    if ((roles_[op.index] & kCarryOut) != 0) depends(predicate(program_->carry_slot)[lane]);
    for (int k = 0; k < 4 && op.kind != OpKind::store; ++k) {
      if (op.dst[k] == MicroOp::kNoSlot) continue;
      const bool wide = (op.wide_dst >> k & 1) != 0;
      depends((op.pred_dst >> k & 1) != 0 ? predicate(op.dst[k])[lane] : low(op.dst[k])[lane]);
      if (wide) depends(low(op.dst[k])[kLanes + lane]);
    }
  });
}

// --- branches on data --------------------------------------------------------------------------------------

void Dataflow::branches(Warp& w, const BasicBlock& b, std::uint32_t mask) {
  here_ = &shadow(w);
  if (!here_->decisions.empty())
    leave_regions(w, static_cast<std::uint32_t>(&b - program_->blocks.data()), b.function, mask);
  const bool calls_one = b.exit == Exit::call_indirect;
  const Origin* by = b.exit == Exit::branch ? predicate(b.predicate)
                     : calls_one            ? low(program_->calls[b.target].selector)
                                            : low(b.predicate);
  std::uint32_t lanes = 0;
  for_lanes(mask, [&](int lane) { lanes |= by[lane].depth != 0 ? 1u << lane : 0; });
  if (lanes == 0) return;
  const Region& region = regions_.of(b);
  for (const Region::Access& access : region.accesses)
    if (absences_ || access.op->kind != OpKind::copy) spare(w, lanes, *access.op, access.address, by);
  if (absences_) {
    Origin all;
    for_lanes(lanes, [&](int lane) { all = deeper(all, by[lane]); });
    flows(w, all);
    if (region.elsewhere != 0) miss(w, region.elsewhere, all);
  }
  const std::size_t calls = w.calls[std::countr_zero(mask)].size();
  auto& all = here_->decisions;
  auto known = std::find_if(all.begin(), all.end(),
                            [&](const Decision& d) { return d.region == &region && d.calls == calls; });
  if (known == all.end()) known = all.insert(all.end(), Decision{&region, 0, calls, {}});
  for_lanes(lanes, [&](int lane) {
    Origin& at = known->by[static_cast<std::size_t>(lane)];
    at = (known->lanes >> lane & 1) != 0 ? merged(at, by[lane], false) : by[lane];
  });
  known->lanes |= lanes;
}

// The instructions that the block executes depend on `by`.
void Dataflow::flows(Warp& w, Origin by) {
  Origin& flow = blocks_[w.block->storage]->flow;
  flow = deeper(flow, by);
  flow_ = deeper(flow_, by);
}

// Lanes `mask` execute a block: what they wrote in the regions that they have left depends on the branches.
void Dataflow::leave_regions(Warp& w, std::uint32_t block, std::uint32_t function, std::uint32_t mask) {
  const std::size_t calls = w.calls[std::countr_zero(mask)].size();
  auto& all = here_->decisions;
  for (std::size_t k = all.size(); k-- > 0;) {
    Decision& d = all[k];
    const std::uint32_t lanes = d.lanes & mask;
    if (lanes == 0 || calls > d.calls) continue;
    if (calls == d.calls && function == d.region->function && d.region->blocks[block]) continue;
    d.lanes &= ~lanes;
    for_lanes(lanes, [&](int lane) {
      const Origin by = d.by[static_cast<std::size_t>(lane)];
      Origin& ended = here_->ended[static_cast<std::size_t>(lane)];
      ended = deeper(ended, by);
      ++n_values_;
      bool grew = false;
      const auto depends = [&](Origin& at) {
        const Origin now = chosen(at, by, false);
        grew = grew || (at.depth != 0 && now.depth > std::max(at.depth, by.depth));
        at = now;
      };
      for (const Region::Slot& slot : d.region->written) {
        if (slot.predicate) {
          depends(predicate(slot.offset)[lane]);
        } else {
          depends(low(slot.offset)[lane]);
          if (slot.wide) depends(low(slot.offset)[kLanes + lane]);
        }
      }
      work_ += grew ? 1 : 0;
    });
    if (d.lanes == 0) all.erase(all.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

void Dataflow::barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) {
  if ((op.pred_src & 1) == 0) return;
  here_ = &shadow(w);
  Gathered lanes;
  for_lanes(mask, [&](int lane) {
    lanes.add(predicate(op.src[0])[lane]);
    for (int k = 1; k < 4 && absences_; ++k) lanes.add(source(op, k, lane));  // which barrier, of how many
  });
  work_ += lanes.differ ? 1 : 0;
  blocks_[w.block->storage]->arrived[barrier_number(w, mask, op)].add(gathered(lanes, 1));
}

void Dataflow::barrier_released(Block& block, std::uint32_t barrier) {
  BlockShadow& all = *blocks_[block.storage];
  const Gathered warps = std::exchange(all.arrived[barrier], {});
  work_ += warps.differ ? warps.n - 1 : 0;
  all.released[barrier] = gathered(warps, tree_steps(warps.n));
}

// --- what the machine moves --------------------------------------------------------------------------------

void Dataflow::local_moved(Warp& w, int lane, std::uint32_t offset, std::uint32_t bytes) {
  store(w, lane, kLocalWindow + offset, bytes, absences_ ? flow_ : Origin{});
}

void Dataflow::local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) {
  for (std::uint32_t k = 0; k < bytes; k += 4) {
    store(w, lane, kLocalWindow + to + k, std::min(bytes - k, 4u),
          load(w, lane, kLocalWindow + from + k, std::min(bytes - k, 4u)));
  }
}

void Dataflow::builtin_reads(Warp& w, int lane, std::uint64_t address, std::uint32_t bytes) {
  if (absences_) flows(w, load(w, lane, address, bytes));
}

void Dataflow::copies_issued(Warp& w, const CopyBatch& batch) {
  here_ = &shadow(w);
  for_lanes(batch.lanes, [&](int lane) {
    Origin& by = here_->copies[static_cast<std::size_t>(lane)];
    for (int k = 0; k < 4; ++k) by = merged(by, source(*batch.op, k, lane), false);
    if (!absences_) return;
    if (batch.op->guard != MicroOp::kNoSlot) by = deeper(by, predicate(batch.op->guard)[lane]);
    for (const Decision& d : here_->decisions)
      if ((d.lanes >> lane & 1) != 0) by = deeper(by, d.by[static_cast<std::size_t>(lane)]);
  });
  if (absences_) miss_by_address(w, *batch.op, batch.lanes);
}

void Dataflow::copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes, std::uint64_t) {
  Warp& w = block.warps[batch.warp];
  for_lanes(lanes, [&](int i) {
    const Origin by = shadow(w).copies[static_cast<std::size_t>(i)];
    for (std::uint32_t k = 0; k < batch.bytes[i]; k += 4)
      store(w, i, batch.to[i] + k, 4,
            chosen(k < batch.read[i] ? load(w, i, batch.from[i] + k, 4) : Origin{}, by));
  });
}

}  // namespace course::sim
