// SPDX-License-Identifier: MIT
// Radix sort: order n keys (and the values that belong to them) by their bits, a digit at a time. The lab's API and its points.
// Read: how keys are ordered, Job (what a task gets), the manifest (tasks and points). Included by the student's .cu,
// the solutions, the CPU side (problem.cpp) and the tests, so it stays light: no heavy header.
// Invariant: every task but `merge` is stable: keys that are equal in the bits that count keep their order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lab/manifest.hpp"
#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::radix_sort {

using lab::Status;

// --- What is sorted: keys alone, or pairs of a key and a 32-bit value that moves with it.
enum class OpId : std::uint32_t { keys, pairs };
constexpr const char* name_of(OpId op) {
  return op == OpId::keys ? "keys" : "pairs";
}

// In place of a value's type where there are no values.
struct NoValue {};
template <typename Value>
inline constexpr bool kHasValues = !std::is_same_v<Value, NoValue>;

// --- How keys are ordered. A kernel sees a key as its bits: an unsigned number of the key's size. Unsigned keys are in order
// when their bits are. For the others some bits are flipped first:
//   signed      as numbers: -2 < -1 < 0 < 1
//   floating    as numbers, and where numbers say nothing, by the bits: -NaN < -infinity < … < -0 < +0 < … < +infinity < +NaN
// Descending order is the ascending one with every bit flipped once more; it is stable, too.
enum class KeyKind : std::uint32_t { unsigned_number, signed_number, floating };

// --- Sizes.

// Keys of a tile in the tasks tile_sort and merge: tile i holds the keys i * kTile … ; the last one may hold fewer.
inline constexpr unsigned kTile = 1024;

// n is below this, so that positions and counts fit 30 bits.
inline constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 30;

// Words that counts (of keys, by digit and tile) may take. 256 digits for every 256 keys, and some.
constexpr std::uint64_t counts_count(std::uint64_t n) {
  return n + 65536;
}

// Words that the given exclusive_scan needs for its sums, for arrays of up to counts_count(n) words.
constexpr std::uint64_t sums_count(std::uint64_t n) {
  return counts_count(n) / 512 + 64;
}

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write the inputs.

// n keys and, unless Value is NoValue, the n values that belong to them.
template <typename Bits, typename Value>
struct Items {
  Bits* d_keys = nullptr;
  Value* d_values = nullptr;  // null when Value is NoValue
};

template <typename Bits, typename Value>
struct Job {
  Items<const Bits, const Value> in;  // aligned to the size of a key or value and to no more
  Items<Bits, Value> out;             // the sorted items
  std::uint64_t n = 0;                // keys, below kMaxKeys, which 30-bit counts can hold; may be 0
  // Only bits [begin_bit, end_bit) of a key count, after the flips that its kind asks for; 0 is the least significant.
  // When the two are equal, all keys are: a copy. (Not asked for in task split.)
  unsigned begin_bit = 0;
  unsigned end_bit = 8 * sizeof(Bits);
  KeyKind kind = KeyKind::unsigned_number;  // other kinds: task any_key alone
  bool descending = false;                  // true: task any_key alone
  // Scratch, contents undefined. The same in every task; none needs all of it.
  std::uint32_t* d_e = nullptr;  // n words each: the rows of the one-bit split
  std::uint32_t* d_f = nullptr;
  std::uint32_t* d_t = nullptr;
  std::uint32_t* d_d = nullptr;
  Items<Bits, Value> spare;           // n items
  std::uint32_t* d_counts = nullptr;  // counts_count(n) words
  std::uint32_t* d_sums = nullptr;    // sums_count(n) words
  int multiprocessors = 1;            // of this device, to size a grid by
  CUstream_st* stream = nullptr;      // launch here; no need to synchronise, the harness does
};

// What the first three tasks get: 32-bit unsigned keys alone.
using KeyJob = Job<std::uint32_t, NoValue>;

// What an untouched task returns.
template <typename Bits, typename Value>
Status not_implemented(const Job<Bits, Value>&) {
  return Status::not_implemented;
}

// --- Tasks, in the order of the manifest, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  split,
  tile_sort,
  merge,
  digits,
  any_key,
  onesweep,
  // not asked of students:
  merge_path,
  tiles_and_merge,
  counts_first,
  state_of_the_art,
};

// Request::params.
enum Param : std::uint32_t { kBeginBit, kEndBit, kDescending };

// Which combinations are asked for: of `any_key` every key type, with and without values; of `digits` and `onesweep` 32-bit
// unsigned keys with and without values; of the others such keys alone.
constexpr bool offers(Rung rung, OpId op, lab::DType dtype) {
  using lab::DType;
  if (rung == Rung::any_key || rung == Rung::counts_first || rung == Rung::state_of_the_art)
    return dtype != DType::u8;
  if (dtype != DType::u32) return false;
  return op == OpId::keys || rung == Rung::digits || rung == Rung::onesweep;
}

constexpr KeyKind kind_of(lab::DType dtype) {
  using lab::DType;
  if (dtype == DType::f32 || dtype == DType::f64) return KeyKind::floating;
  return dtype == DType::i32 || dtype == DType::i64 ? KeyKind::signed_number : KeyKind::unsigned_number;
}

// --- The workspace: e, f, t, d without a gap, then the rest, each from a multiple of 256 bytes on.
struct Layout {
  std::uint64_t spare_keys, spare_values, counts, sums, bytes;  // offsets in bytes, and the size of it all
};
constexpr Layout layout_of(std::uint64_t n, std::uint64_t key_bytes) {
  constexpr auto up = [](std::uint64_t bytes) { return (bytes + 255) / 256 * 256; };
  Layout layout{};
  layout.spare_keys = up(16 * n);
  layout.spare_values = layout.spare_keys + up(key_bytes * n);
  layout.counts = layout.spare_values + up(4 * n);
  layout.sums = layout.counts + up(4 * counts_count(n));
  layout.bytes = layout.sums + up(4 * sums_count(n));
  return layout;
}

template <typename Bits, typename Value>
Job<Bits, Value> job_of(const lab::Request& request) {
  Job<Bits, Value> job;
  job.in.d_keys = static_cast<const Bits*>(request.inputs[0].data);
  job.out.d_keys = static_cast<Bits*>(request.outputs[0].data);
  if constexpr (kHasValues<Value>) {
    job.in.d_values = static_cast<const Value*>(request.inputs[1].data);
    job.out.d_values = static_cast<Value*>(request.outputs[1].data);
  }
  job.n = request.n;
  job.begin_bit = static_cast<unsigned>(request.params[kBeginBit]);
  job.end_bit = static_cast<unsigned>(request.params[kEndBit]);
  job.kind = kind_of(request.dtype);
  job.descending = request.params[kDescending] != 0;
  auto* const d_bytes = static_cast<unsigned char*>(request.d_workspace);
  const Layout layout = layout_of(request.n, sizeof(Bits));
  job.d_e = reinterpret_cast<std::uint32_t*>(d_bytes);
  job.d_f = job.d_e + request.n;
  job.d_t = job.d_f + request.n;
  job.d_d = job.d_t + request.n;
  job.spare.d_keys = reinterpret_cast<Bits*>(d_bytes + layout.spare_keys);
  if constexpr (kHasValues<Value>)
    job.spare.d_values = reinterpret_cast<Value*>(d_bytes + layout.spare_values);
  job.d_counts = reinterpret_cast<std::uint32_t*>(d_bytes + layout.counts);
  job.d_sums = reinterpret_cast<std::uint32_t*>(d_bytes + layout.sums);
  job.multiprocessors = request.multiprocessors;
  job.stream = request.stream;
  return job;
}

// Calls solve(job) with the Job of the request's key and value type.
template <typename Solve>
Status dispatch(const lab::Request& request, Solve solve) {
  const OpId op = static_cast<OpId>(request.op);
  if (!offers(static_cast<Rung>(request.task), op, request.dtype)) return Status::unsupported;
  if (lab::bytes_of(request.dtype) == 4) {
    if (op == OpId::keys) return solve(job_of<std::uint32_t, NoValue>(request));
    return solve(job_of<std::uint32_t, std::uint32_t>(request));
  }
  if (op == OpId::keys) return solve(job_of<std::uint64_t, NoValue>(request));
  return solve(job_of<std::uint64_t, std::uint32_t>(request));
}

Status run(const lab::Request& request);  // the last lines of radix_sort.cu

// --- What it is worth. The tasks' order is Rung's.
// Each goal tells the task's idea from what does without it (solutions/radix_sort/ladder_test.cpp pins the figures).
inline constexpr lab::EfficiencyGoal kSplitGoals[] = {{lab::Metric::bytes_ratio, 120, 3},
                                                      {lab::Metric::launches, 96, 3}};
inline constexpr lab::EfficiencyGoal kTileSortGoals[] = {{lab::Metric::bytes_ratio, 1.01, 4},
                                                         {lab::Metric::barriers, 4, 4}};
inline constexpr lab::EfficiencyGoal kMergeGoals[] = {{lab::Metric::bytes_ratio, 40, 4},
                                                      {lab::Metric::launches, 40, 3}};
inline constexpr lab::EfficiencyGoal kDigitsGoals[] = {{lab::Metric::bytes_ratio, 11, 5},
                                                       {lab::Metric::launches, 24, 3}};
inline constexpr lab::EfficiencyGoal kOnesweepGoals[] = {{lab::Metric::bytes_ratio, 7.5, 4},
                                                         {lab::Metric::launches, 8, 3}};
// Against one core that sorts by 8-bit digits, too, on a device of the H200's class.
inline constexpr lab::SpeedupTier kTileSortTiers[] = {{15, 1}, {30, 1}};
inline constexpr lab::SpeedupTier kMergeTiers[] = {{5, 1}, {10, 1}};
inline constexpr lab::SpeedupTier kDigitsTiers[] = {{10, 2}, {20, 3}};
inline constexpr lab::SpeedupTier kAnyKeyTiers[] = {{15, 2}, {30, 2}};
inline constexpr lab::SpeedupTier kOnesweepTiers[] = {{15, 2}, {30, 2}};

inline constexpr lab::Task kTasks[] = {
    {"split", "One-bit split", "handouts/04-radix-sort.md#split", 14, kSplitGoals, {}},
    {"tile_sort", "Tiles in shared memory", "handouts/04-radix-sort.md#tile_sort", 10, kTileSortGoals,
     kTileSortTiers},
    {"merge", "Parallel bitonic merge", "handouts/04-radix-sort.md#merge", 11, kMergeGoals, kMergeTiers},
    {"digits", "Digits of k bits", "handouts/04-radix-sort.md#digits", 12, kDigitsGoals, kDigitsTiers},
    {"any_key", "Any key, either direction", "handouts/04-radix-sort.md#any_key", 11, {}, kAnyKeyTiers},
    {"onesweep", "One sweep per digit", "handouts/04-radix-sort.md#onesweep", 9, kOnesweepGoals,
     kOnesweepTiers, lab::Baseline::one_thread, true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {"merge_path", "Merging by rank", "handouts/04-radix-sort.md#merge", 0, {}, {}},
    {"tiles_and_merge", "Tiles, then merges", "handouts/04-radix-sort.md#merge", 0, {}, {}},
    {"counts_first", "Counts first, longer runs", "handouts/04-radix-sort.md#state_of_the_art", 0, {}, {}},
    {"state_of_the_art",
     "As fast as the multiprocessors",
     "handouts/04-radix-sort.md#state_of_the_art",
     0,
     {},
     {}},
};
inline constexpr lab::Manifest kManifest{
    "radix_sort", "Radix sort",
    "A. Adinets, D. Merrill, 2022: Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", kTasks,
    kFurtherRungs};
static_assert(lab::adds_up(kManifest));

}  // namespace course::radix_sort
