// SPDX-License-Identifier: MIT
// What the times of runs on a GPU are worth: our own clock's against the runner's, and against what memory
// can do.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/go.hpp"
#include "verifier/judge.hpp"

namespace course::lab {

// Whether the outputs that came back are those whose digest stopped the clock.
Judgement judge_digest(const protocol::CaseRequest& request, std::span<const std::byte> shared,
                       std::uint64_t key, const Digest& told, bool stopped);

// Each run's clock less the cheapest of all rehearsals: never flattering. (The rehearsal's, the run's;
// microseconds.)
std::vector<double> without_rehearsal(std::span<const std::array<double, 2>> clocks);

// What counts: each run's events, as far as our clock bears them out. An honest run's clock says a few
// microseconds more (launches and events of its own), so that much less than the clock is believed, and
// nothing below.
std::vector<double> borne_out(std::span<const double> clock_us, std::span<const double> events_us);

// Of a run on the simulator: SUSPECT when the model's time is below what the chip's memory takes to move the
// bytes.
Judgement judge_modelled_time(double modelled_us, double memory_gb_per_s, double ideal_bytes);

// SUSPECT, for a person to look at, when the two clocks disagree or the time is below what moving the bytes
// takes.
Judgement judge_times(std::span<const double> clock_us, std::span<const double> events_us,
                      double ideal_bytes);

}  // namespace course::lab
