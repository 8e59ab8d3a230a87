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
  const ptx::Function* known =
      callee->kind == Operand::Kind::reg ? nullptr : module_.find_function(callee->name);
  std::vector<Passed> taken;  // results that go into registers
  const auto pieces = [&](const Operand* list, bool is_result, std::vector<CallSite::Piece>& out) {
    if (list == nullptr) return;
    for (std::size_t k = 0; k < list->parts.size(); ++k) {
      const Operand& part = list->parts[k];
      const ptx::Variable* v = part.name.empty() ? nullptr : local_variable(part.name);
      if (v != nullptr && v->space == Space::param) {
        out.push_back({frame_offset(part.name), static_cast<std::uint32_t>(v->size)});
        continue;
      }
      const Passed passed = passed_by_register(part, known, is_result, k);
      out.push_back({passed.offset, passed.bytes});
      if (is_result) taken.push_back(passed);
    }
  };
  pieces(arguments, false, site.arguments);
  pieces(results, true, site.results);
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
      if (callee->name == "malloc" || callee->name == "free") program_.order_sensitive = true;
    } else {
      throw DecodeError(
          fmt::format("the function '{}' has no body in this program {}", callee->name, where()));
    }
  }
  const auto number = static_cast<std::uint32_t>(program_.blocks.size() - 1);
  block().target = static_cast<std::uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(site));
  close_block(exit);
  if (taken.empty()) {
    fixups_.push_back({number, true, index + 1});
    return;
  }
  program_.blocks[number].next = open_block();  // where results come back
  for (const Passed& passed : taken) {
    if (passed.operand->kind == Operand::Kind::sink) continue;
    const SlotKind kind = register_kind(passed.operand->index);
    move_by_frame(false, register_slot(passed.operand->index), kind, passed.offset, passed.bytes);
  }
}

// --- parameters in registers --------------------------------------------------------------------------------------

// Between a register and the function's frame, in local memory.
void Decoder::move_by_frame(bool store, std::uint32_t slot, SlotKind kind, std::uint32_t offset,
                            std::uint32_t bytes) {
  if (kind == SlotKind::predicate) unsupported("predicates as parameters");
  const bool was_helper = std::exchange(helper_, true);
  const auto guard = std::exchange(guard_, MicroOp::kNoSlot);
  MicroOp& op = plain_access(fmt::format("{}.local.u{}", store ? "st" : "ld", 8 * bytes), program_.frame_slot,
                             false, offset, static_cast<int>(bytes));
  op.space = MemorySpace::local;
  (store ? op.src[1] : op.dst[0]) = slot;
  if (kind == SlotKind::wide) (store ? op.wide_src : op.wide_dst) |= store ? 2 : 1;
  guard_ = guard;
  helper_ = was_helper;
}

Decoder::Passed Decoder::passed_by_register(const Operand& part, const ptx::Function* callee, bool is_result,
                                            std::size_t k) {
  const auto* list = callee == nullptr ? nullptr : is_result ? &callee->results : &callee->parameters;
  const bool in_register = part.kind == Operand::Kind::reg;
  if (!in_register && (is_result ? part.kind != Operand::Kind::sink : part.kind == Operand::Kind::symbol))
    unsupported("arguments that are neither .param variables, registers nor numbers");
  const bool declared = list != nullptr && k < list->size();
  if (!declared && !in_register) unsupported("a number for a parameter of unknown type");
  const Type type =
      declared ? (*list)[k].type : source_->registers[static_cast<std::size_t>(part.index)].type;
  const auto bytes = static_cast<std::uint32_t>(ptx::bits_of(type) / 8);
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) unsupported("parameter type");
  std::uint32_t& end = program_.functions[number_].frame_bytes;
  const Passed passed{&part, end, bytes};
  end += 16;
  if (!is_result) {
    const SlotKind kind = slot_kind_of(type);
    move_by_frame(true, source(part, kind, type), kind, passed.offset, bytes);
  }
  return passed;
}

// At the start of a function: what came by the frame and belongs into registers. In a block of its own, that loops do not run again.
void Decoder::take_register_parameters() {
  if (source_->is_entry) return;
  bool any = false;
  const ProgramFunction f = program_.functions[number_];
  for (std::size_t k = 0; k < source_->parameters.size(); ++k) {
    const ptx::Variable& v = source_->parameters[k];
    if (v.space != Space::reg || v.register_index < 0) continue;
    if (!std::exchange(any, true)) open_block();
    move_by_frame(false, register_slot(v.register_index), register_kind(v.register_index),
                  f.parameter_offsets[k], f.parameter_sizes[k]);
  }
}

void Decoder::leave_register_results() {
  if (source_->is_entry) return;
  for (std::size_t k = 0; k < source_->results.size(); ++k) {
    const ptx::Variable& v = source_->results[k];
    if (v.space != Space::reg || v.register_index < 0) continue;
    const ProgramFunction& f = program_.functions[number_];
    const std::uint32_t offset = f.result_offsets[k], bytes = f.result_sizes[k];
    move_by_frame(true, register_slot(v.register_index), register_kind(v.register_index), offset, bytes);
  }
}

}  // namespace course::sim
