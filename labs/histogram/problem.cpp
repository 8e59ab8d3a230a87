// SPDX-License-Identifier: MIT
// The trusted side of the histogram lab: its cases, their samples, and the right answers. Never linked into a
// runner.
// Reading order: cases() lists what is tried and why, fill() makes the samples, check() decides what is
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

class HistogramProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::vector<Case> cases(const Task& task) const override;

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
                           [&](Count i) { return bin_of(bins, samples[i]); }});
        }
        return mismatch;
      });
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs, std::span<HostBuffer> outputs,
                Baseline which) const override {
    with_type(c.dtype, [&]<typename T>(T) {
      with_bins<T>(c, inputs, [&](const auto& bins) {
        const auto samples = inputs[0].as<T>();
        const auto counts = outputs[0].as<Count>();
        if (which == Baseline::one_thread) {
          count_one_thread(samples, bins, counts);
        } else {
          count_all_cores(samples, bins, counts);
        }
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
    Case c = make_case({"even_i32_b4"}, OpId::even, DType::i32, n, Pattern::example);
    c.params = {4, 0, 8};
    return c;
  }
};

constexpr auto kBoth = kCorrectness | kChecks;

// A case under construction; the default values are the most common ones.
struct Wanted {
  OpId op = OpId::even;
  DType dtype = DType::i32;
  std::uint32_t n_bins = 256;
  std::uint64_t n = 0;
  Pattern pattern = Pattern::random;
  std::uint32_t purpose = kCorrectness;
  bool outside = false;
  std::uint32_t misalign = 0;
  double lo = 0, hi = 0;  // both 0: the usual bounds for the type
};

Case case_of(Wanted w) {
  if (w.lo == 0 && w.hi == 0) {
    switch (w.dtype) {
      case DType::u8: w.hi = 256; break;
      case DType::f32: w.lo = -1.5, w.hi = 2.5; break;
      default: w.lo = -1000003, w.hi = 3000017; break;
    }
  }
  const auto variant = fmt::format("{}_{}_b{}", name_of(w.op), lab::name_of(w.dtype), w.n_bins);
  Case c = make_case({.variant = variant, .more = w.outside ? "_outside" : ""}, w.op, w.dtype, w.n, w.pattern,
                     w.purpose, w.misalign);
  c.params[kBinsParam] = w.n_bins;
  c.params[kOutsideParam] = w.outside ? 1 : 0;
  with_type(w.dtype, [&]<typename T>(T) {
    c.params[kLoParam] = param_of<T>(static_cast<Bound<T>>(w.lo));
    c.params[kHiParam] = param_of<T>(static_cast<Bound<T>>(w.hi));
  });
  return c;
}

std::vector<Case> HistogramProblem::cases(const Task& task) const {
  using enum Pattern;
  using enum DType;
  using enum OpId;
  std::vector<Case> all;
  const auto add = [&all](const Wanted& w) { all.push_back(case_of(w)); };

  // Sizes: 0, 1, and around a warp, a block, and a tile of 2,048; then larger ones.
  for (const std::uint64_t n : {0u, 1u, 2u, 31u, 32u, 33u, 255u, 257u, 2047u, 2048u, 2049u, 4097u}) {
    add({.n_bins = 16, .n = n, .outside = n > 2});
  }
  for (const std::uint64_t n : {65535u, 65536u, 100003u, 524289u}) add({.n = n, .outside = true});
  // Bins: 1, 2, around a warp, a block, the size of static shared memory (12,288 counters), and the largest
  // number.
  for (const std::uint32_t n_bins :
       {1u, 2u, 31u, 32u, 255u, 257u, 383u, 384u, 4096u, 8191u, 8192u, 12287u, 12288u}) {
    add({.n_bins = n_bins, .n = 20011, .outside = true});
  }
  add({.n_bins = 24575, .n = 30011, .outside = true});  // two full windows of 12,288 counters
  add({.n_bins = 65536, .n = 300007, .outside = true});
  add({.dtype = f32, .n_bins = 65536, .n = 3001});
  // All checkers are on: several blocks, a partial last block, few bins and more bins than a block has
  // threads; both kinds of bins.
  add({.n_bins = 2, .n = 5000, .purpose = kBoth, .outside = true});
  add({.n_bins = 300, .n = 40001, .purpose = kBoth, .outside = true});
  add({.n_bins = 10000, .n = 4500, .purpose = kBoth, .outside = true});
  add({.op = edges, .n_bins = 37, .n = 4500, .purpose = kBoth, .outside = true, .misalign = 4});
  add({.dtype = u8, .n = 9001, .purpose = kBoth, .misalign = 3});
  // The distribution of samples: all or 90 % in one bin; sorted both ways; two bins in turn; the last bins.
  for (const Pattern pattern : {all_equal, skewed, ascending, descending, alternating, high_bits}) {
    add({.n = 70001, .pattern = pattern});
    add({.op = edges, .dtype = f32, .n_bins = 100, .n = 10007, .pattern = pattern});
  }
  add({.op = edges, .n_bins = 37, .n = 4501, .pattern = skewed});
  add({.n_bins = 2, .n = 262147, .pattern = all_equal});
  add({.n_bins = 4096, .n = 100003, .pattern = skewed});
  add({.dtype = u8, .n = 200003, .pattern = all_equal});
  // Samples on and next to every edge, at both ends, beyond them, and NaN.
  add({.n_bins = 10, .n = 5000, .pattern = extremes, .lo = -7, .hi = 20});
  add({.dtype = f32, .n_bins = 10, .n = 20000, .pattern = extremes, .lo = 0, .hi = 1});
  add({.dtype = f32, .n_bins = 1000, .n = 50000, .pattern = extremes});
  add({.dtype = f32, .n_bins = 4, .n = 5000, .pattern = extremes, .lo = -1, .hi = 0});  // rounds up to n_bins
  add({.dtype = f32, .n_bins = 7, .n = 5000, .pattern = extremes, .lo = -0x1p100, .hi = 0x1p125});
  add({.dtype = f32, .n_bins = 9, .n = 5000, .pattern = extremes, .lo = 1, .hi = 1 + 0x1p-18});  // 32 numbers
  add({.dtype = u8, .n_bins = 7, .n = 5000, .pattern = extremes, .lo = 20, .hi = 201});
  add({.dtype = u8, .n_bins = 7, .n = 5003, .pattern = extremes, .lo = -100, .hi = 100});
  add({.dtype = u8, .n_bins = 3, .n = 5003, .pattern = extremes, .lo = -100000, .hi = 70000});
  add({.op = edges, .n_bins = 10, .n = 5000, .pattern = extremes, .lo = -7, .hi = 20});
  add({.op = edges, .dtype = f32, .n_bins = 10, .n = 20000, .pattern = extremes, .lo = 0, .hi = 1});
  add({.op = edges, .dtype = f32, .n_bins = 1000, .n = 50000, .pattern = extremes});
  add({.op = edges, .dtype = f32, .n_bins = 10, .n = 5000, .pattern = extremes, .lo = -1, .hi = 1});
  add({.op = edges,
       .dtype = f32,
       .n_bins = 3,
       .n = 5000,
       .pattern = extremes,
       .lo = -INFINITY,
       .hi = INFINITY});
  add({.op = edges, .dtype = u8, .n_bins = 7, .n = 5000, .pattern = extremes, .lo = 20, .hi = 201});
  add({.op = edges, .dtype = u8, .n_bins = 7, .n = 5003, .pattern = extremes, .lo = -5, .hi = 256});
  add({.op = edges, .dtype = u8, .n_bins = 3, .n = 5003, .pattern = extremes, .lo = -100000, .hi = 70000});
  add({.op = edges, .n_bins = 1, .n = 1000, .pattern = extremes, .lo = -7, .hi = 20});
  for (const std::uint32_t n_bins : {3u, 100u})
    add({.op = edges, .n_bins = n_bins, .n = 5000, .pattern = extremes, .lo = -0x1p31, .hi = 0x1p31 - 1});
  // The whole range of the type; more bins than integers; the largest number of edges, 65,536 bins.
  add({.n_bins = 1000, .n = 30011, .lo = -0x1p31, .hi = 0x1p31});
  add({.n_bins = 65536, .n = 30011, .lo = -0x1p31, .hi = 0x1p31});
  add({.n_bins = 100, .n = 5003, .lo = -3, .hi = 4});
  add({.op = edges, .n_bins = 65536, .n = 30011, .outside = true});
  add({.op = edges,
       .n_bins = 6145,
       .n = 20011,
       .outside = true});  // counters and edges: 3 words above 48 KiB
  add({.op = edges, .dtype = f32, .n_bins = 12287, .n = 20011, .outside = true});
  add({.op = edges, .dtype = f32, .n_bins = 65536, .n = 30011});
  // Addresses where the first 16-byte load is not aligned; arrays too short for one vector load.
  add({.n = 100003, .misalign = 4});
  add({.dtype = f32, .n = 4099, .misalign = 12});
  add({.dtype = u8, .n = 100003, .misalign = 1});
  add({.dtype = u8, .n_bins = 16, .n = 5, .misalign = 15});
  add({.op = edges, .dtype = f32, .n_bins = 255, .n = 50021, .outside = true, .misalign = 8});
  // The last rung counts the values of bytes if there are at most 256 bins.
  if (task.id == "state_of_the_art") {
    add({.dtype = u8, .n = 40001, .pattern = all_equal, .purpose = kBoth, .misalign = 5});
    add({.dtype = u8, .n_bins = 100, .n = 70001, .pattern = skewed, .purpose = kBoth, .lo = 1, .hi = 201});
    add({.dtype = u8, .n_bins = 257, .n = 30011, .lo = 0, .hi = 256});
    add({.op = edges, .dtype = u8, .n_bins = 150, .n = 30011, .purpose = kBoth, .lo = 20, .hi = 201});
  }

  // The measured cases. Each is also a correctness case, with another seed, so an answer that was stored in
  // one is wrong in the other.
  constexpr auto kEfficiency = lab::kEfficiency | kCorrectness, kSpeedup = lab::kSpeedup | kCorrectness;
  // Sorting is the slowest on the simulator, so it is timed with fewer samples.
  const bool sorts = task.id == "sort_reduce";
  add({.n = 1048576, .purpose = sorts ? kEfficiency | kSpeedup : kEfficiency});
  add({.n = 1048576, .pattern = skewed, .purpose = kEfficiency});
  if (!sorts) add({.n = 4194304, .purpose = kSpeedup});
  if (task.id == "combined" || task.id == "state_of_the_art") {
    add({.n_bins = 16, .n = 1048576, .pattern = all_equal, .purpose = kEfficiency});
    add({.n_bins = 4096, .n = 4194304, .purpose = kSpeedup});
    add({.n_bins = 65536, .n = 4194304, .purpose = kSpeedup});
  }
  return all;
}

}  // namespace

const Problem& problem() {
  static const HistogramProblem kProblem;
  return kProblem;
}

}  // namespace course::histogram
