// SPDX-License-Identifier: MIT
// Which atomics the assembler makes one access for all lanes of a warp.
#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/decode/decode.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {
namespace {

using ptx::Operand;

// Which registers may differ between the lanes of a warp that execute the same instructions. Two values that
// come together after a branch count as one, as long as neither differs.
class ByLane {
 public:
  explicit ByLane(const ptx::Function& f) : differs_(f.registers.size(), false) {
    for (bool found = true; found;) {
      found = false;
      for (const ptx::Instruction& i : f.instructions)
        if (!i.operands.empty() && (differs_by_itself(i) || any(std::span(i.operands).subspan(1))))
          found = set(i.operands[0]) || found;
    }
  }

  bool differs(const Operand& o) const {
    if (o.kind == Operand::Kind::special)
      return std::ranges::any_of(kByLane, [&](std::string_view name) { return o.name.starts_with(name); });
    const bool is_register = o.kind == Operand::Kind::reg || o.kind == Operand::Kind::address;
    return (is_register && o.index >= 0 && differs_[static_cast<std::size_t>(o.index)]) || any(o.parts);
  }

 private:
  static constexpr std::string_view kByLane[] = {"%tid", "%lane", "%clock", "%globaltimer"};

  static bool differs_by_itself(const ptx::Instruction& i) {
    return i.guard >= 0 || i.opcode == "atom" || i.opcode == "shfl" || i.opcode == "call" || i.has("local");
  }
  bool any(std::span<const Operand> operands) const {
    return std::ranges::any_of(operands, [this](const Operand& o) { return differs(o); });
  }
  bool set(const Operand& result) {
    bool is_new = false;
    if (result.kind == Operand::Kind::reg && result.index >= 0) {
      is_new = !differs_[static_cast<std::size_t>(result.index)];
      differs_[static_cast<std::size_t>(result.index)] = true;
    }
    for (const Operand& part : result.parts) is_new = set(part) || is_new;
    return is_new;
  }

  std::vector<bool> differs_;
};

// The lanes vote, or reduce their values (REDUX, which has no floating-point numbers and 32 bits).
bool can_be_combined(const ptx::Instruction& i) {
  const ptx::Type type = i.types.empty() ? ptx::Type::none : i.types.back();
  if (type == ptx::Type::u64 && i.has("add"))
    return std::ranges::any_of(i.operands, [](const Operand& o) { return o.kind == Operand::Kind::integer; });
  return (type == ptx::Type::u32 || type == ptx::Type::s32 || type == ptx::Type::b32) &&
         std::ranges::any_of(std::initializer_list<std::string_view>{"add", "min", "max", "and", "or", "xor"},
                             [&](std::string_view change) { return i.has(change); });
}

}  // namespace

void mark_combined_atomics(Program& program) {
  const ptx::Function& f = *program.functions[0].source;
  const auto may_be = [&](const MicroOp& op) {
    return op.kind == OpKind::atomic && op.function == 0 && can_be_combined(f.instructions[op.ptx_index]);
  };
  if (std::ranges::none_of(program.ops, may_be)) return;
  const ByLane by_lane(f);
  for (MicroOp& op : program.ops)
    if (may_be(op) && std::ranges::none_of(f.instructions[op.ptx_index].operands, [&](const Operand& o) {
          return o.kind == Operand::Kind::address && by_lane.differs(o);
        }))
      op.order |= kCombined;
}

}  // namespace course::sim
