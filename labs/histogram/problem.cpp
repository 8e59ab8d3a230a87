// SPDX-License-Identifier: MIT
// The trusted side of the histogram lab: its cases, their samples, and the right answers. Never linked into a
// runner.
// Reading order: the tables list what is tried and why, fill() makes the samples, check() decides what is
// accepted (counts are exact), kRules (causes.hpp) finds the likely cause of wrong counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/rng.hpp"
#include "histogram/baseline.hpp"
#include "histogram/causes.hpp"
#include "histogram/lab.hpp"
#include "histogram/points.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"

namespace course::histogram {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

// The parameters of Case::params that the students' side does not read: 1 if a sixteenth of the random
// samples are outside the bins.
constexpr std::size_t kOutsideParam = 3;

std::uint32_t bins_of(const Case& c) {
  return static_cast<std::uint32_t>(c.params[kBinsParam]);
}

DType edge_type(DType dtype) {
  return dtype == DType::u8 ? DType::i32 : dtype;
}

template <typename F>
decltype(auto) with_type(DType dtype, F f) {
  return lab::with_type<float, std::uint8_t, std::int32_t>(dtype, f);
}

// Calls f(bins) with the case's bins; explicit edges are its second input.
template <typename T, typename F>
decltype(auto) with_bins(const Case& c, std::span<const HostBuffer> inputs, F f) {
  if (static_cast<OpId>(c.op) == OpId::edges) {
    return f(HostEdgeBins<T>{bins_of(c), inputs[1].as<Edge<T>>()});
  }
  return f(even_bins<T>(c.params));
}

// --- The inputs.

// The first and the last bound of the case's bins.
template <typename T>
std::pair<Bound<T>, Bound<T>> bounds_of(const Case& c) {
  return {bound_of<T>(c.params[kLoParam]), bound_of<T>(c.params[kHiParam])};
}

// The value at `part` of the way from lo to hi, without hi itself; limited to the range of a sample.
template <typename T>
T sample_at(double part, Bound<T> lo, Bound<T> hi) {
  if constexpr (std::is_integral_v<T>) {
    const double x = std::floor(static_cast<double>(lo) + part * static_cast<double>(hi - lo));
    const double most = part < 1 ? static_cast<double>(hi - 1) : x;
    return static_cast<T>(std::clamp(std::min(x, most), static_cast<double>(std::numeric_limits<T>::min()),
                                     static_cast<double>(std::numeric_limits<T>::max())));
  } else {
    const T x =
        static_cast<T>(static_cast<double>(lo) + part * (static_cast<double>(hi) - static_cast<double>(lo)));
    return part < 1 && x >= hi ? std::nextafter(hi, lo) : x;
  }
}

// Strictly ascending edges from lo to hi, at uneven distances. Integers need n_bins ≤ hi − lo. If an end is
// infinite, the inner edges are those up to 8 or from -8 on. `grow`: the distances grow, from the first to
// the last about a thousand times.
template <typename T>
void fill_edges(Bound<T> lo, Bound<T> hi, bool grow, std::span<Edge<T>> edges, Rng& rng) {
  const std::size_t n_bins = edges.size() - 1;
  const auto finite = [](double x) { return std::isinf(x) ? std::copysign(8, x) : x; };
  const double from = finite(static_cast<double>(lo)), range = finite(static_cast<double>(hi)) - from;
  for (std::size_t b = 0; b <= n_bins; ++b) {
    // Each inner edge moves by up to a quarter of an even width; the ends are exact.
    const double jitter = b == 0 || b == n_bins ? 0 : (rng.unit() - 0.5) / 2;
    const double share = (static_cast<double>(b) + jitter) / static_cast<double>(n_bins);
    const double x = from + range * (grow ? (std::exp2(10 * share) - 1) / 1023 : share);
    edges[b] = static_cast<Edge<T>>(std::is_integral_v<T> ? std::floor(x) : x);
  }
  for (std::size_t b = 1; b < n_bins; ++b) {  // integer edges may be equal
    if (edges[b] <= edges[b - 1]) edges[b] = static_cast<Edge<T>>(edges[b - 1] + 1);
  }
  for (std::size_t b = n_bins - 1; b > 0; --b)
    if (edges[b] >= edges[b + 1]) edges[b] = static_cast<Edge<T>>(edges[b + 1] - 1);
  edges.front() = static_cast<Edge<T>>(lo);
  edges.back() = static_cast<Edge<T>>(hi);
  const auto zero = std::ranges::lower_bound(edges, Edge<T>{0});  // an inner edge is 0, if there is room
  if (zero != edges.begin() && zero + 1 < edges.end()) *zero = 0;
}

// Values for which bin_of is often wrong: every edge and its neighbours, and the ends of the type.
template <typename T, typename Bins>
T extreme_sample(const Case& c, const Bins& bins, Rng& rng) {
  const auto edge = [&](std::uint64_t b) -> double {
    if constexpr (std::is_same_v<Bins, HostEdgeBins<T>>) {
      return static_cast<double>(bins.edges[b]);
    } else {
      const auto [from, to] = bounds_of<T>(c);
      const double range = static_cast<double>(to) - static_cast<double>(from);
      return static_cast<double>(from) + range * static_cast<double>(b) / static_cast<double>(bins.n_bins);
    }
  };
  const std::uint64_t b = rng.below(4) == 0 ? (rng() % 2) * bins.n_bins : rng.below(bins.n_bins + 1);
  const double at = edge(b);
  if constexpr (std::is_integral_v<T>) {
    constexpr double kMin = std::numeric_limits<T>::min(), kMax = std::numeric_limits<T>::max();
    if (rng.below(16) == 0)
      return rng() % 2 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return static_cast<T>(std::clamp(std::floor(at) + static_cast<double>(rng.below(3)) - 1, kMin, kMax));
  } else {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if (rng.below(8) == 0) {
      const T odd[] = {std::numeric_limits<T>::quiet_NaN(),
                       kInfinity,
                       -kInfinity,
                       std::numeric_limits<T>::max(),
                       -T{0},
                       std::numeric_limits<T>::lowest(),
                       std::numeric_limits<T>::denorm_min(),
                       static_cast<T>(bounds_of<T>(c).second)};
      return odd[rng.below(std::size(odd))];
    }
    const T x = static_cast<T>(at);
    switch (rng.below(3)) {
      case 0: return std::nextafter(x, -kInfinity);
      case 1: return std::nextafter(x, kInfinity);
      default: return x;
    }
  }
}

template <typename T, typename Bins>
void fill_samples(const Case& c, const Bins& bins, std::span<T> samples, Rng& rng) {
  const auto [lo, hi] = bounds_of<T>(c);
  const auto at = [from = lo, to = hi](double part) { return sample_at<T>(part, from, to); };
  const auto n = static_cast<double>(samples.size());
  const bool outside = c.params[kOutsideParam] != 0;
  const T common = at(0.3);
  std::uint64_t i = 0;
  for (T& sample : samples) {
    const auto index = static_cast<double>(i);
    switch (c.pattern) {
      case Pattern::all_equal: sample = common; break;
      case Pattern::ascending: sample = at(index / n); break;
      case Pattern::descending: sample = at((n - 1 - index) / n); break;
      case Pattern::skewed:
        sample = rng.below(10) != 0 ? common : at(rng.unit());
        break;  // 90 % have the same value
      case Pattern::alternating:
        sample = i % 2 == 0 ? at(0) : at(1 - 0x1p-20);
        break;                                                           // the first bin, the last bin
      case Pattern::high_bits: sample = at(1 - rng.unit() / 64); break;  // the last bins
      case Pattern::extremes: sample = extreme_sample<T>(c, bins, rng); break;
      case Pattern::example: sample = lab::example_item<T>(i); break;
      case Pattern::random:
        sample = at(rng.unit());
        if (outside && rng.below(16) == 0) sample = at(rng() % 2 == 0 ? -rng.unit() : 1 + rng.unit());
        break;
    }
    ++i;
  }
}

// --- The cases.

// Bins from lo to hi; both 0: the usual bounds of the type. `outside`: some samples are beyond them.
struct Bins {
  OpId op;
  std::uint32_t n;
  double lo = 0, hi = 0;
  bool outside = false;
};

Case make(Bins bins, DType dtype, std::uint64_t n, Pattern pattern, std::uint32_t purpose,
          std::uint32_t misalign) {
  if (bins.lo == 0 && bins.hi == 0) {
    switch (dtype) {
      case DType::u8: bins.hi = 256; break;
      case DType::f32: bins.lo = -1.5, bins.hi = 2.5; break;
      default: bins.lo = -1000003, bins.hi = 3000017; break;
    }
  }
  const auto variant = fmt::format("{}_{}_b{}", name_of(bins.op), lab::name_of(dtype), bins.n);
  Case c = make_case({.variant = variant, .more = bins.outside ? "_outside" : ""}, bins.op, dtype, n, pattern,
                     purpose, misalign);
  c.params[kBinsParam] = bins.n;
  c.params[kOutsideParam] = bins.outside ? 1 : 0;
  with_type(dtype, [&]<typename T>(T) {
    c.params[kLoParam] = param_of<T>(static_cast<Bound<T>>(bins.lo));
    c.params[kHiParam] = param_of<T>(static_cast<Bound<T>>(bins.hi));
  });
  return c;
}

namespace table {
using enum DType;
using enum Pattern;
using Row = CaseRow<Bins>;
constexpr Bins even(std::uint32_t n, double lo = 0, double hi = 0) {
  return {OpId::even, n, lo, hi};
}
constexpr Bins edges(std::uint32_t n, double lo = 0, double hi = 0) {
  return {OpId::edges, n, lo, hi};
}
// Some samples are outside of these.
constexpr Bins within(Bins bins) {
  bins.outside = true;
  return bins;
}
constexpr Bins within(std::uint32_t n) {
  return within(even(n));
}

constexpr Row kCases[] = {
    // Sizes: 0, 1, and around a warp, a block, and a tile of 2,048; then larger ones.
    {even(16), i32, {0, 1, 2}},
    {within(16), i32, {31, 32, 33, 255, 257, 2047, 2048, 2049, 4097}},
    {within(256), i32, {65535, 65536, 100003, 524289}},
    // Bins: 1, 2, around a warp, a block, the size of static shared memory (12,288 counters), two full
    // windows of so many, and the largest number.
    {{within(1), within(2), within(31), within(32), within(255), within(257)}, i32, 20011},
    {{within(383), within(384), within(4096), within(8191), within(8192)}, i32, 20011},
    {{within(12287), within(12288)}, i32, 20011},
    {within(24575), i32, 30011},
    {within(65536), i32, 300007},
    {even(65536), f32, 3001},
    // All checkers are on: several blocks, a partial last block, few bins and more bins than a block has
    // threads; both kinds of bins.
    {within(2), i32, 5000, random, kBoth},
    {within(300), i32, 40001, random, kBoth},
    {within(edges(37)), i32, 4500, random, kBoth, 4},
    {even(256), u8, 9001, random, kBoth, 3},
    // A grid for one or two multiprocessors. A thread takes 16 bytes at once, or twice that.
    {within(256), i32, kThreeTurns, random, kBoth, 0, 1},
    {within(256), i32, 2 * kThreeTurns, random, kCorrectness, 0, 2},
    {even(256), u8, 200003, random, kCorrectness, 0, 1},
    {within(10000), i32, 4500, random, kBoth, 0, 1},
    // The distribution of samples: all or 90 % in one bin; sorted both ways; two bins in turn; the last bins.
    {even(256), i32, 70001, {all_equal, skewed, ascending, descending, alternating, high_bits}},
    {edges(100), f32, 10007, {all_equal, skewed, ascending, descending, alternating, high_bits}},
    {edges(37), i32, 4501, skewed},
    {even(2), i32, 262147, all_equal},
    {even(4096), i32, 100003, skewed},
    {even(256), u8, 200003, all_equal},
    // Samples on and next to every edge, at both ends, beyond them, and NaN.
    {{even(10, -7, 20), edges(10, -7, 20)}, i32, 5000, extremes},
    {{even(10, 0, 1), edges(10, 0, 1)}, f32, 20000, extremes},
    {{even(1000), edges(1000)}, f32, 50000, extremes},
    {even(4, -1, 0), f32, 5000, extremes},  // rounds up to n_bins
    {even(7, -0x1p100, 0x1p125), f32, 5000, extremes},
    {even(9, 1, 1 + 0x1p-18), f32, 5000, extremes},  // 32 numbers
    {{edges(10, -1, 1), edges(3, -INFINITY, INFINITY)}, f32, 5000, extremes},
    {{even(7, 20, 201), edges(7, 20, 201)}, u8, 5000, extremes},
    {{even(7, -100, 100), edges(7, -5, 256)}, u8, 5003, extremes},
    {{even(3, -100000, 70000), edges(3, -100000, 70000)}, u8, 5003, extremes},
    {edges(1, -7, 20), i32, 1000, extremes},
    {{edges(3, -0x1p31, 0x1p31 - 1), edges(100, -0x1p31, 0x1p31 - 1)}, i32, 5000, extremes},
    // The whole range of the type; more bins than integers; the largest number of edges, 65,536 bins;
    // counters and edges that take a few words more than 48 KiB.
    {{even(1000, -0x1p31, 0x1p31), even(65536, -0x1p31, 0x1p31)}, i32, 30011},
    {even(100, -3, 4), i32, 5003},
    {within(edges(65536)), i32, 30011},
    {within(edges(6145)), i32, 20011},
    {within(edges(12287)), f32, 20011},
    {edges(65536), f32, 30011},
    // Addresses where the first 16-byte load is not aligned; arrays too short for one vector load.
    {even(256), i32, 100003, random, kCorrectness, 4},
    {even(256), f32, 4099, random, kCorrectness, 12},
    {even(256), u8, 100003, random, kCorrectness, 1},
    {even(16), u8, 5, random, kCorrectness, 15},
    {within(edges(255)), f32, 50021, random, kCorrectness, 8},
};
// The measured cases; a page shows the first counted one. Each is also a correctness case, with another seed,
// so an answer that was stored in one is wrong in the other.
constexpr Row kMeasured[] = {
    {even(256), i32, 1048576, random, kCounted},
    {even(256), i32, 1048576, skewed, kCounted},
    {even(256), i32, 4194304, random, kTimed},
};
// Sorting is the slowest on the simulator, so it is timed with fewer samples.
constexpr Row kMeasuredSort[] = {
    {even(256), i32, 1048576, random, kCounted | kTimed},
    {even(256), i32, 1048576, skewed, kCounted},
};
constexpr Row kMeasuredWithAnyBins[] = {
    {even(16), i32, 1048576, all_equal, kCounted},
    {{even(4096), even(65536)}, i32, 4194304, random, kTimed},
};
// The last rung counts the values of bytes if there are at most 256 bins.
constexpr Row kLastRung[] = {
    {even(256), u8, 40001, all_equal, kBoth, 5},
    {even(100, 1, 201), u8, 70001, skewed, kBoth},
    {even(257, 0, 256), u8, 30011},
    {edges(150, 20, 201), u8, 30011, random, kBoth},
};
}  // namespace table

class HistogramProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override {
    std::vector<Case> all;
    const bool is_last = task.id == "state_of_the_art";
    add_cases(all, table::kCases, make);
    if (task.id == "sort_reduce") {
      add_cases(all, table::kMeasuredSort, make);
    } else {
      add_cases(all, table::kMeasured, make);
    }
    if (is_last) add_cases(all, table::kLastRung, make);
    if (is_last || task.id == "combined") add_cases(all, table::kMeasuredWithAnyBins, make);
    return all;
  }

  Shape shape(const Task&, const Case& c) const override {
    const std::uint64_t n_counts = std::uint64_t{bins_of(c)} + 1;
    Shape shape;
    shape.inputs = {{"d_in", c.dtype, c.n}};
    if (static_cast<OpId>(c.op) == OpId::edges)
      shape.inputs.push_back({"d_edges", edge_type(c.dtype), n_counts});
    shape.outputs = {{"d_counts", DType::u64, n_counts}};
    shape.workspace = workspace_of(c.n, bins_of(c));
    shape.misaligned_outputs = true;
    return shape;
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_type(c.dtype, [&]<typename T>(T) {
      Rng rng(seed);
      if (inputs.size() > 1) {
        const auto [lo, hi] = bounds_of<T>(c);
        fill_edges<T>(lo, hi, c.pattern == Pattern::skewed, inputs[1].as<Edge<T>>(), rng);
      }
      with_bins<T>(c, inputs, [&](const auto& bins) { fill_samples<T>(c, bins, inputs[0].as<T>(), rng); });
    });
  }

  std::optional<Mismatch> check(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_type(c.dtype, [&]<typename T>(T) -> std::optional<Mismatch> {
      return with_bins<T>(c, inputs, [&](const auto& bins) -> std::optional<Mismatch> {
        const auto samples = inputs[0].as<T>();
        const auto& out = outputs[0];
        std::vector<Count> right(out.spec.count);
        count_one_thread(samples, bins, std::span(right));
        auto mismatch = compare_integers(out.spec, std::as_bytes(std::span(right)), out.bytes);
        if (mismatch) {
          const auto counts_of_first = [&](Count k) {
            std::vector<Count> counts(right.size());
            count_one_thread(samples.first(k), bins, std::span(counts));
            return counts;
          };
          diagnose<Facts>(*mismatch, kRules,
                          {samples.size(), outside_of(samples, bins), right, out.as<Count>(), counts_of_first,
                           [&](Count i) { return bin_of(bins, samples[i]); },
                           [&](Count i) {
                             const std::uint32_t bin = bin_of(bins, samples[i]);
                             if constexpr (requires { bins.edges; })
                               if (bin > 0 && bin + 1 < bins.edges.size() && bins.edges[bin] == samples[i])
                                 return bin - 1;
                             return bin;
                           }});
        }
        return mismatch;
      });
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs,
                std::span<HostBuffer> outputs) const override {
    with_type(c.dtype, [&]<typename T>(T) {
      with_bins<T>(c, inputs, [&](const auto& bins) {
        count_one_thread(inputs[0].as<T>(), bins, outputs[0].as<Count>());
      });
    });
  }

  // One increment per sample, none of which has to wait for another; samples and edges are read once, counts
  // written once.
  Ideal ideal(const Task& task, const Case& c) const override {
    double bytes = 0;
    const Shape all = shape(task, c);
    for (const auto* side : {&all.inputs, &all.outputs})
      for (const BufferSpec& spec : *side)
        bytes += static_cast<double>(spec.count) * static_cast<double>(bytes_of(spec.dtype));
    const auto n = static_cast<double>(c.n);
    return {.items = n, .work = n, .bytes = bytes};
  }

  Case example(const Task&, std::uint64_t n) const override {
    return make(table::even(4, 0, 8), DType::i32, n, Pattern::example, kCorrectness, 0);
  }
};

}  // namespace

const Problem& problem() {
  static const HistogramProblem kProblem;
  return kProblem;
}

}  // namespace course::histogram
