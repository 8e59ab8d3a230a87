// SPDX-License-Identifier: MIT
// One call of one rank, such as ncclAllReduce: its arguments, the memory that it uses, and its words in
// messages. Only data; matcher.hpp matches the calls of the ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudart/sim_parts.h"
#include "nccl/nccl.h"

namespace course::nccl {

enum class Kind : std::uint8_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_to_all,
  gather,
  scatter,
  send,
  receive,
};

struct Call {
  Kind kind = Kind::all_reduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclInt8;
  ncclRedOp_t reduction = ncclSum;
  int peer = 0;  // the root, or the other end of a send or receive
  cudaStream_t stream = nullptr;
  const char* function = "";   // as the program called it
  const void* code = nullptr;  // the instruction of the call
  int rank = 0, n_ranks = 0;
  std::string place = {};  // the source line, if the call is one of another process
};

std::size_t size_of(ncclDataType_t type);  // bytes; 0 for a type that does not exist
const char* name_of(ncclDataType_t type);
bool reduces(Kind kind);
bool has_root(Kind kind);
inline bool is_point_to_point(Kind kind) {
  return kind == Kind::send || kind == Kind::receive;
}

// The buffers that this rank reads and writes; at most one of each.
std::vector<SimRange> ranges_of(const Call& call);
// Why the buffers must not be used together; empty if they may. NCCL allows the same buffer for input and
// output ("in place") only at the positions that its documentation gives.
std::string overlap_of(const Call& call);

// "ncclAllReduce(count 10, float32, sum)".
std::string words_of(const Call& call);
// " at program.cu:31"; empty if the line is not known. `place`: the line, if it is known already.
std::string at_line(const void* code, const std::string& place);
// "ncclAllReduce(…) at program.cu:31".
std::string words_with_line(const Call& call);
// What two ranks' calls of the same collective do not agree on; empty if they agree.
std::string disagreement(const Call& a, const Call& b);

}  // namespace course::nccl
