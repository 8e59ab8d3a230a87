// SPDX-License-Identifier: MIT
// Which atomics the assembler makes one access for all lanes of a warp.
#include <algorithm>
#include <span>
#include <vector>

#include "sim/decode/decode.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {
namespace {

using ptx::Operand;

// Whether an operand may differ between lanes of a warp that execute the instruction; `by_lane`: registers
// that may.
bool differs(const Operand& o, const std::vector<bool>& by_lane) {
  if (o.kind == Operand::Kind::special)
    return o.name.starts_with("%tid") || o.name.starts_with("%lane") || o.name.starts_with("%clock");
  const bool is_register = o.kind == Operand::Kind::reg || o.kind == Operand::Kind::address;
  return (is_register && o.index >= 0 && by_lane[static_cast<std::size_t>(o.index)]) ||
         std::ranges::any_of(o.parts, [&](const Operand& part) { return differs(part, by_lane); });
}

void set(const Operand& result, std::vector<bool>& by_lane) {
  if (result.kind == Operand::Kind::reg && result.index >= 0)
    by_lane[static_cast<std::size_t>(result.index)] = true;
  for (const Operand& part : result.parts) set(part, by_lane);
}

// Two values that come together after a branch count as one, as long as neither differs.
std::vector<bool> registers_by_lane(const ptx::Function& f) {
  std::vector<bool> by_lane(f.registers.size(), false), before;
  do {
    before = by_lane;
    for (const ptx::Instruction& i : f.instructions) {
      if (i.operands.empty()) continue;
      bool is_new =
          i.guard >= 0 || i.opcode == "atom" || i.opcode == "shfl" || i.opcode == "call" || i.has("local");
      for (const Operand& o : std::span(i.operands).subspan(1)) is_new = is_new || differs(o, by_lane);
      if (is_new) set(i.operands[0], by_lane);
    }
  } while (by_lane != before);
  return by_lane;
}

// The lanes vote, or reduce their values (REDUX, which takes integers of 32 bits; of 64-bit atomics, those
// that add a constant). Old values that are used can only be computed for additions.
bool can_be_combined(const ptx::Instruction& i, const MicroOp& op) {
  const ptx::Type type = i.types.empty() ? ptx::Type::none : i.types.back();
  if (type == ptx::Type::u64 && i.has("add"))
    return std::ranges::any_of(i.operands, [](const Operand& o) { return o.kind == Operand::Kind::integer; });
  if (type != ptx::Type::u32 && type != ptx::Type::s32 && type != ptx::Type::b32) return false;
  return i.has("add") || (op.dst[0] == MicroOp::kNoSlot && !i.has("cas") && !i.has("inc") && !i.has("dec"));
}

}  // namespace

void mark_combined_atomics(Program& program) {
  const ptx::Function& f = *program.functions[0].source;
  std::vector<bool> by_lane;
  for (MicroOp& op : program.ops) {
    if (op.kind != OpKind::atomic || op.function != 0 || !can_be_combined(f.instructions[op.ptx_index], op))
      continue;
    if (by_lane.empty()) by_lane = registers_by_lane(f);
    const auto strays = [&](const Operand& o) {
      return o.kind == Operand::Kind::address && differs(o, by_lane);
    };
    if (std::ranges::none_of(f.instructions[op.ptx_index].operands, strays)) op.order |= kCombined;
  }
}

}  // namespace course::sim
