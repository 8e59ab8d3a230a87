// SPDX-License-Identifier: MIT
// What a thread has called between ncclGroupStart and ncclGroupEnd. A call outside of a group is a group of
// its own. Calls are checked when they are made; at the end of the group they are launched, unless one of
// them was wrong.
#pragma once

#include "nccl/clique/clique.hpp"

namespace course::nccl {

void start_group();
Outcome end_group(const void* code);
bool in_group();

// Adds a call of `comm`, and launches it at once outside of a group.
Outcome submit(ncclComm& comm, Call call);
// Adds a communicator that this thread initialises, and waits for its other ranks at the end of the group.
// A call that does not wait (blocking = 0) returns ncclInProgress if some have not joined.
Outcome await_ranks(Clique& clique, bool waits, const void* code);
// Makes the group fail with this result, because one of its calls has failed.
void spoil_group(const Outcome& outcome);

}  // namespace course::nccl
