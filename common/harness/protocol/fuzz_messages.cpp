// SPDX-License-Identifier: MIT
// Fuzz target: the messages of a runner. A message that parse_*() accepts must keep the bounds on which its
// users rely.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "protocol/protocol.hpp"

namespace {

using namespace course::lab::protocol;

// Uses the message as its receiver would.
void use(const CaseRequest& request, std::uint64_t shared_bytes) {
  if (request.n_inputs + request.n_outputs > kMaxBuffers || request.n_parts > kMaxParts) std::abort();
  for (std::uint32_t i = 0; i < request.n_inputs + request.n_outputs; ++i) {
    const Buffer& buffer = request.buffers[i];
    const std::uint64_t bytes = allocation_bytes(buffer, request.guard_bytes);
    if (bytes > shared_bytes || buffer.back_offset > shared_bytes - bytes) std::abort();
  }
  if (request.report_capacity > shared_bytes ||
      request.report_offset > shared_bytes - request.report_capacity)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Message message;
  std::memcpy(&message, data, size < sizeof message ? size : sizeof message);
  if (const auto hello = parse_hello(message)) static_cast<void>(hello->device.str());
  constexpr std::uint64_t kShared = 1 << 20;
  const auto request = parse_request(message, kShared);
  if (request) use(*request, kShared);
  CaseRequest asked;
  asked.report_capacity = 4096;
  if (const auto reply = parse_reply(message, message.header.sequence, message.header.nonce, asked)) {
    static_cast<void>(reply->text.str());
    if (reply->report_bytes > asked.report_capacity) std::abort();
  }
  return 0;
}
