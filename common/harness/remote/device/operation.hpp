// SPDX-License-Identifier: MIT
// NCCL operations that the student's process asks for: their packets, checked, and their execution on the
// devices of this process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nccl/operation/call.hpp"
#include "protocol/packets.hpp"
#include "sim/device.hpp"

namespace course::remote {

// The call of one rank. Of a collective, operand i is that of rank i.
struct Operand {
  nccl::Call call;
  std::uint32_t device = 0;
};

// The operands of one operation, if they agree with each other: one call of each rank for a collective, or
// sends and receives of which each has a partner. Each rank has a device of its own, below `n_devices`. The
// caller has to check that the ranges of the calls are memory of these devices.
std::optional<std::vector<Operand>> read_operands(lab::PacketReader& in, std::uint32_t n_devices);

// Moves the data. Reports the bytes read and written to the devices' checkers, and adds the bytes sent and
// the modelled time to their counts.
void execute(const std::vector<Operand>& operands,
             const std::function<sim::Device&(const Operand&)>& device_of);

bool is_finding_of_nccl(std::string_view kind);
// The text with '?' for everything but printable ASCII and line ends.
std::string plain(std::string_view text);

}  // namespace course::remote
