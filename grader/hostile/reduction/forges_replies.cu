// SPDX-License-Identifier: MIT
// about: Answers for the runner on its channel: garbage, a guessed nonce, the right nonce found in memory; exits with success.
// expect: neighboured WRONG_ANSWER broke the protocol
// expect: sequential WRONG_ANSWER broke the protocol
// expect: shuffle WRONG_ANSWER
// expect: single_launch OK
#include <cstring>

#include "lab/protocol.hpp"
#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {
namespace {

using namespace lab::protocol;

void send_raw(const void* bytes, std::size_t n_bytes) {
  hostile::raw_call(SYS_write, kChannelFd, hostile::address_of(bytes), static_cast<long>(n_bytes));
}

Message reply_with(std::uint64_t sequence, std::uint64_t nonce) {
  CaseReply reply;
  reply.stage = Stage::done;
  Message message{};
  message.header = {kMagic, kVersion, Kind::reply, sequence, nonce};
  std::memcpy(message.body.data(), &reply, sizeof reply);
  return message;
}

// The request lies somewhere on the stack above: its header begins with the magic number.
[[gnu::noinline]] const Header* find_request() {
  const auto* at = static_cast<const unsigned char*>(__builtin_frame_address(0));
  for (std::size_t offset = 0; offset < 64 * 1024; offset += 8) {
    Header header;
    std::memcpy(&header, at + offset, sizeof header);
    if (header.magic == kMagic && header.version == kVersion && header.kind == Kind::request &&
        header.nonce != 0)
      return reinterpret_cast<const Header*>(at + offset);
  }
  return nullptr;
}

}  // namespace

Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: send_raw("all tests passed", 16); break;
    case Rung::sequential: {
      const Message message = reply_with(1, 0x5eed);
      send_raw(&message, sizeof message);
      break;
    }
    case Rung::shuffle:
      if (const Header* header = find_request()) {
        const Message message = reply_with(header->sequence, header->nonce);
        send_raw(&message, sizeof message);
      }
      break;
    default: return dispatch(request, [](const auto& job) { return hostile::right(job); });
  }
  hostile::raw_call(SYS_exit_group, 0);
  return Status::ok;
}
}  // namespace course::reduction
