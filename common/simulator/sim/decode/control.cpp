// SPDX-License-Identifier: MIT
// Branches, jump tables and calls: the ends of blocks and their successors.
#include <fmt/format.h>

#include "sim/decode/decoder.hpp"

namespace course::sim {

namespace {

// The feature that is missing in the simulator, for functions of libcudadevrt; "" for any other function.
std::string of_device_runtime(std::string_view name) {
  constexpr std::string_view kPrefix = "__cudaCDP2";
  if (name == "cudaGraphSetConditional")
    return "cudaGraphSetConditional: conditional graph nodes are not simulated (copy the condition to the "
           "host, and launch there the graph that it chooses)";
  if (!name.starts_with(kPrefix)) return "";
  const std::string_view call = name.substr(kPrefix.size());
  return fmt::format("cuda{}, called by a kernel, is not simulated (call it on the host and pass the result)",
                     call.substr(0, call.find('_')));
}

}  // namespace

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
  std::vector<Passed> taken;  // results that are stored in registers
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
      out.push_back({passed.offset, passed.bytes * static_cast<std::uint32_t>(passed.operands.size())});
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
    static const std::set<std::string, std::less<>> kBuiltins = {
        "vprintf",    "__assertfail",        "malloc",        "free",          kPrepareChild,
        kLaunchChild, kLaunchChildPerThread, kGetDeviceError, kPeekDeviceError};
    if (f == nullptr) unsupported(fmt::format("unknown function {}", callee->name));
    if (!f->is_declaration) {
      site.callee = function_number(f);
    } else if (kBuiltins.contains(callee->name)) {
      site.builtin = callee->name;
      if (callee->name != "vprintf" && callee->name != "__assertfail") program_.order_sensitive = true;
    } else {
      const std::string refusal = of_device_runtime(callee->name);
      throw DecodeError(refusal.empty() ? fmt::format("the function '{}' has no body in this program {}",
                                                      callee->name, where())
                                        : refusal + " " + where());
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
  program_.blocks[number].next = open_block();  // continues here after the return
  for (const Passed& passed : taken) {
    std::uint32_t at = passed.offset;
    for (const Operand* operand : passed.operands) {
      if (operand->kind != Operand::Kind::sink)
        move_by_frame(false, register_slot(operand->index), register_kind(operand->index), at, passed.bytes);
      at += passed.bytes;
    }
  }
}

// --- parameters in registers -------------------------------------------------------------------------------

// Moves a value between a register and the function's frame in local memory.
void Decoder::move_by_frame(bool store, std::uint32_t slot, SlotKind kind, std::uint32_t offset,
                            std::uint32_t bytes) {
  if (kind == SlotKind::predicate) unsupported("a predicate cannot be a parameter or a result");
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
  Passed passed;
  if (part.kind == Operand::Kind::vector)
    for (const Operand& component : part.parts) passed.operands.push_back(&component);
  else
    passed.operands.push_back(&part);
  const Operand& first = *passed.operands.at(0);
  const bool in_register = first.kind == Operand::Kind::reg;
  if (!in_register && (is_result ? first.kind != Operand::Kind::sink : first.kind == Operand::Kind::symbol))
    unsupported(part, "neither a .param variable nor a register nor a number");
  const bool declared = list != nullptr && k < list->size();
  if (!declared && !in_register) unsupported(part, "a number for a parameter of unknown type");
  if (declared && first.kind != Operand::Kind::sink &&
      passed.operands.size() != static_cast<std::size_t>((*list)[k].vector))
    unsupported(part, fmt::format("a vector of {} values is expected", (*list)[k].vector));
  const Type type =
      declared ? (*list)[k].type : source_->registers[static_cast<std::size_t>(first.index)].type;
  passed.bytes = static_cast<std::uint32_t>(ptx::bits_of(type) / 8);
  if (passed.bytes != 1 && passed.bytes != 2 && passed.bytes != 4 && passed.bytes != 8)
    unsupported(part, fmt::format("a parameter of type .{}", ptx::spelling(type)));
  std::uint32_t& end = program_.functions[number_].frame_bytes;
  passed.offset = end;
  const std::uint32_t total = passed.bytes * static_cast<std::uint32_t>(passed.operands.size());
  end += (total + 15) / 16 * 16;
  check_frame(end);
  if (!is_result) {
    const SlotKind kind = slot_kind_of(type);
    std::uint32_t at = passed.offset;
    for (const Operand* operand : passed.operands) {
      move_by_frame(true, source(*operand, kind, type), kind, at, passed.bytes);
      at += passed.bytes;
    }
  }
  return passed;
}

// Moves all components of a register parameter or result.
void Decoder::move_register_variable(const ptx::Variable& v, bool store, std::uint32_t offset) {
  const auto bytes = static_cast<std::uint32_t>(ptx::bits_of(v.type) / 8);
  for (std::int32_t k = 0; k < v.vector; ++k)
    move_by_frame(store, register_slot(v.register_index + k), register_kind(v.register_index + k),
                  offset + static_cast<std::uint32_t>(k) * bytes, bytes);
}

// At the start of a function, loads register parameters from the frame. In a block of its own, so that loops
// do not repeat it.
void Decoder::take_register_parameters() {
  if (source_->is_entry) return;
  bool any = false;
  const ProgramFunction f = program_.functions[number_];
  for (std::size_t k = 0; k < source_->parameters.size(); ++k) {
    const ptx::Variable& v = source_->parameters[k];
    if (v.space != Space::reg || v.register_index < 0) continue;
    if (!std::exchange(any, true)) open_block();
    move_register_variable(v, false, f.parameter_offsets[k]);
  }
}

void Decoder::leave_register_results() {
  if (source_->is_entry) return;
  for (std::size_t k = 0; k < source_->results.size(); ++k) {
    const ptx::Variable& v = source_->results[k];
    if (v.space != Space::reg || v.register_index < 0) continue;
    move_register_variable(v, true, program_.functions[number_].result_offsets[k]);
  }
}

}  // namespace course::sim
