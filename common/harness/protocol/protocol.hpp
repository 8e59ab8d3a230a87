// SPDX-License-Identifier: MIT
// The messages between verifier and runner: of fixed size, over a SOCK_SEQPACKET socket (descriptor 3 of the
// runner). The runner sends Hello once. Then each case is one CaseRequest, with a sealed memfd attached, and
// one CaseReply. Inputs, outputs, the bands of the workspace, the simulator's report and the GoBlock of a
// timed run (go.hpp) are in the memfd.
// Invariant: neither side uses the body of a received message before a parse_*() function has checked it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.hpp"
#include "lab/request.hpp"

namespace course::lab::protocol {

inline constexpr int kChannelFd = 3;                 // in the runner
inline constexpr std::uint32_t kMagic = 0x4c414230;  // "LAB0"
inline constexpr std::uint16_t kVersion = 5;
inline constexpr std::uint32_t kMaxBuffers = 16;  // inputs and outputs of a case
inline constexpr std::uint32_t kMaxParts = 8;     // named parts of the workspace

enum class MessageKind : std::uint16_t { hello = 1, request = 2, reply = 3 };

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  MessageKind kind = MessageKind::hello;
  std::uint64_t sequence = 0;  // number of the case in this runner, from 1; 0 in hello
  std::uint64_t nonce = 0;     // random for each request, repeated in the reply; 0 in hello
};

template <std::size_t Capacity>
struct Text {
  std::array<char, Capacity> chars{};
  void set(std::string_view text) {
    chars.fill('\0');
    std::memcpy(chars.data(), text.data(), text.size() < Capacity - 1 ? text.size() : Capacity - 1);
  }
  // The text up to the first NUL. Bytes other than printable ASCII become '?', because the sender may be
  // hostile.
  std::string str() const {
    std::string out;
    for (const char c : chars) {
      if (c == '\0') break;
      out += c >= ' ' && c <= '~' ? c : '?';
    }
    return out;
  }
};

struct Hello {
  std::uint32_t simulated = 0;  // 1 if the runner uses the simulator's library
  std::uint32_t multiprocessors = 0;
  Text<128> device;  // its name; if multiprocessors is 0, why there is no device
};

// One device buffer. The runner allocates guard_bytes + misalign + data + guard_bytes and returns all of
// these bytes, so that the verifier can check that nothing outside the data was written.
struct Buffer {
  std::uint64_t count = 0;        // elements
  std::uint64_t data_offset = 0;  // in the memfd: the contents of an input
  std::uint64_t back_offset = 0;  // in the memfd: destination of the whole allocation after the run
  std::uint32_t dtype = 0;
  std::uint32_t misalign = 0;  // bytes
  Text<24> name;
};

// An array in the workspace. They are in ascending order; nothing else of the workspace may be accessed.
struct WorkspacePart {
  std::uint64_t first_byte = 0;
  std::uint64_t count = 0;  // elements
  std::uint32_t dtype = 0;
  std::uint32_t reserved = 0;
  Text<24> name;
};

struct CaseRequest {
  std::uint32_t task = 0;
  std::uint32_t op = 0;
  std::uint32_t dtype = 0;
  std::uint32_t n_inputs = 0;
  std::uint32_t n_outputs = 0;
  std::uint32_t guard_bytes = 0;
  std::uint32_t sim_mode = 0;  // bits of SimMode
  std::uint32_t is_timed = 0;  // 1: on a GPU, by events, and with the cache cleared before
  // 1: the simulator's initialisation checker treats outputs and workspace as never written, although they
  // are poisoned.
  std::uint32_t forget_poison = 0;
  std::uint64_t n = 0;
  std::array<std::int64_t, 8> params{};
  std::uint64_t workspace_bytes = 0;
  std::uint64_t workspace_back_offset =
      0;  // destination of what surrounds the workspace's arrays: bands_of()
  std::uint64_t report_offset = 0;
  std::uint64_t report_capacity = 0;
  std::uint64_t go_offset = 0;                // of the GoBlock (go.hpp), if is_keyed
  std::uint64_t shared_bytes = 0;             // size of the memfd
  std::uint64_t schedule_seed = 0;            // for the simulator, see simSetSchedule
  std::array<Buffer, kMaxBuffers> buffers{};  // inputs, then outputs
  std::uint32_t n_parts = 0;
  // 1: the inputs are masked, and the only run waits for GO.
  std::uint32_t is_keyed = 0;
  std::array<WorkspacePart, kMaxParts> parts{};
  std::uint32_t n_devices = 1;  // input i is on device i % n_devices, and so is output i
  // 1: in the memory of the case before in this process, if there was one. It had the same buffers.
  std::uint32_t same_memory = 0;
  std::uint32_t multiprocessors = 0;  // the most that the request says; 0: the device's own number
};

// How a case ended in the runner.
enum class CaseEnd : std::uint32_t {
  done,             // the run finished; outputs are in the memfd
  not_implemented,  // the task returned Status::not_implemented
  unsupported,      // the task returned Status::unsupported
  out_of_memory,    // the harness's buffers did not fit into device memory
  cuda_error,       // a launch or kernel failed; `text` has the error
  harness_error,    // something else failed in the runner; `text` says what
  host_memory,      // the task's host code ran out of memory
  unordered_work,   // the task left work in another stream than the request's
  refused,          // the task used what is outside of the course's subset; `text` says what
  crashed,          // the task's host code accessed an invalid address; `text` says which
};

struct CaseReply {
  CaseEnd end = CaseEnd::harness_error;
  std::int32_t cuda_code = 0;      // cudaError_t, if end is cuda_error
  std::uint64_t report_bytes = 0;  // of the simulator's report, without its NUL
  double time_us = 0;              // of the events around the run, if the request is timed
  Text<256> text;
};

inline constexpr std::size_t kBodyBytes = 1536;
struct Message {
  Header header;
  std::array<std::byte, kBodyBytes> body{};
};
static_assert(sizeof(Message) == sizeof(Header) + kBodyBytes && std::is_trivially_copyable_v<Message>);

template <typename Body>
Message make_message(MessageKind kind, std::uint64_t sequence, std::uint64_t nonce, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= kBodyBytes);
  Message message;
  message.header = {kMagic, kVersion, kind, sequence, nonce};
  std::memcpy(message.body.data(), &body, sizeof body);
  return message;
}

// The body, if the message is of this kind and version, and its sizes, offsets, numbers of elements and
// enumerations are valid.
Result<Hello> parse_hello(const Message& message);
Result<CaseRequest> parse_request(const Message& message, std::uint64_t memfd_bytes);
Result<CaseReply> parse_reply(const Message& message, std::uint64_t sequence, std::uint64_t nonce,
                              const CaseRequest& request);

// The size in bytes of the device allocation for the buffer with its guard bands.
std::uint64_t allocation_bytes(const Buffer& buffer, std::uint32_t guard_bytes);

// What surrounds the arrays of a workspace: the guard band in front, the gap after each array, and the band
// behind, where guard bands are used. Their bytes stand one after the other from workspace_back_offset on.
struct Band {
  std::uint64_t first_byte = 0;  // in the allocation, which begins with the band in front
  std::uint64_t n_bytes = 0;
};
std::vector<Band> bands_of(const CaseRequest& request);

// Send and receive whole messages. send_message attaches the descriptor `fd` if it is >= 0. receive_message
// returns an Error if the packet has another size; Received::fd is the attached descriptor (only with
// accept_fd) or -1; Received::eof says that the other side has closed the channel.
struct Received {
  Message message;
  int fd = -1;
  bool eof = false;
};
Result<void> send_message(int channel, const Message& message, int fd = -1);
Result<Received> receive_message(int channel, bool accept_fd);

}  // namespace course::lab::protocol
