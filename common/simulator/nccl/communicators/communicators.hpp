// SPDX-License-Identifier: MIT
// All communicators and unique ids of the process.
#pragma once

#include "nccl/clique/matcher.hpp"

namespace course::nccl {

// A new clique of so many ranks of this process; never destroyed.
Clique& make_clique(int n_ranks);
void make_unique_id(ncclUniqueId& id);
// The clique of this id, which may come from another process. The first call decides on the number of ranks.
Outcome find_clique(const ncclUniqueId& id, int n_ranks, Clique*& clique);
// The same for the n-th id of this process.
Outcome find_matcher(std::uint64_t number, int n_ranks, Matcher*& matcher);

void add_communicator(ncclComm_t comm);
// Whether this is a communicator, perhaps one that has been destroyed.
bool is_communicator(const ncclComm* comm);

}  // namespace course::nccl
