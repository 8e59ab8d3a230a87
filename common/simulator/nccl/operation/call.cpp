// SPDX-License-Identifier: MIT
#include "nccl/operation/call.hpp"

#include <fmt/format.h>

#include <array>

namespace course::nccl {
namespace {

struct Type {
  const char* name;
  std::size_t bytes;
};
constexpr std::array<Type, ncclNumTypes> kTypes{{
    {"int8", 1},
    {"uint8", 1},
    {"int32", 4},
    {"uint32", 4},
    {"int64", 8},
    {"uint64", 8},
    {"float16", 2},
    {"float32", 4},
    {"float64", 8},
    {"bfloat16", 2},
    {"float8e4m3", 1},
    {"float8e5m2", 1},
}};

bool is_type(ncclDataType_t type) {
  return static_cast<unsigned>(type) < ncclNumTypes;
}

const char* name_of(ncclRedOp_t reduction) {
  switch (reduction) {
    case ncclSum: return "sum";
    case ncclProd: return "prod";
    case ncclMax: return "max";
    case ncclMin: return "min";
    case ncclAvg: return "avg";
    default: return "?";
  }
}

// How many blocks of `count` elements the rank reads and writes; 0: it does not use the buffer.
struct Blocks {
  std::size_t read = 0, written = 0;
};
Blocks blocks_of(const Call& c) {
  const auto all = static_cast<std::size_t>(c.n_ranks);
  const bool root = c.rank == c.peer;
  switch (c.kind) {
    case Kind::all_reduce: return {1, 1};
    case Kind::reduce: return {1, root ? 1u : 0u};
    case Kind::broadcast: return {root ? 1u : 0u, 1};
    case Kind::all_gather: return {1, all};
    case Kind::reduce_scatter: return {all, 1};
    case Kind::all_to_all: return {all, all};
    case Kind::gather: return {1, root ? all : 0};
    case Kind::scatter: return {root ? all : 0, 1};
    case Kind::send: return {1, 0};
    case Kind::receive: return {0, 1};
  }
  return {};
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  return is_type(type) ? kTypes[type].bytes : 0;
}

const char* name_of(ncclDataType_t type) {
  return is_type(type) ? kTypes[type].name : "no type";
}

bool reduces(Kind kind) {
  return kind == Kind::all_reduce || kind == Kind::reduce || kind == Kind::reduce_scatter;
}

bool has_root(Kind kind) {
  return kind == Kind::reduce || kind == Kind::broadcast || kind == Kind::gather || kind == Kind::scatter;
}

std::vector<SimRange> ranges_of(const Call& call) {
  const Blocks blocks = blocks_of(call);
  const std::size_t block = call.count * size_of(call.type);
  std::vector<SimRange> ranges;
  if (blocks.read > 0) ranges.push_back({call.send, blocks.read * block, 0});
  if (blocks.written > 0) ranges.push_back({call.receive, blocks.written * block, 1});
  return ranges;
}

std::string overlap_of(const Call& call) {
  const std::vector<SimRange> ranges = ranges_of(call);
  if (ranges.size() < 2 || call.count == 0) return "";
  const auto* sent = static_cast<const std::byte*>(ranges[0].start);
  const auto* received = static_cast<const std::byte*>(ranges[1].start);
  if (sent + ranges[0].n_bytes <= received || received + ranges[1].n_bytes <= sent) return "";
  const std::size_t block = call.count * size_of(call.type);
  const auto at = [&](int n) { return static_cast<std::size_t>(n) * block; };
  switch (call.kind) {
    case Kind::all_gather:
      if (sent == received + at(call.rank)) return "";
      return "in place, the send buffer is the receive buffer + rank * sendcount";
    case Kind::gather:
      if (sent == received + at(call.rank)) return "";
      return "in place, the root's send buffer is the receive buffer + root * count";
    case Kind::reduce_scatter:
      if (received == sent + at(call.rank)) return "";
      return "in place, the receive buffer is the send buffer + rank * recvcount";
    case Kind::scatter:
      if (received == sent + at(call.rank)) return "";
      return "in place, the root's receive buffer is the send buffer + root * count";
    case Kind::all_to_all: return "receive into a second buffer";
    default: return sent == received ? "" : "in place, both buffers begin at the same address";
  }
}

std::string words_of(const Call& call) {
  std::string text = fmt::format("{}(count {}, {}", call.function, call.count, name_of(call.type));
  if (reduces(call.kind)) text += fmt::format(", {}", name_of(call.reduction));
  if (has_root(call.kind)) text += fmt::format(", root {}", call.peer);
  if (call.kind == Kind::send) text += fmt::format(", to rank {}", call.peer);
  if (call.kind == Kind::receive) text += fmt::format(", from rank {}", call.peer);
  return text + ")";
}

std::string at_line(const void* code, const std::string& place) {
  std::array<char, 512> known{};
  if (place.empty()) simPlaceOfCode(code, known.data(), known.size());
  const std::string line = place.empty() ? known.data() : place;
  return line.empty() ? "" : " at " + line;
}

std::string words_with_line(const Call& call) {
  return words_of(call) + at_line(call.code, call.place);
}

std::string disagreement(const Call& a, const Call& b) {
  if (a.kind != b.kind) return "the operation";
  if (a.count != b.count) return "the count";
  if (a.type != b.type) return "the data type";
  if (reduces(a.kind) && a.reduction != b.reduction) return "the reduction";
  if (has_root(a.kind) && a.peer != b.peer) return "the root";
  return "";
}

}  // namespace course::nccl
