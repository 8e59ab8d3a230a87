// SPDX-License-Identifier: MIT
#include "sim/machine/atomic_patterns.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ptx/ir.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {
namespace {

using ptx::Operand;

// Adds the registers from which values in `registers` may have been copied; `onwards`: those to which.
std::set<std::int32_t> with_copies(const ptx::Function& f, std::set<std::int32_t> registers, bool onwards) {
  for (bool more = true; more;) {
    more = false;
    for (const ptx::Instruction& i : f.instructions) {
      if ((i.opcode != "mov" && i.opcode != "cvt") || i.operands.size() != 2) continue;
      const Operand &known = i.operands[onwards ? 1 : 0], &fresh = i.operands[onwards ? 0 : 1];
      if (known.kind == Operand::Kind::reg && fresh.kind == Operand::Kind::reg &&
          registers.contains(known.index))
        more = registers.insert(fresh.index).second || more;
    }
  }
  return registers;
}

// Whether an instruction compares what a swap has found, in register `found`, with what it expected.
bool is_compared(const ptx::Function& f, std::int32_t found, const std::set<std::int32_t>& before) {
  const std::set<std::int32_t> copies = with_copies(f, {found}, true),
                               expected = with_copies(f, before, true);
  const auto holds = [](const Operand& o, const std::set<std::int32_t>& registers) {
    return o.kind == Operand::Kind::reg && registers.contains(o.index);
  };
  return std::ranges::any_of(f.instructions, [&](const ptx::Instruction& i) {
    const auto& o = i.operands;
    if (o.size() < 3 || !(i.opcode == "setp" || i.opcode == "set" || i.opcode == "xor" || i.opcode == "sub"))
      return false;
    return (holds(o[1], copies) && holds(o[2], expected)) || (holds(o[2], copies) && holds(o[1], expected));
  });
}

// The register or symbol from which an address was computed by adding constants only.
struct Start {
  std::int32_t reg = -1;
  std::string_view symbol;
  std::int64_t offset = 0;
  friend bool operator==(const Start&, const Start&) = default;
};

// For each register that exactly one instruction defines, that instruction.
class Definitions {
 public:
  explicit Definitions(const ptx::Function& f)
      : by_register_(f.registers.size()), counts_(f.registers.size()) {
    for (const ptx::Instruction& i : f.instructions)
      if (!i.operands.empty()) note(i.operands[0], i);
  }

  Start start_of(const Operand& address) const {
    Start at{address.index, address.name, address.integer};
    for (int steps = 0; at.reg >= 0 && at.symbol.empty() && steps < kMaxSteps; ++steps) {
      const auto reg = static_cast<std::size_t>(at.reg);
      const ptx::Instruction* const i = counts_[reg] == 1 ? by_register_[reg] : nullptr;
      if (i == nullptr || !follow(*i, at)) break;
    }
    return at;
  }

  // The value of an operand, if it is a constant.
  std::optional<std::int64_t> number(const Operand& o) const {
    if (o.kind == Operand::Kind::integer) return o.integer;
    if (o.kind != Operand::Kind::reg || o.index < 0 || counts_[static_cast<std::size_t>(o.index)] != 1)
      return std::nullopt;
    const ptx::Instruction& i = *by_register_[static_cast<std::size_t>(o.index)];
    if (i.opcode != "mov" || i.operands.size() != 2) return std::nullopt;
    return number(i.operands[1]);
  }

 private:
  static constexpr int kMaxSteps = 16;

  void note(const Operand& o, const ptx::Instruction& i) {
    if (o.kind == Operand::Kind::reg && o.index >= 0) {
      by_register_[static_cast<std::size_t>(o.index)] = &i;
      ++counts_[static_cast<std::size_t>(o.index)];
    }
    for (const Operand& part : o.parts) note(part, i);
  }

  static bool follow(const ptx::Instruction& i, Start& at) {
    const auto& o = i.operands;
    const bool adds = i.opcode == "add" && o.size() == 3 && o[2].kind == Operand::Kind::integer;
    if (!adds && !((i.opcode == "mov" || i.opcode == "cvta") && o.size() == 2)) return false;
    if (o[1].kind == Operand::Kind::reg && o[1].index >= 0) {
      at.reg = o[1].index;
      at.offset += adds ? o[2].integer : 0;
    } else if (o[1].kind == Operand::Kind::symbol) {
      at = {-1, o[1].name, at.offset + o[1].integer};
    } else {
      return false;
    }
    return true;
  }

  std::vector<const ptx::Instruction*> by_register_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

std::set<std::uint32_t> loads_before_swaps(const Program& program) {
  std::set<std::uint32_t> loads;
  std::map<std::uint32_t, Definitions> definitions;  // by function
  for (const MicroOp& swap : program.ops) {
    if (swap.kind != OpKind::atomic) continue;
    const ptx::Function& f = *program.functions[swap.function].source;
    const ptx::Instruction& i = f.instructions[swap.ptx_index];
    if (!i.has("cas") || i.operands.size() < 4 || i.operands[2].kind != Operand::Kind::reg) continue;
    const std::set<std::int32_t> expected = with_copies(f, {i.operands[2].index}, false);
    if (i.operands[0].kind != Operand::Kind::reg || !is_compared(f, i.operands[0].index, expected)) continue;
    const Definitions& defined = definitions.try_emplace(swap.function, f).first->second;
    const Start swapped = defined.start_of(i.operands[1]);
    for (const MicroOp& load : program.ops) {
      if (load.kind != OpKind::load || load.function != swap.function || load.width != swap.width) continue;
      const ptx::Instruction& l = f.instructions[load.ptx_index];
      if (l.opcode == "ld" && l.operands.size() == 2 && l.operands[0].kind == Operand::Kind::reg &&
          expected.contains(l.operands[0].index) && defined.start_of(l.operands[1]) == swapped)
        loads.insert(load.index);
    }
  }
  return loads;
}

void mark_harmless_looks(Program& program) {
  for (MicroOp& look : program.ops) {
    if (look.kind != OpKind::load || (look.order & kOnlyDecides) == 0) continue;
    const ptx::Function& f = *program.functions[look.function].source;
    const auto start = [&f, defined = Definitions(f)](const MicroOp& op) {
      const auto& o = f.instructions[op.ptx_index].operands;
      return defined.start_of(o[o[0].kind == Operand::Kind::address ? 0 : 1]);
    };
    for (const MicroOp& op : std::span(program.ops).subspan(look.index + 1))
      if ((op.kind == OpKind::store || op.kind == OpKind::atomic || (op.order & kWaits) != 0) &&
          op.function == look.function && start(op) == start(look))
        look.order |= kWaits;
    if ((look.order & kWaits) == 0) look.order &= kOnlyDecides - 1;
  }
}

std::set<std::uint32_t> swaps_of(const Program& program) {
  std::set<std::uint32_t> swaps;
  for (const MicroOp& op : program.ops) {
    if (op.kind != OpKind::atomic) continue;
    const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
    if (i.has("exch") || i.has("cas")) swaps.insert(op.index);
  }
  return swaps;
}

std::set<std::uint32_t> atomics_that_only_read(const Program& program) {
  std::set<std::uint32_t> looks;
  std::map<std::uint32_t, Definitions> definitions;  // by function
  for (const MicroOp& op : program.ops) {
    if (op.kind != OpKind::atomic || op.dst[0] == MicroOp::kNoSlot) continue;
    const ptx::Function& f = *program.functions[op.function].source;
    const ptx::Instruction& i = f.instructions[op.ptx_index];
    const auto& o = i.operands;
    const Definitions& defined = definitions.try_emplace(op.function, f).first->second;
    const auto is_same = [&](const Operand& a, const Operand& b) {
      if (a.kind == Operand::Kind::reg && b.kind == Operand::Kind::reg && a.index == b.index) return true;
      const auto n = defined.number(a);
      return n && n == defined.number(b);
    };
    const bool keeps = i.has("add") || i.has("or") || i.has("xor");
    if ((o.size() == 3 && keeps && defined.number(o[2]) == 0) ||
        (o.size() == 4 && i.has("cas") && is_same(o[2], o[3])))
      looks.insert(op.index);
  }
  return looks;
}

}  // namespace course::sim
