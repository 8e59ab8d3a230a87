// SPDX-License-Identifier: MIT
// Where everything of one case lies in the memory that verifier and runner share.
#pragma once

#include "lab/problem.hpp"
#include "protocol/protocol.hpp"
#include "verifier/session.hpp"

namespace course::lab {

// The request to the runner for one case: what to run, how often, with what looked at, and every buffer's
// place.
protocol::CaseRequest lay_out(const Problem& problem, const Task& task, const Case& c, const Shape& shape,
                              DeviceKind device, const Measure& measure);

}  // namespace course::lab
