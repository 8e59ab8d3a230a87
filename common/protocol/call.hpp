// SPDX-License-Identifier: MIT
// A call of the student's code from another process: the Request as a packet, and what came of it.
// Invariant: decode_* accepts only what encode_* could have made.
#pragma once

#include <vector>

#include "lab/request.hpp"
#include "protocol/packets.hpp"

namespace course::lab {

// A Request with what its spans point to.
struct Call {
  Request request;
  std::vector<DeviceBuffer> buffers;
};
// Without the stream: each process has its own.
PacketWriter encode_call(const Request& request);
Result<Call> decode_call(const Packet& packet);

struct FinishedCall {
  std::uint32_t out_of_memory = 0;  // the host's: std::bad_alloc
  Status status = Status::ok;
  std::int32_t cuda_code = 0;   // of launches that were refused; a kernel's fault the device knows by itself
  std::uint32_t unordered = 0;  // 1: work in another stream than the call's, for which nothing waits
};
PacketWriter encode_finished(const FinishedCall& finished);
Result<FinishedCall> decode_finished(const Packet& packet);

}  // namespace course::lab
