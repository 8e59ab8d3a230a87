// SPDX-License-Identifier: MIT
// What verifier and runner say to each other: messages of one fixed size over a SOCK_SEQPACKET socket (the
// runner's descriptor 3). The runner says hello once; then each case is one CaseRequest, with a sealed memfd
// attached, and one CaseReply. Inputs, outputs and the simulator's report travel in the memfd.
// Invariant: neither side uses a field of a received message before parse() has checked the whole message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.hpp"
#include "lab/request.hpp"

namespace course::lab::protocol {

inline constexpr int kChannelFd = 3;                 // of the runner
inline constexpr std::uint32_t kMagic = 0x4c414230;  // "LAB0"
inline constexpr std::uint16_t kVersion = 3;
inline constexpr std::uint32_t kMaxBuffers = 16;  // inputs and outputs together
inline constexpr std::uint32_t kMaxParts = 8;     // of the workspace that have a name
inline constexpr std::uint32_t kMaxRuns = 64;     // of one case, warm-up included

enum class Kind : std::uint16_t { hello = 1, request = 2, reply = 3 };

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  Kind kind = Kind::hello;
  std::uint64_t sequence = 0;  // of the case in this runner's life, from 1; 0 in hello
  std::uint64_t nonce = 0;     // drawn by the verifier for each request, echoed in the reply; 0 in hello
};

template <std::size_t Capacity>
struct Text {
  std::array<char, Capacity> chars{};
  void set(std::string_view text) {
    chars.fill('\0');
    std::memcpy(chars.data(), text.data(), text.size() < Capacity - 1 ? text.size() : Capacity - 1);
  }
  // Up to the first NUL; bytes that are no printable ASCII become '?': the sender may be hostile.
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
  std::uint32_t simulated = 0;  // 1 when the library in use is the simulator's
  std::uint32_t multiprocessors = 0;
  Text<128> device;  // its name, or with multiprocessors == 0 why there is none
};

// One device buffer. The runner allocates guard_bytes + misalign + data + guard_bytes; what it downloads
// afterwards is the whole of that, so that the verifier can check that nothing but the data was written.
struct Buffer {
  std::uint64_t count = 0;        // elements
  std::uint64_t data_offset = 0;  // in the memfd: an input's contents
  std::uint64_t back_offset = 0;  // in the memfd: where the whole allocation goes after the run(s)
  std::uint32_t dtype = 0;
  std::uint32_t misalign = 0;  // bytes
  Text<24> name;
};

// A named part of the workspace, for the simulator's messages.
struct Part {
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
  std::uint32_t sim_mode = 0;   // bits of SimMode
  std::uint32_t n_warm_up = 0;  // runs before those that are timed
  std::uint32_t n_timed = 0;
  // 1: outputs and workspace, though poisoned, count as never written: for the simulator's initialisation
  // checker.
  std::uint32_t forget_poison = 0;
  std::uint64_t n = 0;
  std::array<std::int64_t, 8> params{};
  std::uint64_t workspace_bytes = 0;
  std::uint64_t workspace_back_offset = 0;  // the two guard bands of the workspace, one after the other
  std::uint64_t output_stride = 0;          // run r's outputs go to back_offset + r * output_stride
  std::uint64_t report_offset = 0;
  std::uint64_t report_capacity = 0;
  std::uint64_t go_offset = 0;                // of the GoBlock (go.hpp), when is_keyed
  std::uint64_t shared_bytes = 0;             // size of the memfd
  std::uint64_t schedule_seed = 0;            // of the simulator, see simSetSchedule
  std::array<Buffer, kMaxBuffers> buffers{};  // inputs, then outputs
  std::uint32_t n_parts = 0;
  // 1: the inputs are masked, and the one run waits for GO.
  std::uint32_t is_keyed = 0;
  std::array<Part, kMaxParts> parts{};
  std::uint32_t n_runs() const { return n_warm_up + n_timed == 0 ? 1 : n_warm_up + n_timed; }
};

// How far the runner came with a case.
enum class Stage : std::uint32_t {
  done,             // every run finished; outputs are in the memfd
  not_implemented,  // the task said so
  unsupported,      // the task offers no such (op, dtype)
  out_of_memory,    // the harness's own buffers did not fit
  cuda_error,       // a launch or kernel failed; text says which and how
  harness_error,    // something else on this side failed; text says what
  host_memory,      // the task asked the host for more memory than there is
  unordered_work,   // the task gave work to another stream than the request's and did not wait for it
};

struct CaseReply {
  Stage stage = Stage::harness_error;
  std::int32_t cuda_code = 0;  // cudaError_t of stage cuda_error
  std::uint32_t n_times = 0;
  std::uint32_t reserved = 0;
  std::uint64_t report_bytes = 0;  // of the simulator's report, without its NUL
  std::array<double, kMaxRuns> times_us{};
  Text<256> text;
};

inline constexpr std::size_t kBodyBytes = 1536;
struct Message {
  Header header;
  std::array<std::byte, kBodyBytes> body{};
};
static_assert(sizeof(Message) == sizeof(Header) + kBodyBytes && std::is_trivially_copyable_v<Message>);

template <typename Body>
Message make_message(Kind kind, std::uint64_t sequence, std::uint64_t nonce, const Body& body) {
  static_assert(std::is_trivially_copyable_v<Body> && sizeof(Body) <= kBodyBytes);
  Message message;
  message.header = {kMagic, kVersion, kind, sequence, nonce};
  std::memcpy(message.body.data(), &body, sizeof body);
  return message;
}

// The body, when every field of the message is one that a well-behaved peer could have sent.
Result<Hello> parse_hello(const Message& message);
Result<CaseRequest> parse_request(const Message& message, std::uint64_t memfd_bytes);
Result<CaseReply> parse_reply(const Message& message, std::uint64_t sequence, std::uint64_t nonce,
                              const CaseRequest& request);

// Bytes of the device allocation that holds the buffer with its guards.
std::uint64_t allocation_bytes(const Buffer& buffer, std::uint32_t guard_bytes);

// Whole messages over the channel. send_message attaches `fd` when it is >= 0. receive_message answers with
// an error when the packet has another size; `fd_out`, if given, gets an attached descriptor or -1. `eof`
// says that the peer is gone.
struct Received {
  Message message;
  int fd = -1;
  bool eof = false;
};
Result<void> send_message(int channel, const Message& message, int fd = -1);
Result<Received> receive_message(int channel, bool accept_fd);

}  // namespace course::lab::protocol
