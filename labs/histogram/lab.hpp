// SPDX-License-Identifier: MIT
// Histogram: count how many samples are in each bin. The lab's API and its two kinds of bins.
// Read: the bins, Job (what a task gets), Rung (the tasks). points.hpp says what the tasks are worth;
// dispatch.hpp turns a request into a Job. The student's .cu file, the solutions, the CPU side (problem.cpp)
// and the tests include this header, so it includes no large header.
// Invariant: every sample is counted exactly once, in its bin or, if it is in no bin, in one more counter
// after the bins. So the n_bins + 1 counts add up to n, and no sample can make a kernel write anywhere else.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::histogram {

using lab::not_implemented;
using lab::Status;

// A count in global memory. 64 bits, since n may exceed 2^32; `unsigned long long`, because atomicAdd
// supports no other 64-bit integer type. Inside a kernel, 32 bits are enough if one thread or block counts
// fewer than 2^32 samples.
using Count = unsigned long long;

constexpr std::uint32_t kMaxBins = 65536;

// --- Bins. bin_of(bins, x) is the index of x's bin: 0 … n_bins − 1, or n_bins if x is in no bin (a NaN never
// is).
// A bin includes its lower edge and excludes its upper edge; so hi, the last edge, is in no bin.

enum class OpId : std::uint32_t { even, edges };
constexpr const char* name_of(OpId op) {
  return op == OpId::even ? "even" : "edges";
}

// The type of a bound of bins for samples T: it must be able to hold "one past the largest T".
template <typename T>
using Bound = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
// The type of explicit edges for samples T.
template <typename T>
using Edge = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int32_t, T>;

// Bins of equal width over [lo, hi). Integers: exactly ⌊(x − lo) · n_bins / (hi − lo)⌋. Floats: two
// roundings, (x − lo) · (n_bins / (hi − lo)), so a sample close to an edge may be counted on the other side
// of it; its bin is *by definition* the result of bin_of. Host and device run this one function and get the
// same bits.
template <typename T, bool kInteger = std::is_integral_v<T>>
struct EvenBins;

template <typename T>
struct EvenBins<T, true> {
  std::uint32_t n_bins;                     // 1 … kMaxBins
  std::int64_t lo, hi;                      // -2^31 ≤ lo < hi ≤ 2^31
  std::uint32_t last;                       // hi − 1 − lo
  std::uint32_t inverse_high, inverse_low;  // ⌈n_bins · 2^(32 + shift) / (hi − lo)⌉, in two halves
  std::uint32_t shift;                      // 0 or 32

  // Division by r = hi − lo with one multiplication per sample; the inverse is computed once here. With d = x
  // − lo < r, the quotient d · inverse / 2^(32 + shift) is too large by less than d / 2^(32 + shift) < 1 / r,
  // as r² ≤ 2^(32 + shift). That is too little to raise any d · n_bins / r to the next integer.
  COURSE_HD constexpr EvenBins(std::uint32_t count, std::int64_t low, std::int64_t high)
      : n_bins(count), lo(low), hi(high), last(0), inverse_high(0), inverse_low(0), shift(0) {
    const std::uint64_t range = static_cast<std::uint64_t>(high - low);
    last = static_cast<std::uint32_t>(range - 1);
    const std::uint64_t scaled = std::uint64_t{count} << 32;
    std::uint64_t inverse = (scaled + range - 1) / range;
    if (range > 65536) {  // 32 more bits, by long division
      shift = 32;
      const std::uint64_t rest = (scaled % range) << 32;
      inverse = (scaled / range << 32) + rest / range + (rest % range != 0 ? 1 : 0);
    }
    inverse_high = static_cast<std::uint32_t>(inverse >> 32);
    inverse_low = static_cast<std::uint32_t>(inverse);
  }
};

template <typename T>
struct EvenBins<T, false> {
  std::uint32_t n_bins;  // 1 … kMaxBins
  T lo, hi;              // finite, lo < hi, and hi − lo is finite
  T scale;               // n_bins / (hi − lo), rounded

  COURSE_HD constexpr EvenBins(std::uint32_t count, T low, T high)
      : n_bins(count), lo(low), hi(high), scale(static_cast<T>(count) / (high - low)) {}
};

// Given: the bin of a sample among bins of equal width.
template <typename T>
COURSE_HD constexpr std::uint32_t bin_of(const EvenBins<T>& bins, T sample) {
  if constexpr (std::is_integral_v<T>) {
    // A sample below lo wraps around modulo 2^32 and gives a distance that is too large, so one comparison
    // checks both ends.
    const std::uint32_t distance = static_cast<std::uint32_t>(sample) - static_cast<std::uint32_t>(bins.lo);
    if (distance > bins.last) return bins.n_bins;
    const std::uint64_t low = std::uint64_t{distance} * bins.inverse_low;
    return static_cast<std::uint32_t>((std::uint64_t{distance} * bins.inverse_high + (low >> 32)) >>
                                      bins.shift);
  } else {
    if (!(sample >= bins.lo && sample < bins.hi)) return bins.n_bins;  // with `!`, because a NaN fails it
    const std::uint32_t bin = static_cast<std::uint32_t>((sample - bins.lo) * bins.scale);
    return bin < bins.n_bins ? bin : bins.n_bins - 1;  // just below hi the product may round up to n_bins
  }
}

// Bins between explicit edges: bin b is [edge[b], edge[b + 1]). You write bin_of for them, in histogram.cu.
template <typename T>
struct EdgeBins {
  std::uint32_t n_bins;    // 1 … kMaxBins
  const Edge<T>* d_edges;  // n_bins + 1 of them, strictly ascending, so none is NaN, but the first
                           // and the last may be infinite; never written
};

// --- What a task gets. All pointers are device memory that the harness owns: do not allocate memory, and
// never write d_in.
template <typename T, typename Bins>
struct Job {
  const T* d_in = nullptr;  // n samples; aligned to sizeof(T) only
  std::uint64_t n = 0;      // may be 0: every count is then 0
  Bins bins{};              // bin_of(bins, sample), bins.n_bins
  // n_bins + 1 counts, aligned to 8 bytes, contents undefined: [b] for bin b, [n_bins] for the samples in no
  // bin.
  Count* d_counts = nullptr;
  std::uint32_t* d_private = nullptr;  // space for n_private · (n_bins + 1) counters, contents undefined
  std::uint32_t n_private = 0;         // threads that can have their own counters: a multiple of 32
  int multiprocessors = 1;             // to use, in some cases fewer than the device has
  CUstream_st* stream = nullptr;       // launch here; no need to synchronise, the harness does
};

// Number of threads for which Job::d_private has space: one per 256 samples, at most 65,536, with at most
// 2^23 counters (32 MiB) in all; but at least 32.
constexpr std::uint32_t n_private(std::uint64_t n, std::uint32_t n_bins) {
  std::uint64_t threads = n / 256;
  const std::uint64_t room = (std::uint64_t{1} << 23) / (n_bins + 1);
  if (threads > room) threads = room;
  if (threads > 65536) threads = 65536;
  return threads < 32 ? 32 : static_cast<std::uint32_t>(threads / 32 * 32);
}

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  global_atomics,
  private_counts,
  shared_counts,
  sort_reduce,
  combined,
  // only in the solutions:
  per_warp,
  run_lengths,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of histogram.cu

}  // namespace course::histogram

#include "histogram/dispatch.hpp"
