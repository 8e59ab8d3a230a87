// SPDX-License-Identifier: MIT
// Where the smallest failing case went wrong, from its trace: one sentence, or "" if the trace does not say.
#pragma once

#include <optional>
#include <string>

#include "smallest/values.hpp"
#include "trace/view.hpp"

namespace course::grader {

// The first wrong store between the inputs and the outputs that the lab knows (Problem::wrong_store).
std::string first_wrong_between(const TraceView& view, const lab::Task& task, const CaseValues& values);

// Another array that holds the right results, if nothing was stored in the output.
std::string right_elsewhere(const TraceView& view, const CaseValues& values,
                            const std::optional<lab::Mismatch>& mismatch);

// The earliest store that left a wrong value in an output. A value that was only copied is followed back to
// where it was computed, through `max_copies` copies at most.
std::string first_wrong_store(const TraceView& view, const CaseValues& values,
                              const std::optional<lab::Mismatch>& mismatch, int max_copies);

}  // namespace course::grader
