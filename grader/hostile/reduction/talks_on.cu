// SPDX-License-Identifier: MIT
// about: Reports "finished" twice, closes the channel, sends requests without end, sends too large packets.
// expect: neighboured WRONG_ANSWER broke the protocol
// expect: sequential CRASH ended the program
// expect: shuffle TIME_LIMIT took longer than
// expect: coarsened WRONG_ANSWER broke the protocol
// expect: single_launch OK
#include "protocol/call.hpp"
#include "raw.cuh"
#include "right.cuh"

namespace course::reduction {
namespace {

using hostile::address_of;
using hostile::raw_call;

void say(const void* bytes, std::size_t n_bytes) {
  raw_call(SYS_write, lab::kDeviceFd, address_of(bytes), static_cast<long>(n_bytes));
}

}  // namespace

Status run(const lab::Request& request) {
  const auto right = [&] { return dispatch(request, [](const auto& job) { return hostile::right(job); }); };
  switch (static_cast<Rung>(request.task)) {
    case Rung::neighboured: {
      // The case has been judged by then; later packets must not count for the next case.
      const Status status = right();
      const std::uint32_t finished[] = {static_cast<std::uint32_t>(lab::PacketKind::finished), 0, 0, 0, 0};
      say(finished, sizeof finished);
      say(finished, sizeof finished);
      return status;
    }
    case Rung::sequential: {
      const Status status = right();
      raw_call(SYS_close, lab::kDeviceFd);
      return status;
    }
    case Rung::shuffle:
      for (const std::uint32_t of_device_0[] = {static_cast<std::uint32_t>(lab::PacketKind::free_bytes), 0};;)
        say(of_device_0, sizeof of_device_0);
    case Rung::coarsened: {
      static unsigned char much[lab::kMaxPacketBytes + 64] = {
          static_cast<unsigned char>(lab::PacketKind::store)};
      for (;;) say(much, sizeof much);
    }
    default: return right();
  }
}
}  // namespace course::reduction
