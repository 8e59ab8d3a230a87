// SPDX-License-Identifier: MIT
#include "verifier/judge_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace course::lab {
namespace {

// A timed run starts with empty caches, but what it writes may stay in them: about half of the bytes.
constexpr double kOverMemory = 2;
// How much the clock of an ordinary run exceeds its events: 6 to 10 us on an H200 for every kernel.
constexpr double kBelievedUs = 8;
// The difference that launches and the measurement itself may cause.
constexpr double kSlackUs = 25, kSlackShare = 0.3;

double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  if (sorted.empty()) return 0;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace

Judgement judge_digest(const protocol::CaseRequest& request, std::span<const std::byte> shared,
                       std::uint64_t key, const Digest& reported, bool stopped) {
  if (!stopped)
    return judged(Verdict::suspect, "gave an answer without stopping the clock",
                  "its time could not be taken: a person has to look");
  Digest digest;
  for (std::uint32_t i = request.n_inputs; i < request.n_inputs + request.n_outputs; ++i) {
    const auto& buffer = request.buffers[i];
    const auto data = shared.subspan(buffer.back_offset + request.guard_bytes + buffer.misalign,
                                     buffer.count * bytes_of(static_cast<DType>(buffer.dtype)));
    add_digest(digest, data, key_of_buffer(key, i));
  }
  if (digest == reported) return {};
  return judged_for(Verdict::wrong_answer, "had not finished its answer when it said so",
                    "work in another stream, or after the task returned");
}

std::vector<double> without_rehearsal(std::span<const std::array<double, 2>> clocks) {
  double cheapest = clocks.empty() ? 0 : clocks.front()[kRehearsal];
  for (const auto& clock : clocks) cheapest = std::min(cheapest, clock[kRehearsal]);
  std::vector<double> times;
  for (const auto& clock : clocks) times.push_back(std::max(clock[kRun] - cheapest, 0.0));
  return times;
}

std::vector<double> borne_out(std::span<const double> clock_us, std::span<const double> events_us) {
  std::vector<double> times;
  for (std::size_t i = 0; i < clock_us.size(); ++i)
    times.push_back(std::max(i < events_us.size() ? events_us[i] : 0.0, clock_us[i] - kBelievedUs));
  return times;
}

Judgement judge_modelled_time(double modelled_us, double memory_gb_per_s, double ideal_bytes) {
  // The model counts written bytes slightly less than read bytes (write_share in sim/timing.hpp).
  constexpr double kMinShare = 0.95;
  if (!(memory_gb_per_s > 0)) return {};
  const double floor = kMinShare * ideal_bytes / (memory_gb_per_s * 1e3);
  if (modelled_us >= floor) return {};
  return judged(Verdict::suspect, "is faster than memory can be",
                fmt::format("{:.1f} us modelled for bytes that take {:.1f} us to move: a person has to look",
                            modelled_us, floor));
}

Judgement judge_times(std::span<const double> times_us, std::span<const double> clock_us,
                      std::span<const double> events_us, double ideal_bytes, double memory_gb_per_s) {
  const double time = median_of(times_us), clock = median_of(clock_us), events = median_of(events_us);
  const double floor = memory_gb_per_s > 0 ? ideal_bytes / (kOverMemory * memory_gb_per_s * 1e3) : 0;
  if (time < floor)
    return judged(
        Verdict::suspect, "is faster than memory can be",
        fmt::format("{:.1f} us for bytes that take {:.1f} us to move: a person has to look", time, floor));
  const auto differ = [](double one, double other) {
    return std::abs(one - other) > std::max(kSlackUs, kSlackShare * std::max(one, other));
  };
  if (differ(clock, events)) {
    std::size_t n_alike = 0;
    const std::size_t n = std::min(clock_us.size(), events_us.size());
    for (std::size_t i = 0; i < n; ++i) n_alike += differ(clock_us[i], events_us[i]) ? 0u : 1u;
    const std::string busy =
        n_alike == 0 ? ""
                     : fmt::format(
                           "; in {} of {} runs both agree, so the machine may have been busy: grade it "
                           "once more when it is idle",
                           n_alike, n);
    return judged(Verdict::suspect, "has two different times",
                  fmt::format("{:.1f} us by the grader's clock, {:.1f} us by its own events{}: a person has "
                              "to look",
                              clock, events, busy));
  }
  return {};
}

}  // namespace course::lab
