// SPDX-License-Identifier: MIT
#include "sim/machine/flow_rule.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/machine/warp.hpp"

namespace course::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;

// Routes of the sources' bits, and tables of lop3, by family.
const std::map<std::string_view, u8> kRoutes = {{"mov", 1}, {"pack", 2}, {"high", 1}, {"shl", 1},
                                                {"shr", 1}, {"bfe", 1},  {"bfi", 2},  {"prmt", 2},
                                                {"shf", 2}, {"shfl", 1}, {"brev", 1}, {"selp", 2}};
const std::map<std::string_view, u8> kLogic = {
    {"and", 0xc0}, {"or", 0xfc}, {"xor", 0x3c}, {"not", 0x0f}, {"lop3", 0}};
const std::map<std::string_view, u8> kTypeBits = {
    {"u8", 8},   {"s8", 8},   {"u16", 16}, {"s16", 16}, {"b16", 16}, {"f16", 16}, {"bf16", 16},
    {"u32", 32}, {"s32", 32}, {"b32", 32}, {"u64", 64}, {"s64", 64}, {"b64", 64}};
const std::map<std::string_view, FlowRule::Words> kWords = {{"pack.b64", FlowRule::packs},
                                                            {"high.b64", FlowRule::high_word},
                                                            {"cvt.u32.u64", FlowRule::low_word},
                                                            {"mov.wide", FlowRule::both_words}};

bool is_integer(std::string_view type) {
  return kTypeBits.contains(type) && type.find('f') == std::string_view::npos;
}

}  // namespace

FlowRule flow_rule(std::string_view key) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = key; !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    parts.push_back(rest.substr(0, dot));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  const std::string_view family = parts.front(), type = parts.back();
  const auto bits = kTypeBits.find(type);
  FlowRule rule;
  rule.bits = bits != kTypeBits.end() ? bits->second : u8{64};
  if (const auto words = kWords.find(key); words != kWords.end()) rule.words = words->second;
  rule.selects = family == "selp" || family == "slct";
  rule.carry_in = family == "addc" || family == "subc" || family == "madc";
  rule.carry_out = std::ranges::find(parts, "cc") != parts.end();
  const bool low = parts.size() == 3 && parts[1] == "lo" && (family == "mul" || family == "mad");
  if (const auto routed = kRoutes.find(family); routed != kRoutes.end()) {
    rule.how = FlowRule::routes;
    rule.data = routed->second;
  } else if (family == "cvt" && parts.size() == 3 &&
             ((is_integer(parts[1]) && is_integer(type)) || parts[1] == type)) {
    rule.how = FlowRule::routes;
    rule.data = 1;
  } else if (const auto table = kLogic.find(family); table != kLogic.end()) {
    rule.how = FlowRule::logic;
    rule.table = table->second;
  } else if (is_integer(type) &&
             (low || (parts.size() == 2 && (family == "add" || family == "sub" || family == "neg")))) {
    rule.how = FlowRule::carries;
  } else if (type.ends_with("x2") && family != "cvt" && family != "atom") {
    rule.how = FlowRule::halves;
  } else if (family == "setp" && parts.size() == 3 && is_integer(type)) {
    rule.how = parts[1] == "eq" || parts[1] == "ne" ? FlowRule::equals : FlowRule::orders;
    rule.is_signed = type.front() == 's';
  } else if (family == "atom" && kTypeBits.contains(type) && (parts[2] == "exch" || parts[2] == "cas")) {
    rule.how = FlowRule::swaps;
    rule.data = parts[2] == "cas" ? 2 : 1;
  }
  return rule;
}

LaneBits result_of(Warp& w, const MicroOp& op, const LaneBits* sources, u32 n) {
  alignas(128) std::array<std::byte, 8 * sizeof(LaneBits)> scratch{};
  MicroOp probe = op;
  for (u32 k = 0; k < 4; ++k) {
    const bool wide = (op.wide_src >> k & 1) != 0, predicate = (op.pred_src >> k & 1) != 0;
    std::byte* const to = scratch.data() + k * sizeof(LaneBits);
    if (op.dst[k] != MicroOp::kNoSlot) probe.dst[k] = static_cast<u32>((4 + k) * sizeof(LaneBits));
    if (op.src[k] == MicroOp::kNoSlot) continue;
    probe.src[k] = static_cast<u32>(k * sizeof(LaneBits));
    if (k >= n)
      std::memcpy(to, w.registers + op.src[k], predicate ? 4 : wide ? 8 * kLanes : 4 * kLanes);
    else if (wide)
      std::memcpy(to, sources[k].data(), sizeof(LaneBits));
    else
      for (std::size_t i = 0; i < kLanes; ++i) std::memcpy(to + 4 * i, &sources[k][i], 4);
  }
  std::byte* const registers = std::exchange(w.registers, scratch.data());
  op.fn(w, probe);
  w.registers = registers;
  LaneBits result{};
  const std::byte* const out = scratch.data() + 4 * sizeof(LaneBits);
  const bool wide = (op.wide_dst & 1) != 0;
  u32 holds;
  std::memcpy(&holds, out, 4);
  for (std::size_t i = 0; i < kLanes; ++i)
    if ((op.pred_dst & 1) != 0)
      result[i] = holds >> i & 1;
    else
      std::memcpy(&result[i], out + i * (wide ? 8 : 4), wide ? 8 : 4);
  return result;
}

LaneBits lanes_read(Warp& w, const MicroOp& shuffle) {
  LaneBits numbers;
  std::iota(numbers.begin(), numbers.end(), 0u);
  return result_of(w, shuffle, &numbers, 1);
}

}  // namespace course::sim
