// SPDX-License-Identifier: MIT
#include "sim/checkers/initcheck/missing_bits.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/machine/op_table.hpp"

namespace course::sim {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

BitRule rule_of(std::string_view key) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = key; !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    parts.push_back(rest.substr(0, dot));
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  static const std::map<std::string_view, u8> kTypeBits = {
      {"u8", 8},   {"s8", 8},   {"u16", 16}, {"s16", 16}, {"b16", 16}, {"f16", 16}, {"bf16", 16},
      {"u32", 32}, {"s32", 32}, {"b32", 32}, {"u64", 64}, {"s64", 64}, {"b64", 64}};
  static const std::map<std::string_view, u8> kRoutes = {
      {"mov", 1},  {"pack", 2}, {"high", 1}, {"shl", 1},  {"shr", 1},  {"bfe", 1},  {"bfi", 2},
      {"prmt", 2}, {"shf", 2},  {"shfl", 1}, {"brev", 1}, {"selp", 2}, {"szext", 1}};
  static const std::map<std::string_view, u8> kLogic = {
      {"and", 0xc0}, {"or", 0xfc}, {"xor", 0x3c}, {"not", 0x0f}, {"lop3", 0}};
  const std::string_view family = parts.front(), type = parts.back();
  const auto bits_of = [&](std::string_view name) {
    const auto found = kTypeBits.find(name);
    return found != kTypeBits.end() ? found->second : u8{64};
  };
  const auto is_integer = [&](std::string_view name) {
    return kTypeBits.contains(name) && name.find('f') == std::string_view::npos;
  };
  BitRule rule;
  rule.bits = bits_of(type);
  const bool low = parts.size() == 3 && parts[1] == "lo" && (family == "mul" || family == "mad");
  if (const auto routed = kRoutes.find(family); routed != kRoutes.end()) {
    rule.how = BitRule::routes;
    rule.data = routed->second;
  } else if (family == "cvt" && parts.size() == 3 &&
             ((is_integer(parts[1]) && is_integer(type)) || parts[1] == type)) {
    rule.how = BitRule::routes;
    rule.data = 1;
  } else if (const auto table = kLogic.find(family); table != kLogic.end()) {
    rule.how = BitRule::logic;
    rule.table = table->second;
  } else if (is_integer(type) &&
             (low || (parts.size() == 2 && (family == "add" || family == "sub" || family == "neg")))) {
    rule.how = BitRule::carries;
  } else if (type.ends_with("x2") && family != "cvt" && family != "atom") {
    rule.how = BitRule::halves;
  } else if (family == "setp" && parts.size() == 3 && is_integer(type)) {
    rule.how = parts[1] == "eq" || parts[1] == "ne" ? BitRule::equals : BitRule::orders;
    rule.is_signed = type.front() == 's';
  } else if (family == "atom" && kTypeBits.contains(type) && (parts[2] == "exch" || parts[2] == "cas")) {
    rule.how = BitRule::swaps;
    rule.data = parts[2] == "cas" ? 2 : 1;
  }
  return rule;
}

}  // namespace

BitRule bit_rule(const MicroOp& op) {
  static const auto kRules = [] {
    std::unordered_map<Handler, BitRule> rules;
    for (const auto& [key, row] : engine().table->rows()) rules.emplace(row.fn, rule_of(key));
    return rules;
  }();
  const auto found = kRules.find(op.fn);
  return found != kRules.end() ? found->second : BitRule{};
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

LaneBits missing_after(Warp& w, const MicroOp& op, const BitRule& rule,
                       const std::array<LaneBits, 4>& missing) {
  if (rule.how == BitRule::routes) return result_of(w, op, missing.data(), rule.data);
  const auto value = [&](u32 k, std::size_t i) -> u64 {
    if (op.src[k] == MicroOp::kNoSlot) return 0;
    if ((op.pred_src >> k & 1) != 0) return w.predicate(op.src[k]) >> i & 1;
    return (op.wide_src >> k & 1) != 0 ? w.slot<u64>(op.src[k])[i] : w.slot<u32>(op.src[k])[i];
  };
  const u64 slot = (op.pred_dst & 1) != 0 ? 1 : (op.wide_dst & 1) != 0 ? ~u64{0} : 0xffff'ffff;
  LaneBits result{};
  if (rule.how == BitRule::orders) {
    std::array<LaneBits, 2> first, second;  // the first source as low and the second as high as can be
    const u64 sign = rule.is_signed ? u64{1} << (rule.bits - 1) : 0;
    for (u32 k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < kLanes; ++i) {
        const u64 m = missing[k][i], v = value(k, i);
        (k == 0 ? first : second)[k][i] = (v & ~m) | (m & sign);
        (k == 0 ? second : first)[k][i] = (v | m) & ~(m & sign);
      }
    const LaneBits a = result_of(w, op, first.data(), 2), b = result_of(w, op, second.data(), 2);
    for (std::size_t i = 0; i < kLanes; ++i) result[i] = a[i] ^ b[i];
    return result;
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    const u64 m = missing[0][i] | missing[1][i] | missing[2][i];
    if (m == 0) continue;
    if (rule.how == BitRule::carries) {
      result[i] = ~((m & -m) - 1) & slot;
    } else if (rule.how == BitRule::halves) {
      result[i] = ((m & 0xffff) != 0 ? 0xffff : 0) | ((m >> 16) != 0 ? 0xffff'0000 : 0);
    } else {
      const u64 table = op.src[3] != MicroOp::kNoSlot ? value(3, i) : rule.table;
      u64 can[2] = {0, 0};  // bits that can be 0, and 1
      for (u32 entry = 0; entry < 8; ++entry) {
        u64 here = slot;
        for (u32 k = 0; k < 3; ++k)
          here &= ((entry >> (2 - k) & 1) != 0 ? value(k, i) : ~value(k, i)) | missing[k][i];
        can[table >> entry & 1] |= here;
      }
      result[i] = can[0] & can[1];
    }
  }
  return result;
}

}  // namespace course::sim
