// SPDX-License-Identifier: MIT
// Likely causes of wrong counts, for problem.cpp: one rule for each mistake that explains an output
// (lab/diagnosis.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "histogram/baseline.hpp"
#include "histogram/lab.hpp"
#include "lab/diagnosis.hpp"

namespace course::histogram {

using namespace lab;  // NOLINT: this file is written in that library's terms

// --- Likely causes of a wrong result: one rule for each mistake.

using Counts = std::span<const Count>;

inline Count total_of(Counts counts) {
  return std::accumulate(counts.begin(), counts.end(), Count{0});
}

inline bool same(Counts a, Counts b) {
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

inline std::string in_a_bin(const Facts& f, Count how_many, const char* text) {
  const std::string where = f.where(how_many);
  return where.empty() ? "" : fmt::format(fmt::runtime(text), where);
}

inline std::string end_in_a_bin(const Facts& f) {
  return in_a_bin(
      f, f.outside.at_end,
      "samples equal to the upper end were counted in the {} bin: a bin ends before its upper edge");
}
inline std::string nan_in_a_bin(const Facts& f) {
  return in_a_bin(f, f.outside.not_a_number,
                  "NaNs were counted in the {} bin: every comparison with a NaN is false");
}
inline std::string below_in_a_bin(const Facts& f) {
  return in_a_bin(f, f.outside.below, "samples below the first bin were counted in the {} one");
}
inline std::string above_in_a_bin(const Facts& f) {
  return f.outside.above == 0 ? ""
                              : in_a_bin(f, f.outside.above + f.outside.at_end,
                                         "samples from the upper end on were counted in the {} bin");
}

inline std::string all_outside_in_a_bin(const Facts& f) {
  return in_a_bin(f, f.right[f.n_bins()],
                  "all samples that lie in no bin were counted in the {} bin: they belong into "
                  "d_counts[n_bins]");
}

inline std::string outside_in_a_bin(const Facts& f) {
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

inline std::string outside_dropped(const Facts& f) {
  const bool others_right = same(f.right.first(f.n_bins()), f.got.first(f.n_bins()));
  if (!(others_right && f.got[f.n_bins()] == 0 && f.right[f.n_bins()] > 0 && total_of(f.got) > 0)) return "";
  return "samples that lie in no bin were dropped: they belong into d_counts[n_bins]";
}

inline std::string nothing_counted(const Facts& f) {
  return total_of(f.got) == 0 && f.n > 0 ? "every count is 0: no sample was counted, or the counts were "
                                           "cleared after the samples were counted"
                                         : "";
}

// The bins at the end are 0. The count of samples in no bin is not considered; another rule checks it.
inline std::string bins_left_out(const Facts& f) {
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
inline std::string counter_overflowed(const Facts& f) {
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

inline std::string rest_left_out(const Facts& f) {
  const Count total = total_of(f.got);
  if (!(total > 0 && total < f.n && f.has_several_bins() && same(f.got, f.counts_of_first(total)))) return "";
  return fmt::format("these are the counts of the first {} of the {} samples: the rest was left out", total,
                     f.n);
}

// Samples that follow each other are missing, or were counted twice. The number of samples says how many; if
// they are all equal, nothing says which.
inline std::string samples_off(const Facts& f) {
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

inline std::string counted_several_times(const Facts& f) {
  const Count total = total_of(f.got);
  if (f.n < 2 || total <= f.n || total % f.n != 0) return "";
  const Count times = total / f.n;
  return std::equal(f.right.begin(), f.right.end(), f.got.begin(),
                    [&](Count r, Count g) { return times * r == g; })
             ? fmt::format("every sample was counted {} times", times)
             : "";
}

inline std::string one_bin_too_high(const Facts& f) {
  return f.n_bins() > 1 && total_of(f.got) == f.n &&
                 same(f.right.first(f.n_bins() - 1), f.got.subspan(1, f.n_bins() - 1))
             ? "every count stands one bin too high: bin b begins at edge b"
             : "";
}
inline std::string one_bin_too_low(const Facts& f) {
  return f.n_bins() > 1 && total_of(f.got) == f.n &&
                 same(f.right.subspan(1, f.n_bins() - 1), f.got.first(f.n_bins() - 1))
             ? "every count stands one bin too low: bin b begins at edge b"
             : "";
}

inline std::string too_few(const Facts& f) {
  const Count total = total_of(f.got);
  if (!(total < f.n)) return "";
  return fmt::format("the counts add up to {}, {} less than there are samples", total, f.n - total);
}

inline std::string too_many(const Facts& f) {
  const Count total = total_of(f.got);
  if (total <= f.n) return "";
  return fmt::format("the counts add up to {}, {} more than there are samples", total, total - f.n);
}

// Every window's counts are added to those of the first window: `first` is missing in the index.
inline std::string windows_on_top_of_each_other(const Facts& f) {
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

inline std::string wrong_bins(const Facts& f) {
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

}  // namespace course::histogram
