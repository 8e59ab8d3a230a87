// SPDX-License-Identifier: MIT
#include "sim/checkers/boundcheck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/machine/describe.hpp"
#include "sim/machine/index_origins.hpp"
#include "sim/machine/shared_arrays.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {

// The ops themselves stop accesses outside of allocations, of shared and of local memory (ops/memory.hpp).
Gap Boundcheck::gap(const OpRow& row) {
  if (is_plain(row.kind) || row.kind == OpKind::mbarrier) return nullptr;
  if (row.kind == OpKind::copy)
    return is_of(row, {"cp.async.bulk"}) ? "the arrays that a bulk copy reads and writes are not told apart"
                                         : nullptr;
  if (is_of(row, {"tex", "suld", "sust"})) return "textures and surfaces are not checked";
  if (is_of(row, {"mapa"})) return "accesses to the shared memory of other blocks are not checked";
  return nullptr;  // the others access no memory, or make no fault, as a prefetch
}

void Boundcheck::launch_begins(const Program& program, const LaunchRequest& launch) {
  program_ = &program;
  launch_ = &launch;
  reported_.clear();
  const auto [known, fresh] = known_.try_emplace(&program);
  if (fresh) known->second = shared_arrays(program);
  arrays_ = &known->second;
  inputs_ = arena_.data_ranges();
  const std::vector<Allocation> constants = arena_.constant_ranges();
  inputs_.insert(inputs_.end(), constants.begin(), constants.end());
}

void Boundcheck::launch_ends() {
  for (auto& [op, finding] : reported_) add_finding(findings_, std::move(finding));
  reported_.clear();
}

void Boundcheck::copies_issued(Warp& w, const CopyBatch& batch) {
  LaneAccess a;
  a.wide = batch.to;
  a.mask = batch.lanes;
  a.bytes = batch.bytes[std::countr_zero(batch.lanes)];
  if (const Program::SharedVariable* array = (*arrays_)[batch.op->index]; array != nullptr)
    look(w, *batch.op, a, *array);
  look_at_inputs(w, *batch.op, a);
}

// The finding of an op, if it is new.
Finding* Boundcheck::report(Warp& w, const MicroOp& op, int lane) {
  const auto [it, fresh] = reported_.try_emplace(op.index);
  Finding& f = it->second;
  if (!fresh) {
    ++f.times;
    return nullptr;
  }
  f.checker = Checker::memcheck;
  f.kernel = program_->demangled;
  f.where = places_of(*program_, op);
  f.thread = thread_of(*launch_, w.block->linear, w.number * kLanes + static_cast<std::uint32_t>(lane));
  return &f;
}

void Boundcheck::before(Warp& w, const MicroOp& division) {
  const bool wide = (division.wide_src & 2) != 0;
  const std::uint64_t used = ~std::uint64_t{0} >> (64 - program_->rows[division.index]->flow.bits);
  for (const int lane : EachLane{w.mask}) {
    const std::uint64_t divisor =
        wide ? w.slot<std::uint64_t>(division.src[1])[lane] : w.slot<std::uint32_t>(division.src[1])[lane];
    if ((divisor & used) != 0) continue;
    Finding* const f = report(w, division, lane);
    if (f == nullptr) continue;
    f->checker = Checker::execution;
    f->kind = "division-by-zero";
    f->message = fmt::format(
        "{} divides an integer by 0 at {}: the result is undefined; a GPU continues with a number of which "
        "all bits are set",
        describe_thread(f->thread), one_line(f->where));
  }
}

void Boundcheck::look_at_inputs(Warp& w, const MicroOp& op, const LaneAccess& a) {
  if (std::ranges::none_of(inputs_,
                           [&](const Allocation& input) { return a.may_touch(input.base, input.size); }))
    return;
  for (const int lane : EachLane{a.mask}) {
    const std::uint64_t at = a.at(lane);
    for (const Allocation& input : inputs_) {
      if (at >= input.base + input.size || at + a.bytes <= input.base) continue;
      Finding* f = report(w, op, lane);
      if (f == nullptr) break;
      f->kind = input.is_constant ? "written-constant" : "written-input";
      f->object = describe_address(*program_, arena_, at, op.width);
      f->message = fmt::format("{} writes to {} at {}; {} may only read {}", describe_thread(f->thread),
                               f->object, one_line(f->where), input.is_constant ? "kernels" : "a task",
                               input.is_constant ? "constants and parameters" : "its inputs");
      break;
    }
  }
}

// Instructions for constants read through a cache that does not see what kernels store, so all checkers of
// global memory leave them out. They must read nothing else.
void Boundcheck::look_at_constants(Warp& w, const MicroOp& op, const LaneAccess& a) {
  for (const int lane : EachLane{a.mask}) {
    const std::uint64_t at = a.at(lane);
    const Allocation* const read = arena_.find(at);
    if (read == nullptr || read->is_constant) {  // a fault follows, if there is none
      if (a.same) return;
      continue;
    }
    Finding* f = report(w, op, lane);
    if (f == nullptr) return;
    f->kind = "out-of-bounds";
    f->object = describe_address(*program_, arena_, at, op.width);
    f->message = fmt::format("{} reads {} at {} by an instruction for constants and parameters",
                             describe_thread(f->thread), f->object, one_line(f->where));
    return;
  }
}

void Boundcheck::look(Warp& w, const MicroOp& op, const LaneAccess& a, const Program::SharedVariable& array) {
  const std::uint64_t begin = kSharedWindow + array.offset, end = begin + array.size;
  if (a.is_within(begin, array.size)) return;
  for (const int lane : EachLane{a.mask}) {
    const std::uint64_t at = a.at(lane);
    if (place_of(at) != Place::shared || (at >= begin && at + a.bytes <= end)) continue;
    if (at + a.bytes > kSharedWindow + w.block->shared_bytes) continue;  // a fault follows
    Finding* f = report(w, op, lane);
    if (f == nullptr) continue;
    const std::uint64_t bytes = array.element_bytes == 1 ? op.width : array.element_bytes,
                        n = array.size / bytes;
    const std::string name = plain_name(array.name);
    f->kind = "out-of-bounds-shared";
    f->object = at >= begin ? fmt::format("{}, element {} of {}", name, (at - begin) / bytes, n)
                            : fmt::format("{}, {} element(s) before its start", name,
                                          (begin - at + bytes - 1) / bytes);
    const std::string stray = describe_stray_index(w, op, lane);
    f->message = fmt::format("{} {} {} at {}, which is {}{}", describe_thread(f->thread),
                             op.kind == OpKind::store ? "writes" : "accesses", f->object, one_line(f->where),
                             describe_address(*program_, arena_, at, op.width),
                             stray.empty() ? describe_index(*program_, *launch_, arena_, op) : stray);
  }
}

}  // namespace course::sim
