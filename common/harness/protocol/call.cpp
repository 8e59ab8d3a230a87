// SPDX-License-Identifier: MIT
#include "protocol/call.hpp"

#include <string>

#include "protocol/protocol.hpp"

namespace course::lab {
namespace {

struct Head {
  std::uint32_t task, op, dtype;
  std::int32_t multiprocessors;
  std::uint64_t n;
  std::array<std::int64_t, 8> params;
  std::uint64_t workspace, workspace_bytes;
  std::uint32_t n_inputs, n_outputs;
  std::uint32_t n_ranks, reserved;
};
struct Buffer {
  std::uint64_t address, count;
  std::uint64_t dtype;
};

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}
void* pointer_to(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT: of the device's memory, agreed with its process
}

constexpr auto kLastDType = static_cast<std::uint64_t>(DType::f64);

}  // namespace

PacketWriter encode_call(const Request& request) {
  PacketWriter out;
  out.put(Head{request.task, request.op, static_cast<std::uint32_t>(request.dtype), request.multiprocessors,
               request.n, request.params, address_of(request.d_workspace), request.workspace_bytes,
               static_cast<std::uint32_t>(request.inputs.size()),
               static_cast<std::uint32_t>(request.outputs.size()),
               static_cast<std::uint32_t>(request.ranks.size()), 0});
  for (const auto buffers : {request.inputs, request.outputs}) {
    for (const DeviceBuffer& one : buffers)
      out.put(Buffer{address_of(one.data), one.count, static_cast<std::uint64_t>(one.dtype)});
  }
  for (const Rank& rank : request.ranks) out.put(rank.device).put(address_of(rank.d_workspace));
  return out;
}

Result<Call> decode_call(const Packet& packet) {
  PacketReader in(packet);
  const auto head = in.get<Head>();
  const std::uint64_t n_buffers = std::uint64_t{head.n_inputs} + head.n_outputs;
  if (packet.kind != PacketKind::call || !in.ok() || n_buffers > protocol::kMaxBuffers ||
      head.n_ranks > kMaxDevices || head.dtype > kLastDType)
    return Error{"that is not a call"};
  Call call;
  for (std::uint64_t i = 0; i < n_buffers; ++i) {
    const auto one = in.get<Buffer>();
    if (one.dtype > kLastDType) return Error{"a buffer of an unknown type"};
    call.buffers.push_back({pointer_to(one.address), one.count, static_cast<DType>(one.dtype)});
  }
  for (std::uint32_t i = 0; i < head.n_ranks; ++i) {
    Rank rank;
    rank.device = in.get<std::int32_t>();
    rank.d_workspace = pointer_to(in.get<std::uint64_t>());
    call.ranks.push_back(rank);
  }
  if (!in.complete()) return Error{"a call of another length"};
  Request& request = call.request;
  request.task = head.task;
  request.op = head.op;
  request.dtype = static_cast<DType>(head.dtype);
  request.n = head.n;
  request.params = head.params;
  request.inputs = std::span(call.buffers).first(head.n_inputs);
  request.outputs = std::span(call.buffers).subspan(head.n_inputs);
  request.d_workspace = pointer_to(head.workspace);
  request.workspace_bytes = head.workspace_bytes;
  request.multiprocessors = head.multiprocessors;
  request.ranks = call.ranks;
  return call;
}

PacketWriter encode_finished(const FinishedCall& finished) {
  PacketWriter out;
  out.put(finished);
  return out;
}

Result<FinishedCall> decode_finished(const Packet& packet) {
  PacketReader in(packet);
  const auto finished = in.get<FinishedCall>();
  const auto status = static_cast<std::int32_t>(finished.status);
  if (packet.kind != PacketKind::finished || !in.complete() || finished.out_of_memory > 1 ||
      finished.unordered > 1)
    return Error{"that is not an end of a call"};
  if (status < 0 || status > static_cast<std::int32_t>(Status::unsupported))
    return Error{"the answer " + std::to_string(status) + " is none of the values of Status"};
  return finished;
}

}  // namespace course::lab
