// SPDX-License-Identifier: MIT
#include "sim/provenance.hpp"

#include <cstring>
#include <set>

#include "ptx/ir.hpp"

namespace course::sim {
namespace {

using ptx::Operand;

// Does the instruction pass a pointer on, moved or not?
bool carries_pointers(const ptx::Instruction& i) {
  return i.opcode == "add" || i.opcode == "sub" || i.opcode == "mov" || i.opcode == "cvta" ||
         i.opcode == "mad" || i.opcode == "selp" || i.opcode == "ld" || i.opcode == "and" || i.opcode == "or";
}

class Walk {
 public:
  Walk(const ptx::Function& f, const LaunchRequest& launch, std::vector<std::uint64_t>& found)
      : f_(f), launch_(launch), found_(found) {}

  void from(std::int32_t reg) {
    if (reg < 0 || ptx::bits_of(f_.registers[static_cast<std::size_t>(reg)].type) != 64 ||
        !seen_.insert(reg).second)
      return;
    for (const ptx::Instruction& i : f_.instructions)
      if (!i.operands.empty() && defines(i.operands[0], reg) && carries_pointers(i)) through(i);
  }

 private:
  static bool defines(const Operand& o, std::int32_t reg) {
    if (o.kind == Operand::Kind::reg) return o.index == reg;
    for (const Operand& part : o.parts)
      if (defines(part, reg)) return true;
    return false;
  }

  void through(const ptx::Instruction& i) {
    if (i.opcode == "ld") {
      if (!i.has("param") || i.operands[1].index >= 0) return;
      for (const ptx::Variable& p : f_.parameters) {
        if (p.name != i.operands[1].name) continue;
        const std::uint64_t at = p.offset + static_cast<std::uint64_t>(i.operands[1].integer);
        std::uint64_t value = 0;
        if (at + sizeof value > launch_.parameters.size()) continue;
        std::memcpy(&value, launch_.parameters.data() + at, sizeof value);
        found_.push_back(value);
      }
      return;
    }
    for (std::size_t k = 1; k < i.operands.size(); ++k)
      if (i.operands[k].kind == Operand::Kind::reg) from(i.operands[k].index);
  }

  const ptx::Function& f_;
  const LaunchRequest& launch_;
  std::vector<std::uint64_t>& found_;
  std::set<std::int32_t> seen_;
};

}  // namespace

std::vector<std::uint64_t> pointers_behind(const Program& program, const LaunchRequest& launch,
                                           const MicroOp& op) {
  std::vector<std::uint64_t> found;
  const ptx::Function& f = *program.functions[op.function].source;
  if (!f.is_entry || op.ptx_index >= f.instructions.size()) return found;
  Walk walk(f, launch, found);
  for (const Operand& o : f.instructions[op.ptx_index].operands)
    if (o.kind == Operand::Kind::address) walk.from(o.index);
  return found;
}

}  // namespace course::sim
