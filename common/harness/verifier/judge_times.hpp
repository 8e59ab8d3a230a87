// SPDX-License-Identifier: MIT
// Judges the times of runs on a GPU: compares the verifier's clock with the runner's events, and both with
// the time that memory needs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/go.hpp"
#include "verifier/judge.hpp"

namespace course::lab {

// Checks that the returned outputs are those whose digest stopped the clock.
Judgement judge_digest(const protocol::CaseRequest& request, std::span<const std::byte> shared,
                       std::uint64_t key, const Digest& reported, bool stopped);

// The clock of each run minus the shortest rehearsal. (Pairs of rehearsal and run, in microseconds.) It can
// be less than the task took: on an H100 it was 6 to 9 us less than the events. A likely reason is that the
// digest reads what the task has just written from the cache, and the rehearsal's digest does not.
std::vector<double> without_rehearsal(std::span<const std::array<double, 2>> clocks);

// The times that count: each run's events, but not less than our clock minus the usual difference of a few
// microseconds (for launches and events) between the clock and the events of a run.
std::vector<double> borne_out(std::span<const double> clock_us, std::span<const double> events_us);

// For a run on the simulator: SUSPECT if the modelled time is less than the chip's memory needs to move the
// bytes.
Judgement judge_modelled_time(double modelled_us, double memory_gb_per_s, double ideal_bytes);

// SUSPECT, which a person must examine, if the two clocks disagree or the time that counts (borne_out) is
// less than the device's memory needs to move the bytes. memory_gb_per_s 0: the memory's rate is not known.
Judgement judge_times(std::span<const double> times_us, std::span<const double> clock_us,
                      std::span<const double> events_us, double ideal_bytes, double memory_gb_per_s);

}  // namespace course::lab
