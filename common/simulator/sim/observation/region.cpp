// SPDX-License-Identifier: MIT
#include "sim/observation/region.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/decode/decode.hpp"
#include "sim/machine/op_table.hpp"

namespace course::sim {
namespace {

bool writes_memory(const MicroOp& op) {
  return op.kind == OpKind::store || op.kind == OpKind::atomic || op.kind == OpKind::copy;
}

bool uses_carry(const OpRow& row) {
  return is_of(row, {"add.cc", "addc", "sub.cc", "subc", "mad.lo.cc", "mad.hi.cc", "madc"});
}

}  // namespace

void Regions::of_program(const Program& program) {
  known_.clear();
  program_ = &program;
  block_of_.assign(program.ops.size(), 0);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    for (std::uint32_t i = program.blocks[b].first; i < program.blocks[b].last; ++i) block_of_[i] = b;
}

const Region& Regions::of(const BasicBlock& branch) {
  const auto number = static_cast<std::uint32_t>(&branch - program_->blocks.data());
  auto& region = known_[number];
  if (region == nullptr) {
    region = std::make_unique<Region>();
    region->branch = number;
    region->function = branch.function;
    fill(*region);
  }
  return *region;
}

// The basic blocks that can be reached from the branch without passing a post-dominator of it.
std::vector<bool> Regions::between(std::uint32_t branch) const {
  const std::size_t n = program_->blocks.size();
  // All blocks that can be reached from the branch without passing `without`, and whether an end of the
  // function can.
  const auto reach = [&](const std::vector<bool>& without, std::vector<bool>& seen) {
    seen.assign(n, false);
    bool ends = false;
    std::vector<std::uint32_t> open = successors(*program_, branch);
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      if (seen[b] || without[b]) continue;
      seen[b] = true;
      const std::vector<std::uint32_t> next = successors(*program_, b);
      ends = ends || next.empty();
      open.insert(open.end(), next.begin(), next.end());
    }
    return ends;
  };
  std::vector<bool> joins(n, false), reached, seen;
  if (reach(joins, reached)) {
    std::vector<bool> one(n, false);
    for (std::size_t b = 0; b < n; ++b) {
      if (!reached[b] || b == branch) continue;
      one[b] = true;
      joins[b] = !reach(one, seen);
      one[b] = false;
    }
  }
  reach(joins, seen);
  return seen;
}

// The ops on a shortest way from the branch to an op of the region that does not pass the basic block
// `without`. Nothing if there is none.
std::optional<std::vector<const MicroOp*>> Regions::way_to(const MicroOp& op, const Region& region,
                                                           std::uint32_t without) const {
  constexpr std::uint32_t kUnreached = ~0u;
  std::vector<std::uint32_t> from(program_->blocks.size(), kUnreached);
  std::vector<std::uint32_t> open;
  const auto visit = [&](std::uint32_t before) {
    for (const std::uint32_t b : successors(*program_, before))
      if (region.blocks[b] && from[b] == kUnreached && b != without) {
        from[b] = before;
        open.push_back(b);
      }
  };
  visit(region.branch);
  for (std::size_t k = 0; k < open.size() && open[k] != block_of(op); ++k) visit(open[k]);
  if (from[block_of(op)] == kUnreached) return std::nullopt;
  std::vector<const MicroOp*> way;
  for (std::uint32_t i = op.index, b = block_of(op);;) {
    while (i > program_->blocks[b].first) way.push_back(&program_->ops[--i]);
    b = from[b];
    if (b == region.branch) break;
    i = program_->blocks[b].last;
  }
  std::reverse(way.begin(), way.end());
  return way;
}

// The ops that compute the address of `op` from registers at the branch. Nothing if one of them does more
// than to compute, or only for some lanes; or if the address may be another one on another way to the op, or
// when a loop reaches it again. `n_writers`: how many ops of the region write a register.
std::optional<std::vector<const MicroOp*>> Regions::address_of(
    const MicroOp& op, const Region& region, const std::map<std::uint32_t, int>& n_writers) const {
  const std::vector<const MicroOp*> way = *way_to(op, region, ~0u);
  std::set<std::uint32_t> needed{op.src[0]};
  needed.erase(MicroOp::kNoSlot);
  std::vector<const MicroOp*> address;
  for (auto at = way.rbegin(); at != way.rend(); ++at) {
    const MicroOp& one = **at;
    if (std::none_of(needed.begin(), needed.end(), [&](std::uint32_t slot) { return writes(one, slot); }))
      continue;
    const bool computes = one.kind == OpKind::move || one.kind == OpKind::combine;
    if (!computes || one.guard != MicroOp::kNoSlot || uses_carry(*program_->rows[one.index]) ||
        (block_of(one) != block_of(op) && way_to(op, region, block_of(one)).has_value()))
      return std::nullopt;
    for (const std::uint32_t slot : one.dst) {
      if (slot != MicroOp::kNoSlot && n_writers.at(slot) > 1) return std::nullopt;
      needed.erase(slot);
    }
    needed.insert(std::begin(one.src), std::end(one.src));
    needed.erase(MicroOp::kNoSlot);
    address.push_back(&one);
  }
  for (const std::uint32_t slot : needed)
    if (n_writers.contains(slot)) return std::nullopt;
  std::reverse(address.begin(), address.end());
  return address;
}

// Whether a register that the region may have written is read after it, before it is written again.
bool Regions::read_after(const Region& region, std::uint32_t slot) const {
  std::vector<std::uint32_t> open;
  const auto leave = [&](std::uint32_t from) {
    for (const std::uint32_t b : successors(*program_, from))
      if (!region.blocks[b]) open.push_back(b);
  };
  leave(region.branch);
  for (std::uint32_t b = 0; b < program_->blocks.size(); ++b)
    if (region.blocks[b]) leave(b);
  return may_read(*program_, std::move(open), slot);
}

// Whether an access to local memory stays in the variables of its function.
bool Regions::is_in_frame(const MicroOp& op) const {
  return op.space == MemorySpace::local && op.src[0] == program_->frame_slot && op.imm >= 0 &&
         op.imm + op.width * op.count <= program_->functions[op.function].frame_bytes;
}

// The memory that functions write which a basic block calls, except their own local variables; their results
// are in those of the caller.
std::uint32_t Regions::written_by_calls(const BasicBlock& caller) const {
  std::set<std::uint32_t> called;
  std::vector<const BasicBlock*> open{&caller};
  std::uint32_t spaces = 0;
  const auto call = [&](std::uint32_t function) {
    if (!called.insert(function).second) return;
    for (const BasicBlock& b : program_->blocks)
      if (b.function == function) open.push_back(&b);
  };
  while (!open.empty()) {
    const BasicBlock& b = *open.back();
    open.pop_back();
    if (&b != &caller)
      for (std::uint32_t i = b.first; i < b.last; ++i)
        if (const MicroOp& op = program_->ops[i]; writes_memory(op) && !is_in_frame(op))
          spaces |= 1u << static_cast<std::uint32_t>(op.space);
    const bool calls = b.exit == Exit::call || b.exit == Exit::call_indirect;
    if (&b == &caller && calls && !program_->calls[b.target].results.empty())
      spaces |= 1u << static_cast<std::uint32_t>(MemorySpace::local);
    if (b.exit == Exit::call_indirect) {
      for (std::uint32_t f = 0; f < program_->address_taken.size(); ++f)
        if (program_->reaches(program_->calls[b.target], f)) call(f);
    } else if (b.exit == Exit::call && program_->calls[b.target].callee != CallSite::kIndirect) {
      call(program_->calls[b.target].callee);
    }
  }
  return spaces;
}

void Regions::fill(Region& region) const {
  region.blocks = between(region.branch);
  region.elsewhere = written_by_calls(program_->blocks[region.branch]);
  std::set<std::uint32_t> known;
  const auto add = [&](const Region::Slot& slot) {
    if (known.insert(slot.offset).second &&
        (slot.offset == program_->carry_slot || read_after(region, slot.offset)))
      region.written.push_back(slot);
  };
  std::vector<const MicroOp*> accesses;
  std::map<std::uint32_t, int> n_writers;
  for (std::uint32_t b = 0; b < program_->blocks.size(); ++b) {
    if (!region.blocks[b]) continue;
    region.elsewhere |= written_by_calls(program_->blocks[b]);
    for (std::uint32_t i = program_->blocks[b].first; i < program_->blocks[b].last; ++i) {
      const MicroOp& op = program_->ops[i];
      for (int k = 0; k < n_results(op); ++k)
        if (op.dst[k] != MicroOp::kNoSlot) {
          add({op.dst[k], (op.wide_dst >> k & 1) != 0, (op.pred_dst >> k & 1) != 0});
          ++n_writers[op.dst[k]];
        }
      if (uses_carry(*program_->rows[i])) add({program_->carry_slot, false, true});
      if (writes_memory(op)) accesses.push_back(&op);
    }
  }
  for (const MicroOp* op : accesses) {
    if (auto address = address_of(*op, region, n_writers))
      region.accesses.push_back({op, std::move(*address)});
    else
      region.elsewhere |= 1u << static_cast<std::uint32_t>(op->space);
  }
}

}  // namespace course::sim
