// SPDX-License-Identifier: MIT
// All communicators and unique ids of the process.
#pragma once

#include "nccl/clique.hpp"

namespace course::nccl {

// A new clique of so many ranks; never destroyed.
Clique& make_clique(int n_ranks);
void make_unique_id(ncclUniqueId& id);
// The clique of this id. The first call decides on the number of ranks.
Outcome find_clique(const ncclUniqueId& id, int n_ranks, Clique*& clique);

void add_communicator(ncclComm_t comm);
// Whether this is a communicator, perhaps one that has been destroyed.
bool is_communicator(const ncclComm* comm);

}  // namespace course::nccl
