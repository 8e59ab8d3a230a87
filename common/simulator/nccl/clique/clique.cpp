// SPDX-License-Identifier: MIT
#include "nccl/clique/clique.hpp"

namespace course::nccl {

Outcome Clique::error() {
  const Guard guard(lock_);
  return error_;
}

void Clique::note_error(ncclComm& comm, const std::string& message) {
  const Guard guard(lock_);
  comm.last_error = message;
}

int Clique::wait_for_launch(void* clique, unsigned long long id, int block) {
  return static_cast<Clique*>(clique)->wait(id, block != 0) ? 1 : 0;
}

void Clique::wait_for(ncclComm& comm) {
  std::vector<std::uint64_t> ids;
  {
    const Guard guard(lock_);
    ids = open_launches(comm);
  }
  for (const std::uint64_t id : ids) (void)wait(id, true);
}

}  // namespace course::nccl
