// SPDX-License-Identifier: MIT
#include "sim/observation/dataflow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

namespace course::sim {

Gap Dataflow::gap(const OpRow& row) {
  switch (row.kind) {
    case OpKind::move:
    case OpKind::combine:
      if (is_of(row, {"dp2a", "dp4a", "video"}) || row.key.ends_with("x2"))
        return row.kind == OpKind::move ? nullptr : "several operations in one instruction count as one";
      return nullptr;
    case OpKind::atomic:
      return row.key.ends_with("x2") || row.key.ends_with("b128")
                 ? "several operations in one instruction count as one"
                 : nullptr;
    case OpKind::load:
    case OpKind::store:
    case OpKind::shuffle:
    case OpKind::vote:
    case OpKind::reduce:
    case OpKind::sync:
    case OpKind::fence:
    case OpKind::control: return nullptr;
    case OpKind::copy:
      return is_of(row, {"cp.async.bulk"}) ? "copies of parts of words are not followed" : nullptr;
    case OpKind::mbarrier: return "the state of an mbarrier is not followed";
    case OpKind::other: break;
  }
  if (is_of(row, {"mma", "movmatrix"})) return "values that pass between lanes in a matrix are not followed";
  if (is_of(row, {"tex", "suld", "sust", "mbarrier", "mapa"}))
    return "values in such memory are not followed";
  return nullptr;  // the others compute nothing from data
}

namespace {

// Whether the op reads or writes the carry flag.
bool uses_carry(const OpRow& row) {
  return is_of(row, {"add.cc", "addc", "sub.cc", "subc", "mad.lo.cc", "mad.hi.cc", "madc"});
}

}  // namespace

Gap Dataflow::gap_of_recursion() {
  return "the registers of a function that calls itself are not followed";
}

Dataflow::Dataflow(const Arena& arena) : arena_(arena) {
  void* place =
      mmap(nullptr, arena.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  global_ = static_cast<std::uint32_t*>(place);
}

Dataflow::~Dataflow() {
  munmap(global_, arena_.size());
}

// The watched buffers start with depth 0; marked again only if their number has changed.
void Dataflow::mark_data() {
  const auto ranges = arena_.data_ranges();
  if (ranges.size() == marked_ranges_) return;
  marked_ranges_ = ranges.size();
  for (const Allocation& range : ranges) {
    const std::uint64_t first = (range.base - arena_.base()) / 4,
                        last = (range.base + range.size - arena_.base() + 3) / 4;
    std::fill(global_ + first, global_ + last, 1u);
  }
}

void Dataflow::launch_begins(const Program& program, const LaunchRequest&) {
  program_ = &program;
  carries_.assign(program.ops.size(), false);
  for (std::size_t k = 0; k < program.ops.size(); ++k) carries_[k] = uses_carry(*program.rows[k]);
  shadows_.clear();
  mark_data();
}

void Dataflow::block_begins(Block& block) {
  for (const Warp& w : block.warps) {
    Shadow& shadow = shadows_[&w];
    shadow.registers.assign(program_->register_bytes / 4 + kLanes, 0);
    shadow.predicates.clear();
  }
}

Dataflow::Depth* Dataflow::of(Warp& w, std::uint32_t slot, bool predicate) {
  Shadow& shadow = shadows_[&w];
  if (!predicate) return shadow.registers.data() + slot / 4;
  auto& lanes = shadow.predicates[slot];
  lanes.resize(kLanes);
  return lanes.data();
}

Dataflow::Depth& Dataflow::memory(Warp& w, int lane, std::uint64_t address) {
  if (address >= kLocalWindow)
    return local_[reinterpret_cast<std::uint64_t>(&w) * kLanes + static_cast<std::uint64_t>(lane) +
                  (address << 20)];
  if (address >= kSharedWindow)
    return shared_[reinterpret_cast<std::uint64_t>(w.block->shared) + (address - kSharedWindow) / 4 * 4];
  if (!arena_.contains(address)) return outside_[address / 4];
  return global_[(address - arena_.base()) / 4];
}

Dataflow::Depth Dataflow::combined(Depth a, Depth b) {
  if (a == 0 || b == 0) return std::max(a, b);
  ++work_;
  const Depth depth = std::max(a, b) + 1;
  deepest_ = std::max<std::uint64_t>(deepest_, depth - 1);
  return depth;
}

void Dataflow::write(Warp& w, const MicroOp& op, int k, int lane, Depth depth) {
  if (op.dst[k] == MicroOp::kNoSlot) return;
  of(w, op.dst[k], (op.pred_dst >> k & 1) != 0)[lane] = depth;
}

// Ops without a rule of their own: each lane's results have the depth of its deepest input.
void Dataflow::pass_on(Warp& w, const MicroOp& op) {
  for (std::uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    Depth deepest = 0;
    for (int k = 0; k < 4; ++k)
      if (op.src[k] != MicroOp::kNoSlot)
        deepest = std::max(deepest, of(w, op.src[k], (op.pred_src >> k & 1) != 0)[lane]);
    for (int k = 0; k < op.n_dst; ++k) write(w, op, k, lane, deepest);
  }
}

void Dataflow::before(Warp& w, const MicroOp& op) {
  if (op.kind == OpKind::load || op.kind == OpKind::store || op.kind == OpKind::atomic)
    addresses_ = addresses_of(w, op);
  if (op.kind != OpKind::shuffle) return;
  // Executes the op on the depths instead of the values, so that it shuffles them.
  std::uint32_t* value = w.slot<std::uint32_t>(op.src[0]);
  std::uint32_t* out = w.slot<std::uint32_t>(op.dst[0]);
  std::uint32_t saved_value[kLanes], saved_out[kLanes];
  std::copy_n(value, kLanes, saved_value);
  std::copy_n(out, kLanes, saved_out);
  const std::uint32_t saved_predicate = op.dst[1] != MicroOp::kNoSlot ? w.predicate(op.dst[1]) : 0;
  std::copy_n(of(w, op.src[0], false), kLanes, value);
  op.fn(w, op);
  std::copy_n(out, kLanes, shuffled_);
  std::copy_n(saved_out, kLanes, out);
  std::copy_n(saved_value, kLanes, value);
  if (op.dst[1] != MicroOp::kNoSlot) w.predicate(op.dst[1]) = saved_predicate;
}

void Dataflow::after(Warp& w, const MicroOp& op) {
  const auto for_lanes = [&](const auto& each) {
    for (std::uint32_t m = w.mask; m != 0; m &= m - 1) each(std::countr_zero(m));
  };
  switch (op.kind) {
    case OpKind::move:
    case OpKind::combine: {
      const Depth* in[4];
      int n = 0;
      for (int k = 0; k < op.n_src || (op.n_src == 0 && k == 0); ++k) {
        if (k >= 4 || op.src[k] == MicroOp::kNoSlot) break;
        bool repeated = false;
        for (int j = 0; j < k; ++j) repeated = repeated || op.src[j] == op.src[k];
        if (!repeated) in[n++] = of(w, op.src[k], (op.pred_src >> k & 1) != 0);
      }
      for_lanes([&](int lane) {
        Depth depth = 0;
        for (int k = 0; k < n; ++k)
          depth = op.kind == OpKind::combine ? combined(depth, in[k][lane]) : std::max(depth, in[k][lane]);
        if (carries_[op.index]) {
          Depth& carry = of(w, program_->carry_slot, true)[lane];
          carry = depth = std::max(depth, carry);
        }
        write(w, op, 0, lane, depth);
      });
      break;
    }
    case OpKind::load:
      for_lanes([&](int lane) {
        for (int k = 0; k < op.count; ++k)
          write(w, op, k, lane,
                memory(w, lane, addresses_.at[lane] + static_cast<std::uint64_t>(k) * op.width));
      });
      break;
    case OpKind::store:
      for (int k = 0; k < op.count; ++k) {
        const Depth* value = of(w, k < 3 ? op.src[1 + k] : op.dst[3], false);
        for_lanes([&](int lane) {
          memory(w, lane, addresses_.at[lane] + static_cast<std::uint64_t>(k) * op.width) = value[lane];
        });
      }
      break;
    case OpKind::atomic: {
      const Depth* value = of(w, op.src[op.src[2] != MicroOp::kNoSlot ? 2 : 1], false);
      for_lanes([&](int lane) {
        Depth& cell = memory(w, lane, addresses_.at[lane]);
        const Depth old = cell;
        cell = combined(cell, value[lane]);
        write(w, op, 0, lane, old);
      });
      break;
    }
    case OpKind::shuffle: for_lanes([&](int lane) { write(w, op, 0, lane, shuffled_[lane]); }); break;
    case OpKind::reduce: {
      const Depth* in = of(w, op.src[0], false);
      Depth deepest = 0;
      std::uint32_t n = 0;
      for_lanes([&](int lane) {
        deepest = std::max(deepest, in[lane]);
        n += in[lane] != 0;
      });
      if (n > 1) {
        work_ += n - 1;
        deepest += static_cast<Depth>(std::bit_width(n - 1));
        deepest_ = std::max<std::uint64_t>(deepest_, deepest - 1);
      }
      for_lanes([&](int lane) { write(w, op, 0, lane, deepest); });
      break;
    }
    case OpKind::other: pass_on(w, op); break;
    default:  // a vote's mask and a barrier's result count lanes and do not combine their data
      for (int k = 0; k < 2; ++k) for_lanes([&](int lane) { write(w, op, k, lane, 0); });
      break;
  }
}

void Dataflow::local_copied(Warp& w, int lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes) {
  for (std::uint32_t k = 0; k < bytes; ++k) {
    const Depth depth = memory(w, lane, kLocalWindow + from + k);
    memory(w, lane, kLocalWindow + to + k) = depth;
  }
}

void Dataflow::copies_finished(Block& block, const CopyBatch& batch, std::uint32_t lanes, std::uint64_t) {
  Warp& w = block.warps[batch.warp];
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    for (std::uint32_t k = 0; k < batch.bytes[i]; k += 4)
      memory(w, i, batch.to[i] + k) = k < batch.read[i] ? memory(w, i, batch.from[i] + k) : 0;
  }
}

std::uint64_t Dataflow::take_work() {
  return std::exchange(work_, 0);
}

}  // namespace course::sim
