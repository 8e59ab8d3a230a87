// SPDX-License-Identifier: MIT
// The layout of one case in the memory that verifier and runner share.
#pragma once

#include "lab/problem.hpp"
#include "protocol/protocol.hpp"
#include "verifier/session.hpp"

namespace course::lab {

// The request to the runner for one case: the task, the number of runs, what to measure, and the offset of
// every buffer.
protocol::CaseRequest lay_out(const Problem& problem, const Task& task, const Case& c, const Shape& shape,
                              DeviceKind device, const Measure& measure);

}  // namespace course::lab
