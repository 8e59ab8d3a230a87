// SPDX-License-Identifier: MIT
// The trusted side of the histogram lab: its cases, their samples, and the right answers. Never linked into a
// runner.
// Reading order: cases() lists what is tried and why, fill() makes the samples, check() decides what is
// accepted (counts are exact), kRules finds the likely cause of wrong counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/rng.hpp"
#include "histogram/baseline.hpp"
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

// Strictly ascending edges from lo to hi, at uneven distances. Integers need n_bins ≤ hi − lo.
template <typename T>
void fill_edges(Bound<T> lo, Bound<T> hi, std::span<Edge<T>> edges, Rng& rng) {
  const std::size_t n_bins = edges.size() - 1;
  const double range = static_cast<double>(hi) - static_cast<double>(lo);
  for (std::size_t b = 0; b <= n_bins; ++b) {
    // Each inner edge moves by up to a quarter of an even width; the ends are exact.
    const double jitter = b == 0 || b == n_bins ? 0 : (rng.unit() - 0.5) / 2;
    const double x =
        static_cast<double>(lo) + range * ((static_cast<double>(b) + jitter) / static_cast<double>(n_bins));
    edges[b] = static_cast<Edge<T>>(std::is_integral_v<T> ? std::floor(x) : x);
  }
  for (std::size_t b = 1; b < n_bins; ++b) {  // integer edges may be equal
    if (edges[b] <= edges[b - 1]) edges[b] = static_cast<Edge<T>>(edges[b - 1] + 1);
  }
  for (std::size_t b = n_bins - 1; b > 0; --b)
    if (edges[b] >= edges[b + 1]) edges[b] = static_cast<Edge<T>>(edges[b + 1] - 1);
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

// --- Likely causes of a wrong result: one rule for each mistake.

using Counts = std::span<const Count>;

Count total_of(Counts counts) {
  return std::accumulate(counts.begin(), counts.end(), Count{0});
}

bool same(Counts a, Counts b) {
  return std::ranges::equal(a, b);
}

// How many samples are in no bin, and why.
struct Outside {
  Count below = 0, at_end = 0, above = 0, not_a_number = 0;
};
template <typename T, typename Bins>
Outside outside_of(std::span<const T> samples, const Bins& bins) {
  Bound<T> lo, hi;
  if constexpr (std::is_same_v<Bins, HostEdgeBins<T>>) {
    lo = bins.edges.front(), hi = bins.edges.back();
  } else {
    lo = bins.lo, hi = bins.hi;
  }
  Outside outside;
  for (const T sample : samples) {
    if (sample < lo) ++outside.below;
    if (sample == hi) ++outside.at_end;
    if (sample > hi) ++outside.above;
    if (sample != sample) ++outside.not_a_number;
  }
  return outside;
}

struct Facts {
  Count n;  // number of samples
  Outside outside;
  Counts right, got;
  std::function<std::vector<Count>(Count)> counts_of_first;  // of the first k samples
  std::function<std::uint32_t(Count)> bin_of;                // of sample i

  std::size_t n_bins() const { return right.size() - 1; }
  // Equal samples do not tell which of them were counted.
  bool has_several_bins() const { return std::ranges::count(right, Count{0}) + 1 < std::ssize(right); }
  // Whether the counts are right except that `how_many` samples of no bin were counted in bin `to`.
  bool moved(std::size_t to, Count how_many) const {
    if (how_many == 0) return false;
    std::vector<Count> counts(right.begin(), right.end());
    counts[n_bins()] -= how_many;
    counts[to] += how_many;
    return same(counts, got);
  }
  // The bin in which they were counted: "first", "last", or "" for neither.
  std::string where(Count how_many) const {
    return moved(0, how_many) ? "first" : moved(n_bins() - 1, how_many) ? "last" : "";
  }
};

std::string in_a_bin(const Facts& f, Count how_many, const char* text) {
  const std::string where = f.where(how_many);
  return where.empty() ? "" : fmt::format(fmt::runtime(text), where);
}

std::string end_in_a_bin(const Facts& f) {
  return in_a_bin(
      f, f.outside.at_end,
      "samples equal to the upper end were counted in the {} bin: a bin ends before its upper edge");
}
std::string nan_in_a_bin(const Facts& f) {
  return in_a_bin(f, f.outside.not_a_number,
                  "NaNs were counted in the {} bin: every comparison with a NaN is false");
}
std::string below_in_a_bin(const Facts& f) {
  return in_a_bin(f, f.outside.below, "samples below the first bin were counted in the {} one");
}
std::string above_in_a_bin(const Facts& f) {
  return f.outside.above == 0 ? ""
                              : in_a_bin(f, f.outside.above + f.outside.at_end,
                                         "samples from the upper end on were counted in the {} bin");
}

std::string all_outside_in_a_bin(const Facts& f) {
  return in_a_bin(f, f.right[f.n_bins()],
                  "all samples that lie in no bin were counted in the {} bin: they belong into "
                  "d_counts[n_bins]");
}

std::string outside_in_a_bin(const Facts& f) {
  const Count some = f.right[f.n_bins()] > f.got[f.n_bins()] ? f.right[f.n_bins()] - f.got[f.n_bins()] : 0;
  for (const Count known : {f.outside.at_end, f.outside.not_a_number, f.outside.below,
                            f.outside.above + f.outside.at_end, f.right[f.n_bins()]}) {
    if (some == known) return "";
  }
  const std::string where = f.where(some);
  if (where.empty()) return "";
  return fmt::format(
      "of the samples that lie in no bin, {} went to the {} bin{}", some, where,
      where == "first" ? " (truncation is not floor: it would take what is just below lo to 0)" : "");
}

std::string outside_dropped(const Facts& f) {
  const bool others_right = same(f.right.first(f.n_bins()), f.got.first(f.n_bins()));
  if (!(others_right && f.got[f.n_bins()] == 0 && f.right[f.n_bins()] > 0 && total_of(f.got) > 0)) return "";
  return "samples that lie in no bin were dropped: they belong into d_counts[n_bins]";
}

std::string nothing_counted(const Facts& f) {
  return total_of(f.got) == 0 && f.n > 0 ? "every count is 0: no sample was counted" : "";
}

// The bins at the end are 0. The count of samples in no bin is not considered; another rule checks it.
std::string bins_left_out(const Facts& f) {
  const auto counted = [](Count count) { return count != 0; };
  const auto last = std::find_if(f.got.rbegin(), f.got.rend(), counted);
  if (last == f.got.rend()) return "";
  const auto n = static_cast<std::size_t>(f.got.rend() - last);  // bins up to the last one with a count
  const auto missing = static_cast<std::size_t>(
      std::find_if(f.right.begin() + static_cast<std::ptrdiff_t>(n), f.right.end(), counted) -
      f.right.begin());
  constexpr std::ptrdiff_t kTelling = 4;  // bins with samples, on either side
  const auto n_counted = [&](Counts counts) { return std::ranges::count_if(counts, counted); };
  return missing < f.n_bins() && same(f.right.first(n), f.got.first(n)) &&
                 n_counted(f.got.first(n)) >= kTelling && n_counted(f.right.subspan(n)) >= kTelling
             ? fmt::format(
                   "the counts are right up to bin {}, and 0 from bin {} on: the bins from there on were "
                   "left out",
                   n - 1, missing)
             : "";
}

// A counter had too few bits.
std::string counter_overflowed(const Facts& f) {
  if (total_of(f.got) == 0) return "";
  // If whole tiles of equal samples are missing, that is a multiple of 256, too.
  const bool several = f.has_several_bins();
  for (const unsigned bits : {32u, 16u, 8u}) {
    const Count modulus = Count{1} << bits;
    bool wrapped = several || (bits > 8 && f.n >= modulus);
    for (std::size_t b = 0; b < f.right.size() && wrapped; ++b)
      wrapped =
          f.got[b] <= f.right[b] && (f.right[b] - f.got[b]) % modulus == 0 && (several || f.got[b] < modulus);
    if (wrapped)
      return fmt::format("counts are too small by multiples of {}: a counter of {} bits overflowed", modulus,
                         bits);
  }
  return "";
}

std::string rest_left_out(const Facts& f) {
  const Count total = total_of(f.got);
  if (!(total > 0 && total < f.n && f.has_several_bins() && same(f.got, f.counts_of_first(total)))) return "";
  return fmt::format("these are the counts of the first {} of the {} samples: the rest was left out", total,
                     f.n);
}

// Samples that follow each other are missing, or were counted twice. The number of samples says how many; if
// they are all equal, nothing says which.
std::string samples_off(const Facts& f) {
  const Count total = total_of(f.got);
  const bool twice = total > f.n;
  const Count length = twice ? total - f.n : f.n - total;
  constexpr Count kTelling = 8;
  if (length < kTelling || length >= f.n) return "";
  // Where the counts of the samples in the window differ from what is missing, or too much.
  std::vector<std::int64_t> differs(f.right.size());
  for (std::size_t b = 0; b < f.right.size(); ++b)
    differs[b] =
        (twice ? -1 : 1) * (static_cast<std::int64_t>(f.got[b]) - static_cast<std::int64_t>(f.right[b]));
  const auto n_of = [&](auto holds) {
    return static_cast<std::size_t>(std::ranges::count_if(differs, holds));
  };
  if (n_of([](std::int64_t d) { return d > 0; }) > 0 || n_of([](std::int64_t d) { return d < 0; }) < 4)
    return "";
  std::size_t n_differ = n_of([](std::int64_t d) { return d != 0; });
  const auto put = [&](Count i, std::int64_t by) {
    std::int64_t& d = differs[f.bin_of(i)];
    n_differ -= d != 0 ? 1u : 0u;
    d += by;
    n_differ += d != 0 ? 1u : 0u;
  };
  std::optional<Count> last;  // of the samples that fit; several such windows say nothing
  for (Count end = 0; end < f.n; ++end) {
    put(end, 1);
    if (end >= length) put(end - length, -1);
    if (end + 1 < length || n_differ > 0) continue;
    if (last || (!twice && end + 1 == f.n)) return "";
    last = end;
  }
  return last ? fmt::format("the samples from {} to {} were {}", *last + 1 - length, *last,
                            twice ? "counted twice" : "not counted")
              : "";
}

std::string counted_several_times(const Facts& f) {
  const Count total = total_of(f.got);
  if (f.n < 2 || total <= f.n || total % f.n != 0) return "";
  const Count times = total / f.n;
  return std::equal(f.right.begin(), f.right.end(), f.got.begin(),
                    [&](Count r, Count g) { return times * r == g; })
             ? fmt::format("every sample was counted {} times", times)
             : "";
}

std::string one_bin_too_high(const Facts& f) {
  return f.n_bins() > 1 && total_of(f.got) == f.n &&
                 same(f.right.first(f.n_bins() - 1), f.got.subspan(1, f.n_bins() - 1))
             ? "every count stands one bin too high: bin b begins at edge b"
             : "";
}
std::string one_bin_too_low(const Facts& f) {
  return f.n_bins() > 1 && total_of(f.got) == f.n &&
                 same(f.right.subspan(1, f.n_bins() - 1), f.got.first(f.n_bins() - 1))
             ? "every count stands one bin too low: bin b begins at edge b"
             : "";
}

std::string too_few(const Facts& f) {
  const Count total = total_of(f.got);
  if (!(total < f.n)) return "";
  return fmt::format("the counts add up to {}, {} less than there are samples", total, f.n - total);
}

std::string too_many(const Facts& f) {
  const Count total = total_of(f.got);
  if (total <= f.n) return "";
  return fmt::format("the counts add up to {}, {} more than there are samples", total, total - f.n);
}

// Every window's counts are added to those of the first window: `first` is missing in the index.
std::string windows_on_top_of_each_other(const Facts& f) {
  constexpr std::size_t kShared = 12288;  // counters that fit into a block's shared memory without asking
  const std::size_t n_counts = f.right.size();
  // The largest first: a few samples fit smaller ones as well.
  for (std::size_t window = kShared; window >= 512; window -= 256) {
    if (n_counts <= window) continue;
    std::vector<Count> folded(n_counts, 0);
    for (std::size_t b = 0; b < n_counts; ++b) folded[b % window] += f.right[b];
    if (std::ranges::equal(f.got, folded))
      return fmt::format(
          "the counts of all windows of {} counters are in the first one: the index in d_counts "
          "must begin at the window's first counter",
          window);
  }
  return "";
}

std::string wrong_bins(const Facts& f) {
  if (total_of(f.got) != f.n) return "";
  // The sum over bins 0 … b is wrong by the number of samples that crossed the edge above bin b.
  const std::size_t n_bins = f.n_bins();
  Count crossed = 0, ahead = 0, behind = 0;
  bool near = f.got[n_bins] == f.right[n_bins];
  for (std::size_t b = 0; b < n_bins && near; ++b) {
    ahead += f.got[b], behind += f.right[b];
    const Count by = ahead > behind ? ahead - behind : behind - ahead;
    crossed += by;
    near = by <= f.right[b] + f.right[std::min(b + 1, n_bins - 1)];
  }
  if (near && crossed <= f.n / 4 + 1)
    return fmt::format(
        "nothing is lost, but {} sample{} went to the neighbouring bin: next to an edge bin_of alone decides",
        crossed, crossed == 1 ? "" : "s");
  return "nothing is lost, but samples were counted in wrong bins";
}

constexpr Rule<Facts> kRules[] = {
    {"windows_on_top_of_each_other", windows_on_top_of_each_other},
    {"end_in_a_bin", end_in_a_bin},
    {"nan_in_a_bin", nan_in_a_bin},
    {"below_in_a_bin", below_in_a_bin},
    {"above_in_a_bin", above_in_a_bin},
    {"all_outside_in_a_bin", all_outside_in_a_bin},
    {"outside_in_a_bin", outside_in_a_bin, false,
     "samples that lie in no bin went to the first or the last bin"},
    {"outside_dropped", outside_dropped},
    {"nothing_counted", nothing_counted},
    {"bins_left_out", bins_left_out, false,
     "the counts are right up to a bin, and 0 from there on: the last bins were left out"},
    {"counter_overflowed", counter_overflowed},
    {"rest_left_out", rest_left_out},
    {"samples_off", samples_off, false, "samples that follow each other were not counted, or counted twice"},
    {"counted_several_times", counted_several_times},
    {"one_bin_too_high", one_bin_too_high},
    {"one_bin_too_low", one_bin_too_low},
    {"too_few", too_few, true, "the counts add up to less than there are samples"},
    {"too_many", too_many, true, "the counts add up to more than there are samples"},
    {"wrong_bins", wrong_bins, true, "nothing is lost, but samples were counted in wrong bins"},
};

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
    return shape;
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_type(c.dtype, [&]<typename T>(T) {
      Rng rng(seed);
      if (inputs.size() > 1) {
        const auto [lo, hi] = bounds_of<T>(c);
        fill_edges<T>(lo, hi, inputs[1].as<Edge<T>>(), rng);
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
    return {static_cast<double>(c.n), 0, bytes};
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
  add({.n_bins = 2, .n = 262147, .pattern = all_equal});
  add({.n_bins = 4096, .n = 100003, .pattern = skewed});
  add({.dtype = u8, .n = 200003, .pattern = all_equal});
  // Samples on and next to every edge, at both ends, beyond them, and NaN.
  add({.n_bins = 10, .n = 5000, .pattern = extremes, .lo = -7, .hi = 20});
  add({.dtype = f32, .n_bins = 10, .n = 20000, .pattern = extremes, .lo = 0, .hi = 1});
  add({.dtype = f32, .n_bins = 1000, .n = 50000, .pattern = extremes});
  add({.dtype = u8, .n_bins = 7, .n = 5000, .pattern = extremes, .lo = 20, .hi = 201});
  add({.op = edges, .n_bins = 10, .n = 5000, .pattern = extremes, .lo = -7, .hi = 20});
  add({.op = edges, .dtype = f32, .n_bins = 10, .n = 20000, .pattern = extremes, .lo = 0, .hi = 1});
  add({.op = edges, .dtype = f32, .n_bins = 1000, .n = 50000, .pattern = extremes});
  add({.op = edges, .dtype = u8, .n_bins = 7, .n = 5000, .pattern = extremes, .lo = 20, .hi = 201});
  add({.op = edges, .n_bins = 1, .n = 1000, .pattern = extremes, .lo = -7, .hi = 20});
  // The whole range of the type; more bins than integers; the largest number of edges, 65,536 bins.
  add({.n_bins = 1000, .n = 30011, .lo = -0x1p31, .hi = 0x1p31});
  add({.n_bins = 65536, .n = 30011, .lo = -0x1p31, .hi = 0x1p31});
  add({.n_bins = 100, .n = 5003, .lo = -3, .hi = 4});
  add({.op = edges, .n_bins = 65536, .n = 30011, .outside = true});
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
