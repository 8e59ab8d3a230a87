// SPDX-License-Identifier: MIT
#include "sim/observers.hpp"

#include "sim/dataflow.hpp"

namespace course::sim {

Observers::Observers() = default;
Observers::~Observers() = default;

void Observers::allocated(std::uint64_t, std::uint64_t) {}
void Observers::host_wrote(std::uint64_t, std::uint64_t) {}

Observer* Observers::begin(std::uint32_t mode, const Program&, Arena& arena, std::vector<Finding>&) {
  active_ = (mode & kDataflow) != 0;
  if (!active_) return nullptr;
  if (!dataflow_) dataflow_ = std::make_unique<Dataflow>(arena);
  return dataflow_.get();
}

void Observers::end(Counters& counters) {
  if (!active_) return;
  counters.work = dataflow_->take_work();
  counters.steps = dataflow_->steps();
}

void Observers::reset() {
  dataflow_.reset();
}

}  // namespace course::sim
