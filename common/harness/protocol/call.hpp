// SPDX-License-Identifier: MIT
// A call of the student's code from another process: the Request and the result as packets.
// Invariant: decode_* accepts only packets that encode_* could have made.
#pragma once

#include <vector>

#include "lab/request.hpp"
#include "protocol/packets.hpp"

namespace course::lab {

// A Request and what its spans point to. `request` refers to the vectors, so do not copy a Call.
struct Call {
  Request request;
  std::vector<DeviceBuffer> buffers;
  std::vector<Rank> ranks;
};
// The packet contains neither streams nor communicators, because each process has its own.
PacketWriter encode_call(const Request& request);
Result<Call> decode_call(const Packet& packet);

struct FinishedCall {
  std::uint32_t out_of_memory = 0;  // 1: the host code ran out of memory (std::bad_alloc)
  Status status = Status::ok;
  std::int32_t cuda_code = 0;  // cudaError_t of refused launches; the device's process knows of kernel faults
  std::uint32_t unordered = 0;  // 1: the call left work in a stream that is not ordered with its own
};
PacketWriter encode_finished(const FinishedCall& finished);
Result<FinishedCall> decode_finished(const Packet& packet);

}  // namespace course::lab
