// SPDX-License-Identifier: MIT
// Likely causes of wrong counts, for problem.cpp: one rule for each mistake that explains an output
// (lab/diagnosis.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
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

// How many samples are in no bin, and why; and how many are at the lower end.
struct Outside {
  Count below = 0, at_start = 0, at_end = 0, above = 0, not_a_number = 0;
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
    if (sample == lo) ++outside.at_start;
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
  std::function<std::uint32_t(Count)> bin_below;             // the same if a bin lacks its lower edge

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
  // The bin in which they were counted: "first", "last", "only", or "" for neither.
  std::string where(Count how_many) const {
    if (n_bins() == 1) return moved(0, how_many) ? "only" : "";
    return moved(0, how_many) ? "first" : moved(n_bins() - 1, how_many) ? "last" : "";
  }
};

// Samples of no bin that were counted in the first or the last one.
struct Moved {
  const char* text;
  Count (*how_many)(const Facts&);
};
constexpr Moved kMoved[] = {
    {"samples equal to the upper end were counted in the {} bin: a bin ends before its upper edge",
     [](const Facts& f) { return f.outside.at_end; }},
    {"NaNs were counted in the {} bin: every comparison with a NaN is false",
     [](const Facts& f) { return f.outside.not_a_number; }},
    {"samples below the first bin were counted in the {} one",
     [](const Facts& f) { return f.outside.below; }},
    {"samples from the upper end on were counted in the {} bin",
     [](const Facts& f) { return f.outside.above == 0 ? 0 : f.outside.above + f.outside.at_end; }},
    {"all samples that lie in no bin were counted in the {} bin: they belong into d_counts[n_bins]",
     [](const Facts& f) { return f.right[f.n_bins()]; }},
};
template <std::size_t kWhich>
std::string in_a_bin(const Facts& f) {
  const std::string where = f.where(kMoved[kWhich].how_many(f));
  return where.empty() ? "" : fmt::format(fmt::runtime(kMoved[kWhich].text), where);
}

inline std::string start_in_no_bin(const Facts& f) {
  for (const Count end : {Count{0}, f.outside.at_end}) {
    std::vector<Count> counts(f.right.begin(), f.right.end());
    counts[0] -= f.outside.at_start, counts[f.n_bins() - 1] += end;
    counts[f.n_bins()] += f.outside.at_start - end;
    if (f.outside.at_start > 0 && same(counts, f.got))
      return fmt::format(
          "samples equal to the lower end were counted in no bin{}: it is the first bin's (<=, "
          "not <), and the upper end lies outside (<, not <=)",
          end > 0 ? ", and those equal to the upper end in the last bin" : "");
  }
  return "";
}
inline std::string all_in_no_bin(const Facts& f) {
  return text_if(
      f.got[f.n_bins()] == f.n && f.right[f.n_bins()] < f.n,
      "every sample was counted as one that lies in no bin: are the two ends exchanged in the test?");
}
// A binary search that goes on in the wrong half once does so from then on.
inline std::string branches_exchanged(const Facts& f) {
  std::vector<Count> counts(f.right.size());
  counts[f.n_bins()] = f.right[f.n_bins()];
  for (std::size_t b = 0; b < f.n_bins(); ++b) counts[b < f.n_bins() / 2 ? f.n_bins() - 1 : 0] += f.right[b];
  return text_if(
      f.has_several_bins() && !same(counts, f.right) && same(counts, f.got),
      "the samples below the middle edge are all in the last bin, and the others in the first: the "
      "search goes on in the wrong half");
}
inline std::string outside_in_a_bin(const Facts& f) {
  const Count some = f.right[f.n_bins()] > f.got[f.n_bins()] ? f.right[f.n_bins()] - f.got[f.n_bins()] : 0;
  if (std::ranges::any_of(kMoved, [&](const Moved& known) { return known.how_many(f) == some; })) return "";
  const std::string where = f.where(some);
  return text_if(
      !where.empty(), "of the samples that lie in no bin, {} went to the {} bin{}", some, where,
      where == "first" ? " (truncation is not floor: it would take what is just below lo to 0)" : "");
}

inline std::string outside_dropped(const Facts& f) {
  const bool others_right = same(f.right.first(f.n_bins()), f.got.first(f.n_bins()));
  return text_if(others_right && f.got[f.n_bins()] == 0 && f.right[f.n_bins()] > 0 && total_of(f.got) > 0,
                 "samples that lie in no bin were dropped: they belong into d_counts[n_bins]");
}

inline std::string nothing_counted(const Facts& f) {
  return text_if(total_of(f.got) == 0 && f.n > 0,
                 "every count is 0: no sample was counted, or the counts were "
                 "cleared after the samples were counted");
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
  return text_if(missing < f.n_bins() && same(f.right.first(n), f.got.first(n)) &&
                     n_counted(f.got.first(n)) >= kTelling && n_counted(f.right.subspan(n)) >= kTelling,
                 "the counts are right up to bin {}, and 0 from bin {} on: the bins from there on were "
                 "left out",
                 n - 1, missing);
}

inline std::string edge_below(const Facts& f) {
  std::vector<Count> counts(f.right.size());
  for (Count i = 0; i < f.n; ++i) ++counts[f.bin_below(i)];
  return text_if(
      !same(counts, f.right) && same(counts, f.got),
      "samples that equal an edge were counted in the bin below it: a bin begins at its lower edge");
}

// A search with an upper limit that is one too low.
inline std::string last_bin_never_found(const Facts& f) {
  std::vector<Count> counts(f.right.begin(), f.right.end());
  if (f.n_bins() > 1) counts[f.n_bins() - 2] += std::exchange(counts[f.n_bins() - 1], Count{0});
  return text_if(!same(counts, f.right) && same(counts, f.got),
                 "the samples of the last bin, {}, were counted in the one before it: the last bin is "
                 "never found. Is the upper limit of the search, or of the bin's number, one too low?",
                 f.n_bins() - 1);
}

// As many samples too many in one bin as the last, partial tile has positions without a sample.
inline std::string padding_counted(const Facts& f) {
  const Count total = total_of(f.got);
  for (Count tile = 256; tile <= 16384; tile *= 2) {
    if (total != (f.n + tile - 1) / tile * tile || total == f.n) continue;
    std::ptrdiff_t n_differ = 0;
    for (std::size_t b = 0; b < f.right.size(); ++b) n_differ += f.got[b] != f.right[b] ? 1 : 0;
    if (n_differ != 1) continue;
    return fmt::format(
        "{} counts too many, as many as the last tile of {} has positions without a sample: they were "
        "counted, too",
        total - f.n, tile);
  }
  return "";
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
  return text_if(total > 0 && total < f.n && f.has_several_bins() && same(f.got, f.counts_of_first(total)),
                 "these are the counts of the first {} of the {} samples: the rest was left out", total, f.n);
}

// The threads that count samples advance by more than their own number. Of few samples, only so many were
// counted as there are such threads.
inline std::string advances_too_far(const Facts& f) {
  const Count total = total_of(f.got), most = f.n > 1 << 20 || !f.has_several_bins() ? 0 : f.n;
  for (Count stride = 64; total < most && stride < std::max<Count>(most, 1025); stride += 32) {
    const Count turns = f.n / stride, rest = f.n % stride;
    // The last, partial turn has samples for all of these threads, or for some of them.
    const Count threads =
        total % (turns + 1) == 0 ? total / (turns + 1) : (total - std::min(total, rest)) / turns;
    if (threads % 32 != 0 || threads == 0 || turns * threads + std::min(rest, threads) != total ||
        (turns == 0 && threads != n_private(f.n, static_cast<std::uint32_t>(f.n_bins()))))
      continue;
    std::vector<Count> counts(f.right.size());
    for (Count i = 0; i < f.n; ++i) counts[f.bin_of(i)] += i % stride < threads ? 1 : 0;
    if (same(counts, f.got))
      return fmt::format(
          "only the first {0} of {1} samples are counted: {0} threads count, so each must advance by {0}, "
          "not "
          "by more, such as all threads of the grid",
          threads, turns == 0 ? fmt::format("the {}", f.n) : fmt::format("every {}", stride));
  }
  return "";
}

// The loop over the samples advances by a block's threads instead of the grid's: each block also counts what
// the blocks after it count.
inline std::string stride_of_a_block(const Facts& f) {
  if (f.n > 1 << 20 || total_of(f.got) <= f.n) return "";
  for (Count block = 32; block <= 1024 && block < f.n; block *= 2) {
    std::vector<Count> counts(f.right.size());
    for (Count i = 0; i < f.n; ++i) counts[f.bin_of(i)] += i / block + 1;
    if (same(counts, f.got))
      return "each block also counted the samples of the blocks after it: the loop must advance by all "
             "threads of the grid, gridDim.x * blockDim.x, not by those of a block";
  }
  return "";
}

inline std::string too_few(const Facts& f) {
  const Count total = total_of(f.got);
  return text_if(total < f.n, "the counts add up to {}, {} less than there are samples", total, f.n - total);
}

inline std::string too_many(const Facts& f) {
  const Count total = total_of(f.got);
  return text_if(total > f.n, "the counts add up to {}, {} more than there are samples", total, total - f.n);
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

// One of the two kernels of private_counts has the counters of a thread next to each other, the other one
// those of a bin.
inline std::string counters_transposed(const Facts& f) {
  if (total_of(f.got) != f.n) return "";
  const Count threads = n_private(f.n, static_cast<std::uint32_t>(f.n_bins())), n_counters = f.right.size();
  std::vector<Count> by_thread(f.right.size()), by_bin(f.right.size());
  for (Count i = 0; i < f.n; ++i) {
    ++by_thread[((i % threads) * n_counters + f.bin_of(i)) / threads];
    ++by_bin[(f.bin_of(i) * threads + i % threads) % n_counters];
  }
  const bool stored = same(by_thread, f.got), fits = stored || same(by_bin, f.got);
  return text_if(fits && !same(f.right, f.got),
                 "the counter of bin b in copy t is {} at b * (number of copies) + t, "
                 "and {} at t * (n_bins + 1) + b: both must be the same place",
                 stored ? "read" : "stored", stored ? "stored" : "read");
}

inline std::string wrong_bins(const Facts& f) {
  if (total_of(f.got) != f.n) return "";
  // The sum over bins 0 … b is wrong by the number of samples that crossed the edge above bin b.
  const std::size_t n_bins = f.n_bins();
  Count crossed = 0, ahead = 0, behind = 0;
  std::vector<std::size_t> edges;  // that samples crossed, by the bin below
  bool near = f.got[n_bins] == f.right[n_bins];
  for (std::size_t b = 0; b < n_bins && near; ++b) {
    ahead += f.got[b], behind += f.right[b];
    const Count by = ahead > behind ? ahead - behind : behind - ahead;
    crossed += by;
    if (by > 0) edges.push_back(b);
    near = by <= f.right[b] + f.right[std::min(b + 1, n_bins - 1)];
  }
  if (near && crossed <= f.n / 4 + 1)
    return fmt::format("nothing is lost, but {} sample{} counted in a neighbouring bin{}", crossed,
                       crossed == 1 ? " was" : "s were",
                       edges.size() > 1 || n_bins < 3
                           ? ""
                           : fmt::format(", all at the edge between bins {} and {}", edges[0], edges[0] + 1));
  return "nothing is lost, but samples were counted in wrong bins";
}

constexpr Rule<Facts> kRules[] = {
    {"windows_on_top_of_each_other", windows_on_top_of_each_other},
    {"end_in_a_bin", in_a_bin<0>},
    {"start_in_no_bin", start_in_no_bin},
    {"all_in_no_bin", all_in_no_bin},
    {"branches_exchanged", branches_exchanged},
    {"nan_in_a_bin", in_a_bin<1>},
    {"below_in_a_bin", in_a_bin<2>},
    {"above_in_a_bin", in_a_bin<3>},
    {"all_outside_in_a_bin", in_a_bin<4>},
    {"outside_in_a_bin", outside_in_a_bin, false,
     "samples that lie in no bin went to the first or the last bin"},
    {"outside_dropped", outside_dropped},
    {"nothing_counted", nothing_counted},
    {"bins_left_out", bins_left_out, false,
     "the counts are right up to a bin, and 0 from there on: the last bins were left out"},
    {"edge_below", edge_below},
    {"last_bin_never_found", last_bin_never_found},
    {"padding_counted", padding_counted},
    {"counter_overflowed", counter_overflowed},
    {"rest_left_out", rest_left_out},
    {"advances_too_far", advances_too_far},
    {"stride_of_a_block", stride_of_a_block},
    {"counters_transposed", counters_transposed},
    {"too_few", too_few, true, "the counts add up to less than there are samples"},
    {"too_many", too_many, true, "the counts add up to more than there are samples"},
    {"wrong_bins", wrong_bins, true, "nothing is lost, but samples were counted in wrong bins"},
};

}  // namespace course::histogram
