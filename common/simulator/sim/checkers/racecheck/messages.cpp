// SPDX-License-Identifier: MIT
// The messages of the race checker.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sim/authors_files.hpp"
#include "sim/checkers/library_kernels.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/index_origins.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

const char* verb(const MicroOp& op) {
  switch (op.kind) {
    case OpKind::load: return "reads";
    case OpKind::store: return "writes";
    case OpKind::copy: return "copies";
    case OpKind::mbarrier: return (op.order & kOrderMask) == kWeak ? "initialises" : "uses";
    default: return "updates";
  }
}

const ptx::Operand* address_of(const Program& program, const MicroOp& op) {
  for (const ptx::Operand& o : program.functions[op.function].source->instructions[op.ptx_index].operands)
    if (o.kind == ptx::Operand::Kind::address) return &o;
  return nullptr;
}

bool holds(const BasicBlock& block, const MicroOp& op) {
  return op.index >= block.first && op.index < block.last;
}

// Whether a thread can execute the store after the load without starting a loop again.
bool comes_after(const Program& program, const MicroOp& load, const MicroOp& store) {
  if (load.index > store.index) return false;
  std::vector<bool> reached(program.blocks.size(), false);
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const BasicBlock& block = program.blocks[b];
    if (!reached[b] && !holds(block, load)) continue;
    if (holds(block, store)) return true;
    for (const std::uint32_t next : program.successors(static_cast<std::uint32_t>(b))) reached[next] = true;
  }
  return false;
}

bool is_in_loop(const Program& program, const MicroOp& op) {
  const auto here = [&](std::uint32_t b) { return holds(program.blocks[b], op); };
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    if (here(b)) return leads_to(program, b, here);
  return false;
}

// The same, addressed by the same register, as in s_counts[b]++.
bool are_of_one_change(const Program& program, const MicroOp& load, const MicroOp& store) {
  return comes_back_to(program, load, store) && address_of(program, load)->index >= 0;
}

bool changes_what_it_reads(const Program& program, const MicroOp& store) {
  return std::any_of(program.ops.begin(), program.ops.end(),
                     [&](const MicroOp& op) { return are_of_one_change(program, op, store); });
}

constexpr const char* kLostChange =
    "both read it, change it and write it back, so one of the two changes is lost: an atomic, such as "
    "atomicAdd, does the three steps as one";

constexpr const char* kSamePosition =
    "both store there from one line, with different values, of which one is lost: no barrier helps, their "
    "positions must differ, or only one of them should store";

constexpr const char* kNothingOrders =
    "nothing orders two blocks within a kernel unless a fence and an atomic do";
constexpr const char* kSeveralWrite =
    "several threads write the same value there, and a block that waits for one of them does not wait for "
    "the others: let one thread write it";

constexpr const char* kLockWithoutFence =
    "a lock passes between them, but no __threadfence() after it is taken, or before it is released, so the "
    "next holder may see the old value";
constexpr const char* kLockInOneWarp =
    ". These lanes of one warp wait for each other's lock, which hangs on GPUs before Volta";

}  // namespace

bool comes_back_to(const Program& program, const MicroOp& load, const MicroOp& store) {
  if (load.kind != OpKind::load || store.kind != OpKind::store || load.function != store.function ||
      !comes_after(program, load, store))
    return false;
  const ptx::Operand *from = address_of(program, load), *to = address_of(program, store);
  return from != nullptr && to != nullptr && from->index == to->index && from->integer == to->integer &&
         from->name == to->name;
}

std::uint64_t Racecheck::stored(Warp& w, const MicroOp& op, int lane, std::uint64_t at) {
  const std::uint64_t k = at / op.width;
  const std::uint32_t slot = k < 3 ? op.src[1 + k] : op.dst[3];
  const std::uint64_t raw =
      op.width == 8 ? w.slot<std::uint64_t>(slot)[lane] : w.slot<std::uint32_t>(slot)[lane];
  return op.width == 8 ? raw : raw & ((std::uint64_t{1} << (8 * op.width)) - 1);
}

// For two writes: whether both store the same value.
bool Racecheck::same_value(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                           std::uint32_t other) const {
  if (h.op.kind != OpKind::store || program_->ops[record(id).what].kind != OpKind::store) return false;
  const std::uint64_t at = h.shadow.base + offset, within = at - h.a.at(lane);
  const std::uint64_t mine = stored(h.w, h.op, lane, within);
  const auto other_lane = static_cast<int>(other);
  if (id == h.id && (h.a.mask >> other & 1) != 0 && h.a.at(other_lane) == h.a.at(lane))
    return stored(h.w, h.op, other_lane, within) == mine;  // the same instruction
  const std::uint64_t start = at - within % h.op.width;
  if (!h.shadow.shared && !arena_.has(start, h.op.width)) return false;  // a fault follows
  const std::byte* const memory = h.shadow.shared ? h.w.block->shared + (start - h.shadow.base)
                                                  : reinterpret_cast<const std::byte*>(start);
  std::uint64_t there = 0;
  std::memcpy(&there, memory, h.op.width);
  return there == mine;
}

// A pair of ops in reported_, in either order.
std::uint64_t Racecheck::pair_of(Hazard hazard, std::uint32_t one, std::uint32_t other) {
  return static_cast<std::uint64_t>(hazard) << 60 | std::uint64_t{std::max(one, other)} << 30 |
         std::min(one, other);
}

// Whether the next of known_ was reported before; then it is counted once more.
bool Racecheck::counts_again(std::uint64_t key) {
  const auto [known, fresh] = reported_.try_emplace(key, known_.size());
  if (!fresh) ++known_[known->second].finding.times;
  return !fresh;
}

// Whether the op is a line of the toolkit's headers, such as those of cooperative groups.
bool Racecheck::is_systems(const MicroOp& op) {
  const auto [known, fresh] = systems_.try_emplace(op.index);
  if (fresh) {
    const auto places = places_of(*program_, op);
    known->second = !places.empty() && !is_authors_file(places.front().file);
  }
  return known->second;
}

void Racecheck::report(CurrentAccess& h, int lane, std::uint64_t offset, RecordId id, std::uint32_t other,
                       bool old_writes) {
  // cooperative_groups' tiles of several warps exchange values in reserved shared memory without barriers.
  if (h.shadow.shared && offset < program_->reserved_shared && is_systems(h.op) &&
      is_systems(program_->ops[record(id).what]))
    return;
  if (care_ != Care::everything) doubt();
  Hazard hazard = Hazard::read_write;
  if (old_writes && h.writes)
    hazard = same_value(h, lane, offset, id, other) ? Hazard::same_value : Hazard::write_write;
  const bool in_a_warp = record(id).block == h.b.number && warp_of(record(id)) == h.w.number;
  const std::uint64_t key = pair_of(hazard, h.op.index, record(id).what);
  if (counts_again(key)) {
    // What helps two warps helps two lanes of one warp, too, but not the reverse.
    Known& known = known_[reported_[key]];
    if (!known.in_a_warp || in_a_warp) return;
    const std::uint64_t times = known.finding.times;
    known.finding = describe(h, lane, offset, id, other, hazard, old_writes);
    known.finding.times = times;
    known.in_a_warp = false;
    return;
  }
  known_.push_back(
      {describe(h, lane, offset, id, other, hazard, old_writes), h.op.index, record(id).what, in_a_warp});
  if (hazard == Hazard::same_value && h.op.index == record(id).what) explain_by_several(h.op.index);
}

// Now it is known that several threads do a write of races that were reported before.
void Racecheck::explain_by_several(std::uint32_t write) {
  for (Known& known : known_) {
    std::string& message = known.finding.message;
    if ((known.op == write || known.other_op == write) && message.ends_with(kNothingOrders))
      message.replace(message.size() - std::strlen(kNothingOrders), std::string::npos, kSeveralWrite);
  }
}

Racecheck::Side Racecheck::side_of(const CurrentAccess& h, int lane) const {
  return {&h.op, thread_of(*launch_, h.b.number, h.w.number * kLanes + static_cast<std::uint32_t>(lane))};
}
Racecheck::Side Racecheck::side_of(const Record& r, std::uint32_t lane) const {
  return {&program_->ops[r.what], thread_of(*launch_, r.block, warp_of(r) * kLanes + lane)};
}

Finding Racecheck::finding_of(const Side& one, const Side& two, std::uint64_t address,
                              std::uint32_t width) const {
  Finding f;
  f.checker = Checker::racecheck;
  f.kernel = program_->demangled;
  f.where = places_of(*program_, *one.op);
  f.other_where = places_of(*program_, *two.op);
  f.thread = one.thread;
  f.other_thread = two.thread;
  f.object = describe_address(*program_, arena_, address, width);
  return f;
}

void Racecheck::report_stale(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId writer,
                             std::uint32_t writers_lane) {
  const Record& r = record(writer);
  if (counts_again(pair_of(Hazard::stale, h.op.index, r.what))) return;
  const bool in_library_kernel = is_library_kernel(program_->demangled);
  Finding f = finding_of(side_of(h, lane), side_of(r, writers_lane), h.shadow.base + offset, h.op.width);
  f.severity = in_library_kernel ? Severity::hint : Severity::error;
  f.kind = "stale-read";
  f.message = fmt::format(
      "{} reads {} at {} as data that no thread of the kernel writes (ld.global.nc, from __ldg() or a const "
      "__restrict__ pointer), but {} has written it at {}: the load may give the old value{}",
      describe_thread(f.thread), f.object, one_line(f.where), describe_thread(f.other_thread),
      one_line(f.other_where), in_library_kernel ? kLibraryNote : "");
  known_.push_back({std::move(f), h.op.index, r.what});
}

void Racecheck::report_miss(std::uint64_t address, const Miss& miss) {
  const Record& writer = record(miss.write);
  const MicroOp &load = program_->ops[miss.op], &write = program_->ops[writer.what];
  if (counts_again(pair_of(Hazard::missed, load.index, write.index))) return;
  Finding f = finding_of({&load, thread_of(*launch_, miss.block, miss.warp * kLanes + miss.lane)},
                         side_of(writer, miss.writers_lane), address, load.width);
  f.severity = Severity::hint;
  f.kind = "missing-fence";
  f.message = fmt::format(
      "{} reads {} at {} and gets the value from before {} {} it at {}: no __threadfence() before the flag "
      "or counter that passes between them is set, or after it is read",
      describe_thread(f.thread), f.object, one_line(f.where), describe_thread(f.other_thread), verb(write),
      one_line(f.other_where));
  known_.push_back({std::move(f), load.index, write.index});
}

// Whether a thread has executed an op in this launch.
bool Racecheck::has_run(std::uint32_t op, std::uint32_t block, std::uint32_t warp, std::uint32_t lane) const {
  return std::ranges::any_of(records_.all(), [&](const Record& r) {
    return r.kind == Record::access && r.what == op && r.block == block && warp_of(r) == warp &&
           (r.lanes >> lane & 1) != 0;
  });
}

// Whether the accesses follow two pointers that the launch got, into one array: then the arrays are the same,
// or one reaches into the other. "": they do not, or it is unknown.
std::string Racecheck::two_ways_to(std::uint64_t address, const MicroOp& one, const MicroOp& two) const {
  const PointerArguments first = pointers_behind(*program_, *launch_, one),
                         second = pointers_behind(*program_, *launch_, two);
  if (first.size() != 1 || second.size() != 1 || first.begin()->first == second.begin()->first) return "";
  const std::uint64_t from = first.begin()->second, to = second.begin()->second;
  if (from == to) return "both arrays are the same: the launch got one pointer twice";
  if (from > address || to > address || !arena_.has(from, 1) || !arena_.has(to, 1)) return "";
  const auto place = [&](std::uint64_t at, const MicroOp& op) {
    return describe_address(*program_, arena_, at, op.width);
  };
  return fmt::format("two arrays of the launch overlap: one begins at {}, the other at {}", place(from, one),
                     place(to, two));
}

// Why two accesses, of which `one` reads if only one of them does, are a finding.
std::string Racecheck::reason_of(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                                 std::uint32_t other, Hazard hazard, bool old_writes, Missing missing,
                                 const MicroOp& one, const MicroOp& two) const {
  const Record& r = record(id);
  const bool same_block = r.block == h.b.number, same_warp = same_block && warp_of(r) == h.w.number;
  // Stores of a scatter in which two items have the same position. In a loop, they may also be those of
  // rounds.
  const bool scatter = hazard == Hazard::write_write && missing == Missing::nothing_passes &&
                       one.kind == OpKind::store && two.kind == OpKind::store &&
                       !changes_what_it_reads(*program_, one) &&
                       one_line(places_of(*program_, one)) == one_line(places_of(*program_, two));
  if (scatter && one.index == two.index && !is_in_loop(*program_, one))
    return kSamePosition + describe_index(*program_, *launch_, arena_, one);
  if (hazard == Hazard::same_value) return "both write the same value, so nothing is lost here";
  if (id == h.id && hazard != Hazard::read_write)  // at once
    return changes_what_it_reads(*program_, one) ? kLostChange : "one of the two values is lost";
  if (missing == Missing::lock_fence)
    return fmt::format("{}{}", kLockWithoutFence, same_warp ? kLockInOneWarp : "");
  if (missing == Missing::writers_fence)
    return "a flag or counter passes between them, but no __threadfence() before it is set";
  if (missing == Missing::readers_fence)
    return "a flag or counter passes between them, but its reader does not acquire what it announces: a "
           "__threadfence() after it is read is missing, or it must be read with memory_order_acquire";
  const bool second_is_old = &two == &program_->ops[r.what];
  if (are_of_one_change(*program_, one, two) &&
      has_run(one.index, second_is_old ? r.block : h.b.number, second_is_old ? warp_of(r) : h.w.number,
              second_is_old ? other : static_cast<std::uint32_t>(lane)))
    return kLostChange;
  if (is_strong(one) && is_strong(two) && overlap_partly(one, two, same_block))
    return fmt::format("atomic and volatile accesses of {} and of {} bytes are not atomic towards each other",
                       one.width, two.width);
  if ((r.warp & kByBarrier) != 0)
    return "only threads that have waited for the mbarrier know that the copy is done";
  const std::string overlap = h.shadow.shared || missing != Missing::nothing_passes || one.index == two.index
                                  ? ""
                                  : two_ways_to(h.shadow.base + offset, one, two);
  if (!overlap.empty()) return overlap;
  if (same_block && !h.shadow.shared && hazard == Hazard::read_write && program_->shared.empty() &&
      std::ranges::none_of(program_->blocks, [](const BasicBlock& b) { return b.entry == Entry::barrier; }))
    return "nothing orders them: is a barrier missing, which orders the threads of one block, or should it "
           "read another array, which this launch does not write?";
  if (same_block) {
    return fmt::format("no barrier {}between them{}{}", same_warp ? "or __syncwarp() " : "",
                       same_warp ? ", and lanes of a warp need not run in step" : "",
                       !scatter
                           ? ""
                           : ", or two items have the same position, and then their positions must differ" +
                                 describe_index(*program_, *launch_, arena_, one));
  }
  if (one.kind == OpKind::atomic && two.kind == OpKind::atomic)
    return "an atomic of block scope does not reach other blocks";
  if (is_strong(one) && is_strong(two) && !(reaches_device(one) && reaches_device(two)))
    return "an access of block scope does not reach other blocks";
  return reason_between_blocks(h, lane, offset, id, other, old_writes, missing);
}

Finding Racecheck::describe(const CurrentAccess& h, int lane, std::uint64_t offset, RecordId id,
                            std::uint32_t other, Hazard hazard, bool old_writes) const {
  const Record& r = record(id);
  Side one = side_of(h, lane), two = side_of(r, other);
  if (two.op->kind == OpKind::load) std::swap(one, two);  // the reader comes first

  const bool same_block = r.block == h.b.number;
  const Missing missing = missing_between(h, lane, r, id, other);
  Finding f = finding_of(one, two, h.shadow.base + offset, h.op.width);
  const char* const space = h.shadow.shared ? "shared" : "global";
  if (hazard == Hazard::same_value) {
    f.severity = Severity::hint;
    f.kind = fmt::format("{}-write-write-same-value", space);
  } else {
    f.kind = is_fence(missing) ? "missing-fence" : fmt::format("{}-race", space);
  }

  std::string second = describe_thread(two.thread);
  if (same_block) second.resize(second.find(" of block"));
  std::string why = reason_of(h, lane, offset, id, other, hazard, old_writes, missing, *one.op, *two.op);
  if (hazard == Hazard::read_write && !h.shadow.shared && is_library_kernel(f.kernel)) {
    f.severity = Severity::hint;
    why += kLibraryNote;
  }
  const std::string place = one_line(f.where), other_place = one_line(f.other_where);
  if (is_flying(r, other)) {
    const bool own = same_block && f.thread.thread[0] == f.other_thread.thread[0] &&
                     f.thread.thread[1] == f.other_thread.thread[1] &&
                     f.thread.thread[2] == f.other_thread.thread[2];
    f.message = fmt::format(
        "{} {} {} at {}, but the copy that {} began at {} may still be under way: {}",
        describe_thread(one.thread), verb(*one.op), f.object, place, own ? "it" : second, other_place,
        own ? "it must wait for it first" : "that thread must wait for it first, and a barrier follow");
    return f;
  }
  if (place == other_place && std::strcmp(verb(*one.op), verb(*two.op)) == 0)
    f.message = fmt::format("{} {} {} at {}, and so does {}: {}", describe_thread(one.thread), verb(*one.op),
                            f.object, place, second, why);
  else
    f.message = fmt::format("{} {} {} at {} while {} {} it at {}: {}", describe_thread(one.thread),
                            verb(*one.op), f.object, place, second, verb(*two.op), other_place, why);
  return f;
}

// For accesses of two blocks, at least one a write, between which no fence is missing.
std::string Racecheck::reason_between_blocks(const CurrentAccess& h, int lane, std::uint64_t offset,
                                             RecordId id, std::uint32_t other, bool old_writes,
                                             Missing missing) const {
  const Record& r = record(id);
  if (missing == Missing::writers_barrier)
    return fmt::format(
        "a flag or counter passes between them, but another thread of block {} sets it, and no "
        "barrier comes between this access and that thread's __threadfence()",
        r.block);
  if (missing == Missing::readers_barrier)
    return fmt::format(
        "a flag or counter passes between them, but another thread of block {} has read it, and "
        "no barrier comes between that thread's __threadfence() and this access",
        h.b.number);
  if (const Cell earlier = replaced_by(h, lane, offset, id, other, old_writes); earlier != 0) {
    const MicroOp& write = program_->ops[record(earlier >> kLaneBits).what];
    return fmt::format(
        "this write overwrites the value from {}, which other blocks may still read: nothing "
        "makes the writer wait for its readers. Write to another location (separate arrays for "
        "a tile's total and its prefix, or a second buffer), or wait until they have read it",
        one_line(places_of(*program_, write)));
  }
  const Announced flag = old_writes && !h.writes ? announced(h, r, id, other) : Announced::no;
  if (flag == Announced::before_by_itself)
    return fmt::format(
        "the flag or counter by which block {} knows of block {} was set before this write, so "
        "it does not announce it",
        h.b.number, r.block);
  if (flag == Announced::before_by_another)
    return fmt::format(
        "the flag or counter by which block {} knows of block {} was set before this write, by another "
        "thread of block {}, which must wait for it at a barrier first",
        h.b.number, r.block, r.block);
  const std::uint32_t write = h.writes ? h.op.index : r.what;
  return reported_.contains(pair_of(Hazard::same_value, write, write)) ? kSeveralWrite : kNothingOrders;
}

std::set<std::uint32_t> Racecheck::racing() const {
  std::set<std::uint32_t> ops;
  for (const Known& k : known_)
    if (k.finding.severity == Severity::error) ops.insert({k.op, k.other_op});
  return ops;
}

const Finding* Racecheck::first_race() const {
  for (const Known& k : known_)
    if (k.finding.severity == Severity::error) return &k.finding;
  return nullptr;
}

void Racecheck::launch_ends() {
  for (const auto& [address, miss] : misses_) report_miss(address, miss);
  misses_.clear();
  // A conflict that is only sometimes harmless is reported once, as a fault.
  const std::set<std::uint32_t> faulty = racing();
  for (Known& k : known_)
    if (k.finding.severity == Severity::error || (!faulty.contains(k.op) && !faulty.contains(k.other_op)))
      add_finding(findings_, std::move(k.finding));
  known_.clear();
  reported_.clear();
  systems_.clear();
}

}  // namespace course::sim
