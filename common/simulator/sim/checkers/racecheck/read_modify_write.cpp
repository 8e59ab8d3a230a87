// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/read_modify_write.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "sim/checkers/racecheck/memory_model.hpp"

namespace course::sim::race {
namespace {

const ptx::Operand* address_of(const Program& program, const MicroOp& op) {
  for (const ptx::Operand& o : program.functions[op.function].source->instructions[op.ptx_index].operands)
    if (o.kind == ptx::Operand::Kind::address) return &o;
  return nullptr;
}

bool holds(const BasicBlock& block, const MicroOp& op) {
  return op.index >= block.first && op.index < block.last;
}

// Whether a thread can execute the store after the load without starting a loop again.
bool comes_after(const Program& program, const MicroOp& load, const MicroOp& store) {
  if (load.index > store.index) return false;
  std::vector<bool> reached(program.blocks.size(), false);
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const BasicBlock& block = program.blocks[b];
    if (!reached[b] && !holds(block, load)) continue;
    if (holds(block, store)) return true;
    for (const std::uint32_t next : program.successors(static_cast<std::uint32_t>(b))) reached[next] = true;
  }
  return false;
}

// Whether the stored value is computed from the loaded one, not only chosen with its help. Follows registers.
bool is_computed(const ptx::Function& f, const MicroOp& load, const MicroOp& store) {
  constexpr std::string_view kChoose[] = {"setp", "selp", "min", "max", "and", "or", "ld", "atom"};
  std::set<std::int32_t> from{f.instructions[load.ptx_index].operands[0].index};
  const auto follows = [&](const ptx::Operand& o) {
    return o.kind == ptx::Operand::Kind::reg && from.contains(o.index);
  };
  for (std::size_t n = 0; std::exchange(n, from.size()) != from.size();)
    for (const ptx::Instruction& i : f.instructions)
      if (std::ranges::find(kChoose, i.opcode) == std::end(kChoose) &&
          std::ranges::any_of(i.operands, follows))
        from.insert(i.operands[0].index);
  return follows(f.instructions[store.ptx_index].operands[1]);
}

}  // namespace

bool comes_back_to(const Program& program, const MicroOp& load, const MicroOp& store) {
  if (load.kind != OpKind::load || store.kind != OpKind::store || load.function != store.function ||
      !comes_after(program, load, store))
    return false;
  const ptx::Operand *from = address_of(program, load), *to = address_of(program, store);
  return from != nullptr && to != nullptr && from->index == to->index && from->integer == to->integer &&
         from->name == to->name;
}

bool are_of_one_change(const Program& program, const MicroOp& load, const MicroOp& store) {
  return comes_back_to(program, load, store) && address_of(program, load)->index >= 0;
}

bool changes_what_it_reads(const Program& program, const MicroOp& store) {
  return std::ranges::any_of(program.ops,
                             [&](const MicroOp& op) { return are_of_one_change(program, op, store); });
}

bool is_in_loop(const Program& program, const MicroOp& op) {
  const auto here = [&](std::uint32_t b) { return holds(program.blocks[b], op); };
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b)
    if (here(b)) return leads_to(program, b, here);
  return false;
}

Changes changes_of(const Program& program) {
  Changes changes;
  for (const BasicBlock& b : program.blocks)
    for (std::uint32_t k = b.only_polling ? b.last : b.first; k < b.last; ++k) {
      const MicroOp& load = program.ops[k];
      if (load.kind != OpKind::load || !is_strong(load) || load.count != 1 || load.width > 8) continue;
      for (const MicroOp& store : program.ops)
        if (store.width == load.width && is_strong(store) && comes_back_to(program, load, store))
          changes[{load.index, store.index}] =
              is_computed(*program.functions[load.function].source, load, store);
    }
  return changes;
}

}  // namespace course::sim::race
