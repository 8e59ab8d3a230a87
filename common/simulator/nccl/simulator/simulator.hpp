// SPDX-License-Identifier: MIT
// What is needed of the simulator's libcudart besides sim_parts.h. Ends the process if another libcudart is
// loaded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cudart/sim_parts.h"

namespace course::nccl {

int current_device();  // of this thread
int n_devices();
bool allocate(void** pointer, std::size_t n_bytes);
bool release(void* pointer);
// Asks the process with the devices to move the data, if that is another one. false: they are in this one.
bool operate_elsewhere(const std::vector<SimOperand>& operands);
// Prints "simulator: <text>" on stderr, unless SIM_QUIET=1.
void say(const std::string& text);

}  // namespace course::nccl
