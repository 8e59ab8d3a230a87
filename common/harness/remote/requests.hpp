// SPDX-License-Identifier: MIT
// The requests that the student's process may send to the device's process: the bodies of packets
// (protocol/packets.hpp), shared by both sides. Each request is answered by one packet of kind `answer`, but
// for a kernel or a launch outside of the course's subset, too much work, and an invalid request: these end
// the call. The answer's first u32 is 1 for success; 0 is followed by a text with the reason. The answer to a
// launch is a LaunchAnswer instead. The first u32 of each request is the ordinal of the device that it
// concerns, but that of `operate` is the number of the SimOperands that follow.
#pragma once

#include "protocol/packets.hpp"
#include "sim/device.hpp"

namespace course::remote {

inline constexpr std::size_t kMaxParameters = 1024;
// Bytes per store, so that a request fits into a packet.
inline constexpr std::size_t kChunkBytes = 32 * 1024;

struct LaunchHead {  // followed by the bytes of the parameters
  sim::KernelId kernel = 0;
  std::uint32_t cooperative = 0;
  sim::Dim3 grid, block, cluster;
  std::uint32_t overlaps = 0;
  std::uint64_t dynamic_shared = 0;
};
struct LaunchAnswer {       // followed by the text
  std::uint32_t fault = 0;  // the sim::Fault if the launch is refused, whatever the kernel would do
  std::uint32_t reserved = 0;
};
struct OccupancyRequest {
  sim::KernelId kernel = 0;
  std::int32_t threads_per_block = 0;
  std::uint64_t dynamic_shared = 0;
};
struct AllocateRequest {
  std::uint64_t n_bytes = 0;
};
// In labs for several devices: how much goes where, which only the devices know, is an argument of sends and
// receives. So the host may read a few numbers, but not the items.
struct ReadRequest {
  std::uint64_t address = 0, n_bytes = 0;
};
inline constexpr std::uint64_t kMaxBytesRead = 4096;  // in one call of the student's code
// `report`: the kind of a finding about NCCL ("nccl-mismatch") or a failed call ("api-error"), a file, the
// line in it as u32, a sentence, and a kernel.
inline constexpr std::size_t kMaxReports = 20;  // of one call of the student's code
struct FillRequest {
  std::uint64_t address = 0, count = 0;
  std::uint32_t value = 0, element_bytes = 1;
};

inline void put_facts(lab::PacketWriter& out, const sim::KernelFacts& facts) {
  out.put_text(facts.name).put_text(facts.demangled);
  out.put(facts.parameter_bytes).put(facts.static_shared).put(facts.local_bytes);
  out.put(facts.registers).put(facts.max_threads).put(facts.ptx_version);
  for (const auto& parameter : facts.parameters) out.put(parameter);
}
inline sim::KernelFacts get_facts(lab::PacketReader& in) {
  sim::KernelFacts facts;
  facts.name = in.get_text();
  facts.demangled = in.get_text();
  for (std::uint64_t* number : {&facts.parameter_bytes, &facts.static_shared, &facts.local_bytes})
    *number = in.get<std::uint64_t>();
  for (int* number : {&facts.registers, &facts.max_threads, &facts.ptx_version}) *number = in.get<int>();
  while (in.ok() && !in.complete()) facts.parameters.push_back(in.get<sim::KernelFacts::Parameter>());
  return facts;
}

}  // namespace course::remote
