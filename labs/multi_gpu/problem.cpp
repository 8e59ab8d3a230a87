// SPDX-License-Identifier: MIT
// The trusted side of the lab for several devices: its cases, their shards, and the right answers. Never
// linked into a runner.
// Reading order: Layout and lengths() say how an array is divided; the tables list what is tried and why;
// fill() makes the items of the whole array; check() compares the outputs of all ranks. Float sums may differ
// from the exact ones by the error bound of any reasonable order of additions (sum_depth); everything else
// must be exact.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "lab/poison.hpp"
#include "multi_gpu/baseline.hpp"
#include "multi_gpu/lab.hpp"
#include "multi_gpu/points.hpp"

namespace course::multi_gpu {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

using Map = AffineMap<std::uint32_t>;

// --- How the array is divided. Parameters of a case: 0 the kind of scan, 1 the devices, 2 the layout, 3 the
// bins of a histogram.

enum class Layout : std::int64_t {
  even,    // equal lengths, up to one item
  uneven,  // rank r has (2 r + 1) parts
  gaps,    // ranks 1, 3, 5 and 7 have nothing
  last,    // the last rank has everything
};
constexpr const char* name_of(Layout layout) {
  constexpr const char* kNames[] = {"even", "uneven", "gaps", "last"};
  return kNames[static_cast<std::size_t>(layout)];
}

Kind kind_of(const Case& c) {
  return static_cast<Kind>(c.params[0]);
}
std::size_t ranks_of(const Case& c) {
  return static_cast<std::size_t>(c.params[1]);
}

std::uint32_t bins_of(const Case& c) {
  return static_cast<std::uint32_t>(c.params[3]);
}
std::uint32_t padded_bins_of(const Case& c) {
  return padded_bins(bins_of(c), static_cast<std::uint32_t>(ranks_of(c)));
}
bool is_scan(const Task& task) {
  return task.id.starts_with("scan");
}
bool is_sort(const Task& task) {
  return task.id.starts_with("sort");
}
bool is_histogram(const Task& task) {
  return task.id.starts_with("histogram");
}

std::vector<std::uint64_t> lengths(const Case& c) {
  const std::uint64_t n_ranks = ranks_of(c);
  std::vector<std::uint64_t> weights(n_ranks);
  for (std::uint64_t r = 0; r < n_ranks; ++r) {
    switch (static_cast<Layout>(c.params[2])) {
      case Layout::even: weights[r] = 1; break;
      case Layout::uneven: weights[r] = 2 * r + 1; break;
      case Layout::gaps: weights[r] = r % 2 == 0 ? 1 : 0; break;
      case Layout::last: weights[r] = r + 1 == n_ranks ? 1 : 0; break;
    }
  }
  const std::uint64_t all = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::vector<std::uint64_t> out;
  for (std::uint64_t r = 0, before = 0; r < n_ranks; ++r) {
    const std::uint64_t through = before + weights[r];
    out.push_back(c.n * through / all - c.n * before / all);
    before = through;
  }
  return out;
}

// Calls f(op) with the operator of the case.
using Items =
    lab::Offers<lab::Offer<OpId::max, Max, std::int32_t>, lab::Offer<OpId::affine, Affine, std::uint32_t>,
                lab::Offer<OpId::sum, Sum, std::uint32_t>, lab::Offer<OpId::sum, Sum, float>,
                lab::Offer<OpId::sum, Sum, std::int32_t>>;

template <typename F>
decltype(auto) with_op(const Case& c, F f) {
  return Items::with(static_cast<OpId>(c.op), c.dtype, [&](auto, auto op) { return f(op); });
}

template <typename Op>
typename Op::Value item_for(Op, const Case& c, std::uint64_t i, Rng& rng) {
  using Value = typename Op::Value;
  if constexpr (std::is_same_v<Value, Map>) {
    // Odd scales have inverses modulo 2^32, so the result of a map always depends on the maps before it.
    const auto scale = item_of<std::uint32_t>(c.pattern, i, c.n, rng);
    const auto shift = item_of<std::uint32_t>(c.pattern, i + 1, c.n, rng);
    return {c.pattern == Pattern::example ? scale : scale | 1, shift};
  } else {
    const Value item = item_of<Value>(c.pattern, i, c.n, rng);
    // No item is positive, so a 0 used as the identity changes the result.
    if constexpr (std::is_same_v<Op, Max<Value>>)
      return static_cast<Value>(item | std::numeric_limits<Value>::min());
    return item;
  }
}

// --- The right answers.

// The exact results of float sums, rank by rank, and their allowed errors. All other results are those of the
// baseline.
std::vector<std::vector<Expected>> expected_sums(const Task& task, const Case& c,
                                                 std::span<const HostBuffer> inputs) {
  std::vector<std::vector<Expected>> expected(inputs.size());
  ExactSum sum;
  const auto so_far = [&] { return sum.expected(DType::f32); };
  for (std::size_t r = 0; r < inputs.size(); ++r) {
    for (const float item : inputs[r].as<float>()) {
      if (is_scan(task) && kind_of(c) == Kind::exclusive) expected[r].push_back(so_far());
      sum.add(static_cast<long double>(item));
      if (is_scan(task) && kind_of(c) == Kind::inclusive) expected[r].push_back(so_far());
    }
  }
  if (!is_scan(task)) std::ranges::fill(expected, std::vector{so_far()});
  return expected;
}

// --- Likely causes of a wrong result: one rule for each mistake, of the first rank with a wrong output.

// As diagnose(), but a mistake that these rules find counts instead of one that the general rules have
// found: if a result did not reach a rank, its output was never written, but the reason is elsewhere.
template <typename Facts>
void diagnose_ranks(Mismatch& mismatch, std::span<const Rule<Facts>> rules, const Facts& facts) {
  std::vector<Cause> causes = causes_of(rules, facts);
  if (std::ranges::any_of(causes, [](const Cause& cause) { return !cause.is_sign; })) mismatch.causes.clear();
  if (!is_explained(mismatch)) add_causes(mismatch, std::move(causes));
}

template <typename Op>
struct Facts {
  using Value = typename Op::Value;
  const Task& task;
  const Case& c;
  std::span<const HostBuffer> inputs, outputs;
  std::span<const std::size_t> right_ranks;
  std::span<const Value> got;  // of this rank
  Op op;
  std::size_t rank;
  std::uint64_t first;  // index of its first wrong element

  bool scans() const { return is_scan(task); }
  // Whether a combination of some items shows which items they were.
  bool is_telling() const {
    return !std::is_floating_point_v<Value> && c.pattern == Pattern::random && c.n > 0;
  }
  Value total(std::size_t r) const { return reduce_one_thread(inputs[r].as<Value>(), op, op.identity()); }
  // Whether the rank's output begins as a scan does that starts with `prefix`.
  bool begins_with(Value prefix) const {
    const auto items = inputs[rank].as<Value>();
    if (!is_telling() || first > 1) return false;
    for (std::size_t i = 0; i < std::min<std::size_t>(items.size(), 8); ++i) {
      const Value through = op(prefix, items[i]);
      if (!(got[i] == (kind_of(c) == Kind::inclusive ? through : prefix))) return false;
      prefix = through;
    }
    return true;
  }
  std::string if_begins_with(Value prefix, const char* text) const {
    return scans() && begins_with(prefix) ? fmt::format(fmt::runtime(text), rank) : "";
  }
  // Of the ranks [begin, end), in their order.
  Value totals(std::size_t begin, std::size_t end) const {
    Value sum = op.identity();
    for (std::size_t r = begin; r < end; ++r) sum = op(sum, total(r));
    return sum;
  }
};

std::string own_shard_alone(const auto& f) {
  if (f.scans())
    return f.if_begins_with(f.op.identity(),
                            "rank {}'s scan starts again: it lacks the totals of the ranks before it");
  return text_if(f.is_telling() && f.inputs.size() > 1 && f.got[0] == f.total(f.rank),
                 "rank {} has the result of its own shard: the ranks' results were not combined", f.rank);
}

template <typename Op>
std::string ranks_in_another_order(const Facts<Op>& f) {
  if (!f.scans() || f.rank < 2) return "";
  typename Op::Value sum = f.op.identity();
  for (std::size_t r = f.rank; r-- > 0;) sum = f.op(sum, f.total(r));
  return text_if(f.begins_with(sum), "rank {}'s prefix combines the ranks before it in the reverse order",
                 f.rank);
}

// One rank has the result of a reduction, and this one has something else.
std::string result_on_one_rank(const auto& f) {
  if (f.scans() || f.right_ranks.size() != 1) return "";
  return fmt::format(
      "only rank {0} has the result: all ranks need it, from ncclAllReduce or ncclBroadcast with root {0}",
      f.right_ranks[0]);
}

// All ranks have the same value, which is that of one shard.
template <typename Op>
std::string total_of_one_rank(const Facts<Op>& f) {
  if (f.scans() || !f.is_telling() || f.inputs.size() < 2) return "";
  for (const HostBuffer& out : f.outputs)
    if (!(out.as<typename Op::Value>()[0] == f.got[0])) return "";
  for (std::size_t r = 0; r < f.inputs.size(); ++r)
    if (f.got[0] == f.total(r))
      return fmt::format(
          "all ranks have the total of rank {} alone: the root of a broadcast must be the "
          "rank that has the result",
          r);
  return "";
}

template <typename Op>
std::string zero_for_identity(const Facts<Op>& f) {
  using Value = typename Op::Value;
  return text_if(f.got[f.first] == Value{} && !(f.op.identity() == Value{}),
                 "0 is not the identity of {}: a rank without items takes part with op.identity()",
                 name_of(static_cast<OpId>(f.c.op)));
}

template <typename Op>
constexpr Rule<Facts<Op>> kRules[] = {
    {"own_shard_alone", own_shard_alone<Facts<Op>>},
    {"own_total_in_prefix",
     [](const Facts<Op>& f) {
       return f.if_begins_with(
           f.totals(0, f.rank + 1),
           "rank {0}'s prefix contains the total of rank {0} itself: it must end before it");
     }},
    {"later_ranks",
     [](const Facts<Op>& f) {
       return f.if_begins_with(
           f.totals(f.rank + 1, f.inputs.size()),
           "rank {}'s prefix contains the totals of the ranks after it, not of those before");
     }},
    {"ranks_in_another_order", ranks_in_another_order<Op>},
    {"result_on_one_rank", result_on_one_rank<Facts<Op>>},
    {"total_of_one_rank", total_of_one_rank<Op>},
    {"zero_for_identity", zero_for_identity<Op>, true},
};

// --- The same for histograms.

struct HistogramFacts {
  const Case& c;
  std::span<const HostBuffer> inputs;
  std::span<const Count> right, got;  // of this rank
  std::size_t rank;
};

std::vector<Count> counts_of(const Case& c, std::span<const HostBuffer> inputs) {
  std::vector<Count> counts(padded_bins_of(c));
  for (const HostBuffer& input : inputs) count_one_thread(input.as<std::uint32_t>(), bins_of(c), counts);
  return counts;
}

std::string own_samples_alone(const HistogramFacts& f) {
  const auto own = counts_of(f.c, f.inputs.subspan(f.rank, 1));
  return text_if(std::equal(own.begin(), own.end(), f.got.begin()),
                 "rank {} has the counts of its own shard: the ranks' counts were not added up", f.rank);
}

std::string own_slice_alone(const HistogramFacts& f) {
  const std::size_t slice = f.right.size() / f.inputs.size(), first = f.rank * slice;
  if (f.inputs.size() < 2) return "";
  std::size_t n_wrong = 0;
  for (std::size_t b = 0; b < f.right.size(); ++b) {
    if (f.got[b] == f.right[b]) continue;
    if (b >= first && b < first + slice) return "";
    ++n_wrong;
  }
  return text_if(n_wrong > 0,
                 "rank {} has the right counts in its own slice of the bins, not in those of the others",
                 f.rank);
}

constexpr Rule<HistogramFacts> kHistogramRules[] = {
    {"own_samples_alone", own_samples_alone},
    {"own_slice_alone", own_slice_alone},
};

// --- The same for sorting.

struct SortFacts {
  std::span<const HostBuffer> inputs, outputs;
  std::span<const Key> sorted;      // of all ranks
  std::span<const Key> right, got;  // of this rank
  std::size_t rank;
  std::size_t first;  // index of its first key in `sorted`
};

std::vector<Key> all_keys(std::span<const HostBuffer> buffers) {
  std::vector<Key> keys;
  for (const HostBuffer& buffer : buffers) {
    const auto items = buffer.as<Key>();
    keys.insert(keys.end(), items.begin(), items.end());
  }
  return keys;
}
std::vector<Key> sorted_keys(std::span<const HostBuffer> buffers) {
  std::vector<Key> keys = all_keys(buffers);
  std::ranges::sort(keys);
  return keys;
}

std::string own_keys_alone(const SortFacts& f) {
  const auto own = sorted_keys(f.inputs.subspan(f.rank, 1));
  return text_if(std::equal(own.begin(), own.end(), f.got.begin()),
                 "rank {} has its own keys, sorted: the ranks exchanged nothing", f.rank);
}

std::string not_merged(const SortFacts& f) {
  const auto keys = sorted_keys(f.outputs.subspan(f.rank, 1));
  return text_if(std::equal(keys.begin(), keys.end(), f.right.begin()),
                 "rank {} has the right keys, but not in ascending order", f.rank);
}

std::string other_keys(const SortFacts& f) {
  return text_if(sorted_keys(f.inputs) != sorted_keys(f.outputs),
                 "all ranks together have other keys than those of "
                 "the input: some are lost, others occur too often");
}

// The rank lacks its first keys: those that equal the splitter are before the boundary.
std::string equal_keys_before_boundary(const SortFacts& f) {
  if (f.right.empty() || f.rank == 0) return "";
  const auto after = [&](std::size_t boundary) {  // the first key that is larger than the splitter
    return boundary < f.sorted.size()
               ? static_cast<std::size_t>(
                     std::upper_bound(f.sorted.begin(), f.sorted.end(), f.sorted[boundary]) -
                     f.sorted.begin())
               : f.sorted.size();
  };
  const std::size_t first = after(f.first), end = after(f.first + f.right.size());
  // Behind its other keys, nothing was stored.
  std::vector<Key> keys(f.right.size());
  std::memset(keys.data(), std::to_integer<int>(kPoison), keys.size() * sizeof(Key));
  for (std::size_t i = 0; i < std::min(end - first, keys.size()); ++i) keys[i] = f.sorted[first + i];
  return text_if(first > f.first && std::equal(keys.begin(), keys.end(), f.got.begin()),
                 "all keys equal to the splitter have gone to the ranks before rank {}, which have "
                 "no space for them: only as many as fit go there, the others to rank {}",
                 f.rank, f.rank);
}

constexpr Rule<SortFacts> kSortRules[] = {
    {"own_keys_alone", own_keys_alone},
    {"not_merged", not_merged},
    {"equal_keys_before_boundary", equal_keys_before_boundary},
    {"other_keys", other_keys, true},
};

// --- The cases.

// What a case computes; a sort of u32 has nothing else to choose.
struct What {
  DType dtype = DType::u32;
  Kind kind = Kind::inclusive;
  OpId op = OpId::sum;
  std::uint32_t n_bins = 0;
};

Case make(const Task& task, const What& what, int n_devices, Layout layout, std::uint64_t n, Pattern pattern,
          std::uint32_t purpose) {
  const bool reduces = !is_histogram(task) && !is_sort(task);
  std::string variant(is_histogram(task) ? fmt::format("b{}", what.n_bins) : lab::name_of(what.dtype));
  if (reduces) variant = fmt::format("{}_{}", name_of(what.op), variant);
  if (is_scan(task)) variant = fmt::format("{}_{}", name_of(what.kind), variant);
  Case c = make_case({fmt::format("{}_d{}_{}", variant, n_devices, name_of(layout))}, what.op, what.dtype, n,
                     pattern, purpose);
  c.params = {reduces ? static_cast<std::int64_t>(what.kind) : 0, n_devices,
              static_cast<std::int64_t>(layout), what.n_bins};
  return c;
}

namespace table {
using enum DType;
using enum Layout;
using enum Pattern;

// A case for each number of devices and each length.
struct Row {
  What what;
  ShortList<int> devices;
  Layout layout;
  ShortList<std::uint64_t> lengths;
  Pattern pattern = random;
  std::uint32_t purpose = kCorrectness;
  std::uint32_t multiprocessors = 0;
};

constexpr ShortList<int> kEach{1, 2, 3, 4, 8};
constexpr What kInSum{i32}, kExSum{i32, Kind::exclusive}, kInFloats{f32}, kExFloats{f32, Kind::exclusive};
constexpr What kMax{i32, Kind::inclusive, OpId::max};
constexpr What kInMaps{u64, Kind::inclusive, OpId::affine}, kExMaps{u64, Kind::exclusive, OpId::affine};

// Of reductions and scans.
constexpr Row kSums[] = {
    // One device, and the numbers of devices that occur; lengths from nothing to many tiles on each. The odd
    // ones are in no relation to tiles, blocks and warps.
    {kInSum, kEach, even, 0},
    {kExSum, kEach, even, 5},
    {kInSum, kEach, uneven, 10007},
    {kExFloats, kEach, uneven, 65537},
    {kInSum, 1, even, 4096},
    {kInSum, 2, even, 2 * 4096},
    {kInSum, 3, even, 3 * 4096},
    {kInSum, 4, even, 4 * 4096},
    {kInSum, 8, even, 8 * 4096},
    // Ranks without items, with all checkers on. Their totals are the identity, and they have to take part.
    {kExSum, {2, 4, 8}, gaps, 3001, random, kBoth},
    {kInSum, {2, 4, 8}, last, 2049, random, kBoth},
    {kInSum, 3, uneven, 5000, skewed, kBoth},
    // One item on fewer ranks than there are.
    {kExSum, 8, even, 1},
    {kInSum, 4, even, 3},
    {kInSum, 2, uneven, kThreeTurns, random, kBoth, 1},
    {kInSum, 2, uneven, 2 * kThreeTurns, random, kCorrectness, 2},
    // Sums of integer-valued floats must be exact.
    {kExFloats, 4, uneven, 65537, alternating},
    {kInFloats, 8, even, 262144, all_equal},
    // More tiles on a device than parts.
    {kInSum, 2, last, (kMaxParts + 1) * 1024 + 5},
    // The measured case. It is a correctness case, too, with another seed.
    {kInSum, 4, even, 262144, random, kCounted},
};
// The order of operands and of ranks: maps are not commutative.
constexpr Row kScans[] = {
    {kInMaps, {2, 3, 4, 8}, uneven, 20001, random, kBoth},
    {kExMaps, {2, 3, 4, 8}, gaps, 7001},
    {kExMaps, 4, even, 9},
};
// The identity: no item is positive.
constexpr Row kReductions[] = {
    {kMax, {2, 3, 4, 8}, gaps, 7001},
    {kMax, {2, 3, 4, 8}, uneven, 20001, random, kBoth},
    {kMax, 4, even, 0},
    {kMax, 8, last, 1},
};

// Samples of all values, then in few bins; numbers of bins that the ranks can and cannot divide.
constexpr What bins(std::uint32_t n) {
  return {.n_bins = n};
}
constexpr Row kHistograms[] = {
    {bins(256), kEach, even, 0},
    {bins(1), kEach, even, 5},
    {bins(7), kEach, uneven, 10007},
    {bins(1000), kEach, uneven, 65537},
    {bins(256), kEach, gaps, 3001, high_bits},
    {bins(31), {2, 3, 8}, gaps, 3001, random, kBoth},
    {bins(256), {2, 3, 8}, last, 2049, skewed, kBoth},
    {bins(256), 2, uneven, kThreeTurns, random, kBoth, 1},
    {bins(256), 2, uneven, 2 * kThreeTurns, random, kCorrectness, 2},
    {bins(5), 8, even, 1},
    {bins(4096), 4, even, 20000, all_equal},
    {bins(65536), 3, uneven, 70001, ascending},
    {bins(65535), 8, uneven, 70001, extremes},
    {bins(65536), 4, even, 262144, random, kCounted},
};

// Boundaries between different keys, among equal ones, and beside empty shards. In the order of the input,
// keys are already where they belong, or all have to move.
constexpr Row kSorts[] = {
    {{}, kEach, even, {0, 5}},
    {{}, kEach, uneven, 5003},
    {{}, kEach, gaps, 3001, skewed},
    {{}, kEach, uneven, 2049, all_equal},
    {{}, kEach, last, 1025, descending},
    {{}, {2, 3, 8}, gaps, 1001, random, kBoth},
    {{}, {2, 3, 8}, uneven, 1500, extremes, kBoth},
    {{}, 8, even, 1},
    {{}, 3, even, 4096, ascending},
    {{}, 4, uneven, 4099, descending},
    {{}, 4, even, 20000, high_bits},
    {{}, 8, uneven, 30011, alternating},
    {{}, 4, even, 131072, random, kCounted},
};

void add(std::vector<Case>& all, const Task& task, std::span<const Row> rows) {
  for (const Row& row : rows)
    for (const int n_devices : row.devices)
      for (const std::uint64_t n : row.lengths)
        all.push_back(on_multiprocessors(
            row.multiprocessors, make(task, row.what, n_devices, row.layout, n, row.pattern, row.purpose)));
}
}  // namespace table

class MultiGpuProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }
  std::vector<Case> cases(const Task& task) const override {
    std::vector<Case> all;
    if (is_sort(task)) {
      table::add(all, task, table::kSorts);
    } else if (is_histogram(task)) {
      table::add(all, task, table::kHistograms);
    } else {
      table::add(all, task, table::kSums);
      table::add(all, task, is_scan(task) ? std::span<const table::Row>(table::kScans) : table::kReductions);
    }
    return all;
  }

  Shape shape(const Task& task, const Case& c) const override {
    Shape shape;
    shape.n_devices = static_cast<std::uint32_t>(ranks_of(c));
    const auto n = lengths(c);
    const bool scans = is_scan(task) || is_sort(task);
    for (std::size_t r = 0; r < n.size(); ++r) {
      shape.inputs.push_back({fmt::format("d_in of rank {}", r), c.dtype, n[r]});
      if (is_histogram(task)) {
        shape.outputs.push_back({fmt::format("d_counts of rank {}", r), DType::u64, padded_bins_of(c)});
        continue;
      }
      shape.outputs.push_back({fmt::format("d_out of rank {}", r), c.dtype, scans ? n[r] : 1});
    }
    if (is_sort(task))
      shape.workspace = sort_workspace(*std::ranges::max_element(n));
    else
      shape.workspace =
          is_histogram(task) ? histogram_workspace(padded_bins_of(c)) : shard_workspace(c.dtype);
    return shape;
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_op(c, [&]<typename Op>(Op op) {
      Rng rng(seed);
      std::uint64_t i = 0;
      for (HostBuffer& input : inputs)
        for (auto& item : input.as<typename Op::Value>()) item = item_for(op, c, i++, rng);
    });
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    std::vector<HostBuffer> right(outputs.begin(), outputs.end());
    baseline(task, c, inputs, right);
    std::vector<std::vector<Expected>> sums;
    if (c.dtype == DType::f32) sums = expected_sums(task, c, inputs);
    const auto compared = [&](std::size_t r) {
      const HostBuffer& out = outputs[r];
      if (!sums.empty()) return compare_floats(out.spec, sums[r], out.bytes);
      const bool is_map = static_cast<OpId>(c.op) == OpId::affine;
      return (is_map ? compare_maps : compare_integers)(out.spec, right[r].bytes, out.bytes);
    };
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      auto mismatch = compared(r);
      if (!mismatch) continue;
      std::vector<std::size_t> right_ranks;
      for (std::size_t q = 0; q < outputs.size(); ++q)
        if (!compared(q)) right_ranks.push_back(q);
      explain(*mismatch, task, c, inputs, outputs, right, right_ranks, r);
      return mismatch;
    }
    return std::nullopt;
  }

  void baseline(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    if (is_histogram(task)) {
      std::vector<Count> counts(padded_bins_of(c));
      for (const HostBuffer& input : inputs) count_one_thread(input.as<std::uint32_t>(), bins_of(c), counts);
      for (HostBuffer& out : outputs) std::memcpy(out.bytes.data(), counts.data(), out.bytes.size());
      return;
    }
    if (is_sort(task)) {
      std::vector<Key> keys = all_keys(inputs);
      std::ranges::sort(keys);
      const Key* next = keys.data();
      for (HostBuffer& out : outputs) {
        if (!out.bytes.empty()) std::memcpy(out.bytes.data(), next, out.bytes.size());
        next += out.spec.count;
      }
      return;
    }
    with_op(c, [&]<typename Op>(Op op) {
      // A long float sum is computed in double, as a CPU program would do it.
      if constexpr (std::is_same_v<Op, Sum<float>>) {
        compute<float>(task, c, inputs, outputs, Sum<double>{});
      } else {
        compute<typename Op::Value>(task, c, inputs, outputs, op);
      }
    });
  }

  // n - 1 operations, a tree of ⌈log2 n⌉ steps; every item is read once, every result is written once. Each
  // rank sends one value to every other one.
  Ideal ideal(const Task& task, const Case& c) const override {
    const auto n = static_cast<double>(c.n), item = static_cast<double>(bytes_of(c.dtype));
    const auto ranks = static_cast<double>(ranks_of(c));
    if (is_histogram(task)) {
      // One increment of a sample; the counts are added up in log2 n_ranks steps.
      const double bytes = padded_bins_of(c) * static_cast<double>(sizeof(Count));
      return {.items = n,
              .work = n,
              .steps = 1 + std::ceil(std::log2(ranks)),
              .bytes = n * item + ranks * bytes,
              .bytes_sent = 2 * (ranks - 1) / ranks * bytes};
    }
    if (is_sort(task)) {
      // Comparisons; a merge of two runs of n / 2 keys in log2 n steps, for each length. Of random keys in
      // equal shards, a rank keeps 1 / n_ranks.
      const double levels = n > 1 ? std::ceil(std::log2(n)) : 0;
      return {.items = n,
              .work = n * levels,
              .steps = levels * (levels + 1) / 2,
              .bytes = 2 * n * item,
              .bytes_sent = (ranks - 1) / ranks * n / ranks * item};
    }
    const double passes = is_scan(task) ? 2 : 1;
    return {.items = n,
            .work = std::max(n - 1, 0.0),
            .steps = n > 1 ? std::ceil(std::log2(n)) : 0,
            .bytes = passes * n * item,
            .bytes_sent = (ranks - 1) * item};
  }

  Case on_devices(const Task& task, const Case& c, std::uint32_t n_devices) const override {
    const What what{c.dtype, kind_of(c), static_cast<OpId>(c.op), bins_of(c)};
    return make(task, what, static_cast<int>(n_devices), Layout::even, c.n, c.pattern, c.purpose);
  }

  Case example(const Task& task, std::uint64_t n) const override {
    const What what = is_histogram(task) ? table::bins(8) : is_sort(task) ? What{} : table::kExSum;
    return make(task, what, 2, Layout::even, n, Pattern::example, 0);
  }

 private:
  // Adds the likely causes of what is wrong on rank r.
  static void explain(Mismatch& mismatch, const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                      std::span<const HostBuffer> outputs, std::span<const HostBuffer> right,
                      std::span<const std::size_t> right_ranks, std::size_t r) {
    if (is_histogram(task)) {
      diagnose_ranks<HistogramFacts>(mismatch, kHistogramRules,
                                     {c, inputs, right[r].as<Count>(), outputs[r].as<Count>(), r});
      return;
    }
    if (is_sort(task)) {
      const std::vector<Key> sorted = all_keys(right), before = all_keys(right.first(r));
      diagnose_ranks<SortFacts>(
          mismatch, kSortRules,
          {inputs, outputs, sorted, right[r].as<Key>(), outputs[r].as<Key>(), r, before.size()});
      return;
    }
    with_op(c, [&]<typename Op>(Op op) {
      const auto got = outputs[r].as<typename Op::Value>();
      diagnose_ranks<Facts<Op>>(mismatch, kRules<Op>,
                                {task, c, inputs, outputs, right_ranks, got, op, r, mismatch.index});
    });
  }

  template <typename T, typename Op>
  static void compute(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                      std::span<HostBuffer> outputs, Op op) {
    const bool scans = is_scan(task);
    auto carry = op.identity();
    for (std::size_t r = 0; r < inputs.size(); ++r) {
      const auto items = inputs[r].as<T>();
      carry = scans ? scan_one_thread(items, outputs[r].as<T>(), kind_of(c), op, carry)
                    : reduce_one_thread(items, op, carry);
    }
    for (HostBuffer& out : outputs)
      if (!scans) out.as<T>()[0] = static_cast<T>(carry);
  }
};

}  // namespace

const Problem& problem() {
  static const MultiGpuProblem kProblem;
  return kProblem;
}

}  // namespace course::multi_gpu
