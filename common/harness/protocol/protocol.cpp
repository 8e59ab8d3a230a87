// SPDX-License-Identifier: MIT
#include "protocol/protocol.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cmath>
#include <span>

#include "protocol/go.hpp"
#include "protocol/packets.hpp"

namespace course::lab::protocol {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;  // an upper bound of every size in a message

template <typename Body>
Result<Body> body_of(const Message& message, MessageKind kind) {
  if (message.header.magic != kMagic) return Error{"a message with a wrong magic number"};
  if (message.header.version != kVersion) return Error{"a message of another protocol version"};
  if (message.header.kind != kind) return Error{"a message of an unexpected kind"};
  Body body;
  std::memcpy(&body, message.body.data(), sizeof body);
  return body;
}

// Whether [offset, offset + size) lies in a memfd of `total` bytes.
bool lies_in(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return size <= total && offset <= total - size;
}

}  // namespace

std::uint64_t allocation_bytes(const Buffer& buffer, std::uint32_t guard_bytes) {
  const std::uint64_t data = buffer.count * bytes_of(static_cast<DType>(buffer.dtype));
  return 2 * std::uint64_t{guard_bytes} + buffer.misalign + data;
}

std::vector<Band> bands_of(const CaseRequest& request) {
  std::vector<Band> bands;
  const std::uint64_t guard = request.guard_bytes;
  if (guard == 0) return bands;
  std::uint64_t end = 0;
  for (const WorkspacePart& part : std::span(request.parts).first(request.n_parts)) {
    bands.push_back({end, guard + part.first_byte - end});
    end = guard + part.first_byte + part.count * bytes_of(static_cast<DType>(part.dtype));
  }
  if (request.n_parts == 0) {
    bands.push_back({0, guard});
    end = guard + request.workspace_bytes;
  }
  bands.push_back({end, guard + request.workspace_bytes + guard - end});
  return bands;
}

Result<Hello> parse_hello(const Message& message) {
  auto hello = body_of<Hello>(message, MessageKind::hello);
  if (!hello) return hello;
  if (message.header.sequence != 0 || message.header.nonce != 0) return Error{"a hello with a case's number"};
  if (hello->simulated > 1 || hello->multiprocessors > 100'000)
    return Error{"a hello with impossible numbers"};
  return hello;
}

Result<CaseRequest> parse_request(const Message& message, std::uint64_t memfd_bytes) {
  auto request = body_of<CaseRequest>(message, MessageKind::request);
  if (!request) return request;
  const CaseRequest& r = *request;
  if (r.shared_bytes != memfd_bytes || memfd_bytes > kMaxBytes) return Error{"a request for another memfd"};
  const std::uint64_t n_buffers = std::uint64_t{r.n_inputs} + r.n_outputs;
  if (n_buffers > kMaxBuffers) return Error{"a request with too many buffers"};
  if (r.is_timed > 1) return Error{"a request of an unknown kind"};
  if (r.guard_bytes > (1u << 20) || r.guard_bytes % 256 != 0) return Error{"a request with odd guard bands"};
  if (r.dtype > static_cast<std::uint32_t>(DType::f64)) return Error{"a request with an unknown item type"};
  if (r.workspace_bytes > kMaxBytes) return Error{"a request of impossible size"};
  for (std::uint32_t i = 0; i < n_buffers; ++i) {
    const Buffer& buffer = r.buffers[i];
    if (buffer.dtype > static_cast<std::uint32_t>(DType::f64)) return Error{"a buffer of unknown item type"};
    if (buffer.count > kMaxBytes / 8 || buffer.misalign > 4096) return Error{"a buffer of impossible size"};
    const std::uint64_t data = buffer.count * bytes_of(static_cast<DType>(buffer.dtype));
    const std::uint64_t whole = allocation_bytes(buffer, r.guard_bytes);
    if (i < r.n_inputs && !lies_in(buffer.data_offset, data, memfd_bytes))
      return Error{"an input outside the memfd"};
    if (!lies_in(buffer.back_offset, whole, memfd_bytes)) return Error{"a buffer outside the memfd"};
  }
  if (r.n_devices < 1 || r.n_devices > kMaxDevices)
    return Error{"a request for an impossible number of devices"};
  if (r.n_parts > kMaxParts) return Error{"a request with too many parts of the workspace"};
  std::uint64_t end = 0;  // of the part before
  for (std::uint32_t i = 0; i < r.n_parts; ++i) {
    const WorkspacePart& part = r.parts[i];
    if (part.dtype > static_cast<std::uint32_t>(DType::f64)) return Error{"a part of unknown item type"};
    const std::uint64_t n_bytes = part.count * bytes_of(static_cast<DType>(part.dtype));
    if (part.count > kMaxBytes / 8 || !lies_in(part.first_byte, n_bytes, r.workspace_bytes))
      return Error{"a part outside the workspace"};
    if (part.first_byte < end) return Error{"a part that overlaps the one before it"};
    end = part.first_byte + n_bytes;
  }
  if (r.is_keyed > 1 ||
      (r.is_keyed == 1 && (!lies_in(r.go_offset, kGoBytes, memfd_bytes) || r.go_offset % 64 != 0)))
    return Error{"a keyed run that can't be"};
  std::uint64_t band_bytes = 0;
  for (const Band& band : bands_of(r)) band_bytes += band.n_bytes;
  if (!lies_in(r.workspace_back_offset, band_bytes, memfd_bytes) ||
      !lies_in(r.report_offset, r.report_capacity, memfd_bytes)) {
    return Error{"a region outside the memfd"};
  }
  return request;
}

Result<CaseReply> parse_reply(const Message& message, std::uint64_t sequence, std::uint64_t nonce,
                              const CaseRequest& request) {
  auto reply = body_of<CaseReply>(message, MessageKind::reply);
  if (!reply) return reply;
  if (message.header.sequence != sequence) return Error{"a reply to another case"};
  if (message.header.nonce != nonce) return Error{"a reply without this case's nonce"};
  if (reply->end > CaseEnd::crashed) return Error{"a reply with an unknown stage"};
  if (reply->report_bytes > 0 && reply->report_bytes >= request.report_capacity) {
    return Error{"a reply with an impossible report size"};
  }
  if (!std::isfinite(reply->time_us) || reply->time_us < 0) return Error{"a reply with an impossible time"};
  return reply;
}

Result<void> send_message(int channel, const Message& message, int fd) {
  iovec part{const_cast<Message*>(&message), sizeof message};
  return send_parts(channel, std::span(&part, 1), fd);
}

Result<Received> receive_message(int channel, bool accept_fd) {
  Received received;
  iovec part{&received.message, sizeof received.message};
  const auto size = receive_parts(channel, std::span(&part, 1), accept_fd ? &received.fd : nullptr);
  if (!size) return size.error();
  received.eof = *size == 0;
  if (received.eof || *size == sizeof received.message) return received;
  if (received.fd >= 0) close(received.fd);
  return Error{"a message of " + std::to_string(*size) + " bytes instead of " +
               std::to_string(sizeof received.message)};
}

}  // namespace course::lab::protocol
