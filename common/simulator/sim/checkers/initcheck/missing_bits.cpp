// SPDX-License-Identifier: MIT
#include "sim/checkers/initcheck/missing_bits.hpp"

namespace course::sim {

LaneBits missing_after(Warp& w, const MicroOp& op, const FlowRule& rule,
                       const std::array<LaneBits, 4>& missing) {
  using Bits = LaneBits::value_type;
  if (rule.how == FlowRule::routes) return result_of(w, op, missing.data(), rule.data);
  const auto value = [&](std::size_t k, std::size_t i) -> Bits {
    if (op.src[k] == MicroOp::kNoSlot) return 0;
    if ((op.pred_src >> k & 1) != 0) return w.predicate(op.src[k]) >> i & 1;
    return (op.wide_src >> k & 1) != 0 ? w.slot<Bits>(op.src[k])[i] : w.slot<std::uint32_t>(op.src[k])[i];
  };
  const Bits slot = (op.pred_dst & 1) != 0 ? 1 : (op.wide_dst & 1) != 0 ? ~Bits{0} : 0xffff'ffff;
  LaneBits result{};
  if (rule.how == FlowRule::orders) {
    std::array<LaneBits, 2> first, second;  // the first source as low and the second as high as can be
    const Bits sign = rule.is_signed ? Bits{1} << (rule.bits - 1) : 0;
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < kLanes; ++i) {
        const Bits m = missing[k][i], v = value(k, i);
        (k == 0 ? first : second)[k][i] = (v & ~m) | (m & sign);
        (k == 0 ? second : first)[k][i] = (v | m) & ~(m & sign);
      }
    const LaneBits a = result_of(w, op, first.data(), 2), b = result_of(w, op, second.data(), 2);
    for (std::size_t i = 0; i < kLanes; ++i) result[i] = a[i] ^ b[i];
    return result;
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Bits m = missing[0][i] | missing[1][i] | missing[2][i];
    if (m == 0) continue;
    if (rule.how == FlowRule::carries) {
      result[i] = ~((m & -m) - 1) & slot;
    } else if (rule.how == FlowRule::halves) {
      result[i] = ((m & 0xffff) != 0 ? 0xffff : 0) | ((m >> 16) != 0 ? 0xffff'0000 : 0);
    } else {
      const Bits table = op.src[3] != MicroOp::kNoSlot ? value(3, i) : rule.table;
      Bits can[2] = {0, 0};  // bits that can be 0, and 1
      for (std::size_t entry = 0; entry < 8; ++entry) {
        Bits here = slot;
        for (std::size_t k = 0; k < 3; ++k)
          here &= ((entry >> (2 - k) & 1) != 0 ? value(k, i) : ~value(k, i)) | missing[k][i];
        can[table >> entry & 1] |= here;
      }
      result[i] = can[0] & can[1];
    }
  }
  return result;
}

}  // namespace course::sim
