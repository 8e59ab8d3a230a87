// SPDX-License-Identifier: MIT
// Copies out of page-locked host memory that a GPU may still be doing, because the host has not waited for
// their stream. The simulator does them when they are submitted. What the host writes into such a buffer
// meanwhile shows in its contents: between two operations only host code changes them. For SIM_CHECK=1; finds
// "host-writes-during-copy" in the first 1 MiB of each copy.
#pragma once

#include <functional>

#include "cudart/runtime/memory.hpp"

struct CUstream_st;

namespace course::cudart {

// Before every operation, after host code; and after it, since the device may have written, too.
void look_at_copies_in_flight();
void renew_copies_in_flight();
// The host goes on while this copy may still read its source.
void copy_submitted(const CUstream_st& stream, const CopyOp& copy);
// The host knows that the work of those streams is done.
void end_copies_in_flight(const std::function<bool(const CUstream_st*)>& ended);

}  // namespace course::cudart
