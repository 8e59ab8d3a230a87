// SPDX-License-Identifier: MIT
// Histogram: count how many samples fall into each bin. The lab's API and its two kinds of bins.
// Read: the bins, Job (what a task gets), Rung (the tasks). points.hpp beside it says what they are worth,
// dispatch.hpp how a request becomes a Job. Included by the student's .cu, the solutions, the CPU side
// (problem.cpp) and the tests, so it stays light: no heavy header.
// Invariant: every sample is counted exactly once, in its bin or, if it lies in none, in one more counter
// behind the bins; so the n_bins + 1 counts add up to n, and no sample whatever can make a kernel write
// elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "lab/operators.hpp"
#include "lab/request.hpp"

namespace course::histogram {

using lab::Status;

// A count in global memory: 64 bits, since n may pass 2^32; in the words of atomicAdd, which knows no other 64-bit
// integer. Inside a kernel 32 bits are enough wherever one thread or block sees fewer than 2^32 samples.
using Count = unsigned long long;

constexpr std::uint32_t kMostBins = 65536;

// --- Bins. bin_of(bins, x) is the index of x's bin: 0 … n_bins − 1, or n_bins if x lies in none (a NaN never does).
// Bin b holds its lower edge and not its upper one; so hi, the last edge, lies outside.

enum class OpId : std::uint32_t { even, edges };
constexpr const char* name_of(OpId op) {
  return op == OpId::even ? "even" : "edges";
}

// What a bound of bins for samples T is kept in: it must be able to say "one past the largest".
template <typename T>
using Bound = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
// What explicit edges for samples T are kept in.
template <typename T>
using Edge = std::conditional_t<std::is_same_v<T, std::uint8_t>, std::int32_t, T>;

// Bins of equal width over [lo, hi). Integers: the exact ⌊(x − lo) · n_bins / (hi − lo)⌋. Floats: two roundings,
// (x − lo) · (n_bins / (hi − lo)), so a sample next to an edge may land on the other side of it; the bin that bin_of
// says *is* its bin. Host and device run this one function, and get the same bits.
template <typename T, bool kInteger = std::is_integral_v<T>>
struct EvenBins;

template <typename T>
struct EvenBins<T, true> {
  std::uint32_t n_bins;                     // 1 … kMostBins
  std::int64_t lo, hi;                      // -2^31 ≤ lo < hi ≤ 2^31
  std::uint32_t last;                       // hi − 1 − lo
  std::uint32_t inverse_high, inverse_low;  // ⌈n_bins · 2^(32 + shift) / (hi − lo)⌉, in two halves
  std::uint32_t shift;                      // 0 or 32

  // A division by r = hi − lo, done once here, and a multiplication for each sample. With d = x − lo < r the quotient
  // d · inverse / 2^(32 + shift) is too large by less than d / 2^(32 + shift) < 1 / r, as r² ≤ 2^(32 + shift); this
  // lifts no d · n_bins / r over the next whole number.
  COURSE_HD constexpr EvenBins(std::uint32_t count, std::int64_t low, std::int64_t high)
      : n_bins(count), lo(low), hi(high), last(0), inverse_high(0), inverse_low(0), shift(0) {
    const std::uint64_t range = static_cast<std::uint64_t>(high - low);
    last = static_cast<std::uint32_t>(range - 1);
    const std::uint64_t scaled = std::uint64_t{count} << 32;
    std::uint64_t inverse = (scaled + range - 1) / range;
    if (range > 65536) {  // 32 digits more, by long division
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
  std::uint32_t n_bins;  // 1 … kMostBins
  T lo, hi;              // finite, lo < hi, and hi − lo is finite
  T scale;               // n_bins / (hi − lo), rounded

  COURSE_HD constexpr EvenBins(std::uint32_t count, T low, T high)
      : n_bins(count), lo(low), hi(high), scale(static_cast<T>(count) / (high - low)) {}
};

// Given: the bin of a sample among bins of equal width.
template <typename T>
COURSE_HD constexpr std::uint32_t bin_of(const EvenBins<T>& bins, T sample) {
  if constexpr (std::is_integral_v<T>) {
    // Modulo 2^32 a sample below lo wraps round to a distance that is too long, too: one comparison sees both.
    const std::uint32_t distance = static_cast<std::uint32_t>(sample) - static_cast<std::uint32_t>(bins.lo);
    if (distance > bins.last) return bins.n_bins;
    const std::uint64_t low = std::uint64_t{distance} * bins.inverse_low;
    return static_cast<std::uint32_t>((std::uint64_t{distance} * bins.inverse_high + (low >> 32)) >>
                                      bins.shift);
  } else {
    if (!(sample >= bins.lo && sample < bins.hi)) return bins.n_bins;  // turned round, so that NaN fails it
    const std::uint32_t bin = static_cast<std::uint32_t>((sample - bins.lo) * bins.scale);
    return bin < bins.n_bins ? bin : bins.n_bins - 1;  // just below hi the product may round up to n_bins
  }
}

// Bins between explicit edges: bin b is [edge[b], edge[b + 1]). bin_of for them is yours to write, in histogram.cu.
template <typename T>
struct EdgeBins {
  std::uint32_t n_bins;    // 1 … kMostBins
  const Edge<T>* d_edges;  // n_bins + 1 of them, strictly ascending, no NaN; never written
};

// --- What a task gets. All pointers are device memory that the harness owns; never allocate, never write d_in.
template <typename T, typename Bins>
struct Job {
  const T* d_in = nullptr;  // n samples; aligned to sizeof(T) and to no more
  std::uint64_t n = 0;      // may be 0: every count is then 0
  Bins bins{};              // bin_of(bins, sample), bins.n_bins
  // n_bins + 1 counts, aligned to 8 bytes, contents undefined: [b] of bin b, [n_bins] of what lies in no bin.
  Count* d_counts = nullptr;
  std::uint32_t* d_private = nullptr;  // room for n_private · (n_bins + 1) counters, contents undefined
  std::uint32_t n_private = 0;         // threads that can have counters of their own: a multiple of 32
  int multiprocessors = 1;             // of this device, to size a grid by
  CUstream_st* stream = nullptr;       // launch here; no need to synchronise, the harness does
};

// Threads for which Job::d_private has room: one for 256 samples, and no more counters than 2^23 (32 MiB), but a warp
// of them at least.
constexpr std::uint32_t n_private(std::uint64_t n, std::uint32_t n_bins) {
  std::uint64_t threads = n / 256;
  const std::uint64_t room = (std::uint64_t{1} << 23) / (n_bins + 1);
  if (threads > room) threads = room;
  if (threads > 65536) threads = 65536;
  return threads < 32 ? 32 : static_cast<std::uint32_t>(threads / 32 * 32);
}

// What an untouched task returns.
template <typename T, typename Bins>
Status not_implemented(const Job<T, Bins>&) {
  return Status::not_implemented;
}

// --- Tasks, in the order of points.hpp, then the rungs of the ladder that only the solutions have.
enum class Rung : std::uint32_t {
  global_atomics,
  private_counts,
  shared_counts,
  sort_reduce,
  combined,
  // not asked of students:
  per_warp,
  run_lengths,
  state_of_the_art,
};

Status run(const lab::Request& request);  // the last lines of histogram.cu

}  // namespace course::histogram

#include "histogram/dispatch.hpp"
