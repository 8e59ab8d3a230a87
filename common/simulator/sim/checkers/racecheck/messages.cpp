// SPDX-License-Identifier: MIT
// What the race checker says. Reading order: report, describe, reason_of.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/authors_files.hpp"
#include "sim/checkers/library_kernels.hpp"
#include "sim/checkers/racecheck/memory_model.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/machine/access.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/index_origins.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim::race {
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

// For two writes: whether both store the same value.
bool store_the_same(const Conflict& c) {
  const CurrentAccess& h = c.h;
  if (h.op.kind != OpKind::store || c.old_op().kind != OpKind::store) return false;
  const std::uint64_t at = h.shadow.base + c.offset, within = at - h.a.at(c.lane);
  const std::uint64_t mine = h.stored(c.lane, within);
  const auto other = static_cast<int>(c.other);
  if (c.id == h.id && (h.a.mask >> other & 1) != 0 && h.a.at(other) == h.a.at(c.lane))
    return h.stored(other, within) == mine;  // the same instruction
  const std::byte* const memory =
      memory_at(*h.w.worker->arena, *h.w.block, at - within % h.op.width, h.op.width);
  return memory != nullptr && value_at(memory, h.op.width) == mine;  // if nullptr, a fault follows
}

// Whether a thread has executed an op in this launch.
bool has_run(const AccessRecords& records, std::uint32_t op, std::uint32_t block, std::uint32_t warp,
             std::uint32_t lane) {
  return std::ranges::any_of(records.all(), [&](const Record& r) {
    return r.kind == Record::access && r.op == op && r.block == block && warp_of(r) == warp &&
           (r.lanes >> lane & 1) != 0;
  });
}

// Whether the accesses follow two pointers that the launch got, into one array: then the arrays are the same,
// or one reaches into the other. "": they do not, or it is unknown.
std::string two_ways_to(std::uint64_t address, const Program& program, const LaunchRequest& launch,
                        const Arena& arena, const MicroOp& one, const MicroOp& two) {
  const PointerArguments first = pointers_behind(program, launch, one),
                         second = pointers_behind(program, launch, two);
  if (first.size() != 1 || second.size() != 1 || first.begin()->first == second.begin()->first) return "";
  const std::uint64_t from = first.begin()->second, to = second.begin()->second;
  if (from == to) return "both arrays are the same: the launch got one pointer twice";
  if (from > address || to > address || !arena.has(from, 1) || !arena.has(to, 1)) return "";
  const auto place = [&](std::uint64_t at, const MicroOp& op) {
    return describe_address(program, arena, at, op.width);
  };
  return fmt::format("two arrays of the launch overlap: one begins at {}, the other at {}", place(from, one),
                     place(to, two));
}

}  // namespace

// Whether the op is a line of the toolkit's headers, such as those of cooperative groups.
bool Racecheck::is_systems(const MicroOp& op) {
  const auto [known, fresh] = systems_.try_emplace(op.index);
  if (fresh) {
    const auto places = places_of(*program_, op);
    known->second = !places.empty() && !is_authors_file(places.front().file);
  }
  return known->second;
}

void Racecheck::report(Conflict c) {
  // cooperative_groups' tiles of several warps exchange values in reserved shared memory without barriers.
  const CurrentAccess& h = c.h;
  if (h.shadow.shared && c.offset < program_->reserved_shared && is_systems(h.op) && is_systems(c.old_op()))
    return;
  if (care_ != Care::everything) doubt();
  if (c.old_writes && h.writes) c.hazard = store_the_same(c) ? Hazard::same_value : Hazard::write_write;
  if (FoundRaces::Race* const known = found_.again(c.hazard, h.op.index, c.old_op().index)) {
    // What helps two warps helps two lanes of one warp, too, but not the reverse.
    if (!known->in_a_warp || c.in_a_warp()) return;
    const std::uint64_t times = known->finding.times;
    known->finding = describe(c);
    known->finding.times = times;
    known->in_a_warp = false;
    return;
  }
  found_.add({describe(c), h.op.index, c.old_op().index, c.in_a_warp()});
  if (c.hazard == Hazard::same_value && h.op.index == c.old_op().index) explain_by_several(h.op.index);
}

// Now it is known that several threads do a write of races that were reported before.
void Racecheck::explain_by_several(std::uint32_t write) {
  for (FoundRaces::Race& race : found_.all()) {
    std::string& message = race.finding.message;
    if ((race.op == write || race.other_op == write) && message.ends_with(kNothingOrders))
      message.replace(message.size() - std::strlen(kNothingOrders), std::string::npos, kSeveralWrite);
  }
}

Racecheck::Side Racecheck::side_of(const CurrentAccess& h, int lane) const {
  return {&h.op, thread_of(*launch_, h.b.number, h.w.number * kLanes + static_cast<std::uint32_t>(lane))};
}
Racecheck::Side Racecheck::side_of(RecordId id, std::uint32_t lane) const {
  const Record& r = record(id);
  return {&program_->ops[r.op], thread_of(*launch_, r.block, warp_of(r) * kLanes + lane)};
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
  const std::uint32_t write = record(writer).op;
  if (found_.again(Hazard::stale, h.op.index, write) != nullptr) return;
  const bool in_library_kernel = is_library_kernel(program_->demangled);
  Finding f = finding_of(side_of(h, lane), side_of(writer, writers_lane), h.shadow.base + offset, h.op.width);
  f.severity = in_library_kernel ? Severity::hint : Severity::error;
  f.kind = "stale-read";
  f.message = fmt::format(
      "{} reads {} at {} as data that no thread of the kernel writes (ld.global.nc, from __ldg() or a const "
      "__restrict__ pointer), but {} has written it at {}: the load may give the old value{}",
      describe_thread(f.thread), f.object, one_line(f.where), describe_thread(f.other_thread),
      one_line(f.other_where), in_library_kernel ? kLibraryNote : "");
  found_.add({std::move(f), h.op.index, write});
}

void Racecheck::report_miss(std::uint64_t address, const OldValues::Miss& miss) {
  const MicroOp &load = program_->ops[miss.op], &write = program_->ops[record(miss.write).op];
  if (found_.again(Hazard::missed, load.index, write.index) != nullptr) return;
  Finding f = finding_of({&load, thread_of(*launch_, miss.block, miss.warp * kLanes + miss.lane)},
                         side_of(miss.write, miss.writers_lane), address, load.width);
  f.severity = Severity::hint;
  f.kind = "missing-fence";
  f.message = fmt::format(
      "{} reads {} at {} and gets the value from before {} {} it at {}: no __threadfence() before the flag "
      "or counter that passes between them is set, or after it is read",
      describe_thread(f.thread), f.object, one_line(f.where), describe_thread(f.other_thread), verb(write),
      one_line(f.other_where));
  found_.add({std::move(f), load.index, write.index});
}

// Why two accesses, of which `one` reads if only one of them does, are a finding.
std::string Racecheck::reason_of(const Conflict& c, Missing missing, const MicroOp& one,
                                 const MicroOp& two) const {
  const CurrentAccess& h = c.h;
  // Stores of a scatter in which two items have the same position. In a loop, they may also be those of
  // rounds.
  const bool scatter = c.hazard == Hazard::write_write && missing == Missing::nothing_passes &&
                       one.kind == OpKind::store && two.kind == OpKind::store &&
                       !changes_what_it_reads(*program_, one) &&
                       one_line(places_of(*program_, one)) == one_line(places_of(*program_, two));
  if (scatter && one.index == two.index && !is_in_loop(*program_, one))
    return kSamePosition + describe_index(*program_, *launch_, arena_, one);
  if (c.hazard == Hazard::same_value) return "both write the same value, so nothing is lost here";
  if (c.id == h.id && c.hazard != Hazard::read_write)  // at once
    return changes_what_it_reads(*program_, one) ? kLostChange : "one of the two values is lost";
  if (missing == Missing::lock_fence)
    return fmt::format("{}{}", kLockWithoutFence, c.in_a_warp() ? kLockInOneWarp : "");
  if (missing == Missing::writers_fence)
    return "a flag or counter passes between them, but no __threadfence() before it is set";
  if (missing == Missing::readers_fence)
    return "a flag or counter passes between them, but its reader does not acquire what it announces: a "
           "__threadfence() after it is read is missing, or it must be read with memory_order_acquire";
  const Record& r = c.record();
  const bool one_is_old = &two != &c.old_op();
  if (are_of_one_change(*program_, one, two) &&
      has_run(records_, one.index, one_is_old ? h.b.number : r.block, one_is_old ? h.w.number : warp_of(r),
              one_is_old ? static_cast<std::uint32_t>(c.lane) : c.other))
    return kLostChange;
  if (is_strong(one) && is_strong(two) && overlap_partly(one, two, c.in_a_block()))
    return fmt::format("atomic and volatile accesses of {} and of {} bytes are not atomic towards each other",
                       one.width, two.width);
  if ((r.warp & kByBarrier) != 0)
    return "only threads that have waited for the mbarrier know that the copy is done";
  const std::string overlap =
      h.shadow.shared || missing != Missing::nothing_passes || one.index == two.index
          ? ""
          : two_ways_to(h.shadow.base + c.offset, *program_, *launch_, arena_, one, two);
  if (!overlap.empty()) return overlap;
  return c.in_a_block() ? reason_in_a_block(c, scatter, one) : reason_between_blocks(c, missing, one, two);
}

std::string Racecheck::reason_in_a_block(const Conflict& c, bool scatter, const MicroOp& one) const {
  if (!c.h.shadow.shared && c.hazard == Hazard::read_write && program_->shared.empty() &&
      std::ranges::none_of(program_->blocks, [](const BasicBlock& b) { return b.entry == Entry::barrier; }))
    return "nothing orders them: is a barrier missing, which orders the threads of one block, or should it "
           "read another array, which this launch does not write?";
  return fmt::format("no barrier {}between them{}{}", c.in_a_warp() ? "or __syncwarp() " : "",
                     c.in_a_warp() ? ", and lanes of a warp need not run in step" : "",
                     !scatter
                         ? ""
                         : ", or two items have the same position, and then their positions must differ" +
                               describe_index(*program_, *launch_, arena_, one));
}

std::string Racecheck::reason_between_blocks(const Conflict& c, Missing missing, const MicroOp& one,
                                             const MicroOp& two) const {
  const CurrentAccess& h = c.h;
  const Record& r = c.record();
  if (one.kind == OpKind::atomic && two.kind == OpKind::atomic)
    return "an atomic of block scope does not reach other blocks";
  if (is_strong(one) && is_strong(two) && !(reaches_device(one) && reaches_device(two)))
    return "an access of block scope does not reach other blocks";
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
  if (const Cell earlier = replaced_by(c); earlier != 0) {
    const MicroOp& write = h.op_of(earlier >> kLaneBits);
    return fmt::format(
        "this write overwrites the value from {}, which other blocks may still read: nothing "
        "makes the writer wait for its readers. Write to another location (separate arrays for "
        "a tile's total and its prefix, or a second buffer), or wait until they have read it",
        one_line(places_of(*program_, write)));
  }
  using Announced = SyncTracker::Announced;
  const Announced flag = c.old_writes && !h.writes ? SyncTracker::announced(h, c.id, c.other) : Announced::no;
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
  const std::uint32_t write = h.writes ? h.op.index : r.op;
  return found_.contains(Hazard::same_value, write, write) ? kSeveralWrite : kNothingOrders;
}

Finding Racecheck::describe(const Conflict& c) const {
  const CurrentAccess& h = c.h;
  Side one = side_of(h, c.lane), two = side_of(c.id, c.other);
  if (two.op->kind == OpKind::load) std::swap(one, two);  // the reader comes first

  const Missing missing = sync_.missing_between(h, c.lane, c.id, c.other);
  Finding f = finding_of(one, two, h.shadow.base + c.offset, h.op.width);
  const char* const space = h.shadow.shared ? "shared" : "global";
  if (c.hazard == Hazard::same_value) {
    f.severity = Severity::hint;
    f.kind = fmt::format("{}-write-write-same-value", space);
  } else {
    f.kind = is_fence(missing) ? "missing-fence" : fmt::format("{}-race", space);
  }

  std::string second = describe_thread(two.thread);
  if (c.in_a_block()) second.resize(second.find(" of block"));
  std::string why = reason_of(c, missing, *one.op, *two.op);
  if (c.hazard == Hazard::read_write && !h.shadow.shared && is_library_kernel(f.kernel)) {
    f.severity = Severity::hint;
    why += kLibraryNote;
  }
  const std::string place = one_line(f.where), other_place = one_line(f.other_where);
  if (is_flying(c.record(), c.other)) {
    const bool own = c.in_a_block() && std::ranges::equal(f.thread.thread, f.other_thread.thread);
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

// What the write of this conflict has replaced: a weak write of the same word, of which the reader knows.
// 0: unknown.
Cell Racecheck::replaced_by(const Conflict& c) const {
  const CurrentAccess& h = c.h;
  if (h.shadow.shared || c.old_writes == h.writes) return 0;
  if (h.writes) {
    const Cell earlier = h.shadow.written[c.offset / 4];
    const RecordId written = earlier >> kLaneBits;
    // The reader knows of it, since otherwise it would have been reported.
    if (written < h.shadow.floor || written >= c.id || record(written).kind != Record::access) return 0;
    return found_.contains(Hazard::read_write, record(written).op, c.old_op().index) ? 0 : earlier;
  }
  const auto found = replaced_.find(c.offset / 4);
  if (found == replaced_.end()) return 0;
  const RecordId written = found->second >> kLaneBits;
  const std::uint32_t written_by = found->second & kLaneMask;
  const bool known = written < c.id && record(written).block == c.record().block && written_by == c.other &&
                     h.is_after(written, written_by, c.lane);
  return known ? found->second : 0;
}

}  // namespace course::sim::race
