// SPDX-License-Identifier: MIT
// about: Sends the runner's replies itself: garbage, "finished" without work, kernels that do not exist.
// expect: neighboured WRONG_ANSWER broke the protocol
// expect: sequential WRONG_ANSWER broke the protocol
// expect: shuffle WRONG_ANSWER no kernel was launched
// expect: coarsened WRONG_ANSWER broke the protocol
// expect: single_launch OK
#include <cstring>

#include "protocol/call.hpp"
#include "protocol/protocol.hpp"
#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {
namespace {

void send_raw(const void* bytes, std::size_t n_bytes) {
  hostile::raw_call(SYS_write, lab::kDeviceFd, hostile::address_of(bytes), static_cast<long>(n_bytes));
}

// A packet: its kind, then words.
template <std::size_t N>
void send_words(lab::PacketKind kind, const std::uint64_t (&words)[N]) {
  unsigned char bytes[4 + sizeof words];
  std::memcpy(bytes, &kind, 4);
  std::memcpy(bytes + 4, words, sizeof words);
  send_raw(bytes, sizeof bytes);
}

[[noreturn]] void wait_for_the_end() {
  for (;;) hostile::raw_call(SYS_pause);
}

void reply_as_to_the_verifier() {
  using namespace lab::protocol;
  CaseReply reply;
  reply.end = CaseEnd::done;
  Message message{};
  message.header = {kMagic, kVersion, MessageKind::reply, 1, 0x5eed};
  std::memcpy(message.body.data(), &reply, sizeof reply);
  send_raw(&message, sizeof message);
}

void ask_for_nonsense() {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const std::uint64_t fill[] = {kAll - 8, kAll, kAll};
  send_words(lab::PacketKind::fill, fill);
  const std::uint64_t store[] = {0x1000, 1, 2, 3};
  send_words(lab::PacketKind::store, store);
  const std::uint64_t launch[] = {kAll, kAll, kAll, kAll, kAll, kAll, kAll, kAll, kAll};
  send_words(lab::PacketKind::launch, launch);
}

}  // namespace

Status run(const lab::Request& request) {
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: send_raw("all tests passed", 16); break;
    case Rung::sequential: reply_as_to_the_verifier(); break;
    case Rung::shuffle: {
      const std::uint32_t finished[] = {static_cast<std::uint32_t>(lab::PacketKind::finished), 0, 0, 0, 0};
      send_raw(finished, sizeof finished);
      break;
    }
    case Rung::coarsened: ask_for_nonsense(); break;
    default: return dispatch(request, [](const auto& job) { return hostile::right(job); });
  }
  wait_for_the_end();
}
}  // namespace course::reduction
