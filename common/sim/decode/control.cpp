// SPDX-License-Identifier: MIT
// Branches, jump tables and calls: what ends a block and where it goes.
#include <fmt/format.h>

#include "sim/decode/decoder.hpp"

namespace course::sim {

void Decoder::branch(const Instruction& i, std::int32_t index) {
  const auto number = static_cast<std::uint32_t>(program_.blocks.size() - 1);
  const Operand& to = i.operands.at(0);
  if (to.kind != Operand::Kind::label) unsupported("branch target");
  fixups_.push_back({number, false, to.index});
  if (i.guard < 0) return close_block(Exit::jump);
  block().predicate = register_slot(i.guard);
  block().predicate_negated = i.guard_negated;
  fixups_.push_back({number, true, index + 1});
  close_block(Exit::branch);
}

void Decoder::indexed_branch(const Instruction& i) {
  const Operand& list = i.operands.at(1);
  const ptx::BranchTargets* targets = nullptr;
  for (const auto& t : source_->branch_targets)
    if (t.name == list.name) targets = &t;
  if (targets == nullptr) unsupported("unknown target list");
  const std::uint32_t index = source(i.operands.at(0), SlotKind::narrow, Type::u32);
  BasicBlock& b = block();
  b.predicate = index;
  b.target = static_cast<std::uint32_t>(program_.jump_tables.size());
  program_.jump_tables.emplace_back();
  table_fixups_.emplace_back(b.target, targets);
  close_block(Exit::indexed);
}

// call [(result)], f, (arguments) · call [(result)], register, (arguments), prototype
void Decoder::call(const Instruction& i, std::int32_t index) {
  const Operand* results = nullptr;
  const Operand* arguments = nullptr;
  const Operand* callee = nullptr;
  for (const Operand& operand : i.operands) {
    if (operand.kind == Operand::Kind::list) {
      (callee == nullptr ? results : arguments) = &operand;
    } else if (callee == nullptr) {
      callee = &operand;
    }
  }
  if (callee == nullptr) unsupported("callee");
  CallSite site;
  const auto pieces = [&](const Operand* list, std::vector<CallSite::Piece>& out) {
    if (list == nullptr) return;
    for (const Operand& part : list->parts) {
      const ptx::Variable* v = part.name.empty() ? nullptr : local_variable(part.name);
      if (v == nullptr || v->space != Space::param) unsupported("arguments that are no .param variables");
      out.push_back({frame_offset(part.name), static_cast<std::uint32_t>(v->size)});
    }
  };
  pieces(arguments, site.arguments);
  pieces(results, site.results);
  Exit exit = Exit::call;
  if (callee->kind == Operand::Kind::reg) {
    site.selector = source(*callee, SlotKind::wide, Type::u64);
    exit = Exit::call_indirect;
  } else {
    const ptx::Function* f = module_.find_function(callee->name);
    static const std::set<std::string, std::less<>> kBuiltins = {"vprintf", "__assertfail", "malloc", "free"};
    if (f == nullptr) unsupported(fmt::format("unknown function {}", callee->name));
    if (!f->is_declaration) {
      site.callee = function_number(f);
    } else if (kBuiltins.contains(callee->name)) {
      site.builtin = callee->name;
      if (callee->name == "malloc") program_.order_sensitive = true;
    } else {
      throw DecodeError(fmt::format(
          "the function '{}' has no body in this module (the simulator does not link device code) {}",
          callee->name, where()));
    }
  }
  const auto number = static_cast<std::uint32_t>(program_.blocks.size() - 1);
  block().target = static_cast<std::uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(site));
  fixups_.push_back({number, true, index + 1});
  close_block(exit);
}

}  // namespace course::sim
