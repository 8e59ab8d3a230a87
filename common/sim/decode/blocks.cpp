// SPDX-License-Identifier: MIT
// Splits functions into basic blocks: frames, leaders, guards, and the block numbers for branches.
#include <fmt/format.h>

#include <algorithm>

#include "base/demangle.hpp"
#include "sim/decode/decoder.hpp"

namespace course::sim {

std::uint32_t Decoder::open_block() {
  BasicBlock b;
  b.first = b.last = static_cast<std::uint32_t>(program_.ops.size());
  b.function = static_cast<std::uint16_t>(number_);
  program_.blocks.push_back(b);
  return static_cast<std::uint32_t>(program_.blocks.size() - 1);
}

// Ends the current block; the next instruction opens a new one.
void Decoder::close_block(Exit exit) {
  block().exit = exit;
}

// A sync op must be the first op of its block. If its operands needed ops of their own, it opens another
// block after them.
void Decoder::open_sync_block() {
  if (block().last != block().first) {
    const std::uint32_t fresh = open_block();
    BasicBlock& before = program_.blocks[fresh - 1];
    before.next = fresh;
    before.counted -= 1;
    block().counted = 1;
  }
  block().entry = Entry::warp_sync;
}

bool is_sync(const Instruction& i) {
  const std::string_view o = i.opcode;
  return o == "bar" || o == "barrier" || o == "shfl" || o == "vote" || o == "match" || o == "redux" ||
         o == "elect" || o == "mma" || o == "wmma" || o == "ldmatrix" || o == "stmatrix" || o == "movmatrix";
}
bool is_control(const Instruction& i) {
  const std::string_view o = i.opcode;
  return o == "bra" || o == "brx" || o == "ret" || o == "exit" || o == "call" || o == "trap";
}

// --- functions ---------------------------------------------------------------------------------------------

void Decoder::function(std::uint32_t number) {
  number_ = number;
  source_ = sources_[number];
  if (program_.functions.size() <= number) program_.functions.resize(number + 1);
  program_.functions[number].source = source_;
  register_slots_.assign(source_->registers.size(), MicroOp::kNoSlot);
  register_uses_.assign(source_->registers.size(), 0);
  const auto count = [&](const auto& self, const Operand& operand) -> void {
    if (operand.index >= 0 && (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::address))
      ++register_uses_[static_cast<std::size_t>(operand.index)];
    for (const Operand& part : operand.parts) self(self, part);
  };
  for (const Instruction& i : source_->instructions) {
    if (i.guard >= 0) ++register_uses_[static_cast<std::size_t>(i.guard)];
    for (const Operand& operand : i.operands) count(count, operand);
  }
  frame_offsets_.clear();
  fixups_.clear();
  table_fixups_.clear();

  {  // the frame: results, parameters (except of kernels), .local and .param variables
    ProgramFunction& f = program_.functions[number];
    std::uint32_t end = 0;
    // A parameter in a register has the size of its type.
    const auto size_of = [](const ptx::Variable& v) {
      return v.space == Space::reg ? static_cast<std::uint32_t>(ptx::bits_of(v.type) / 8 * v.vector)
                                   : static_cast<std::uint32_t>(v.size);
    };
    std::uint64_t all = 0;  // bytes; a variable's size may not fit into 32 bits
    for (const auto& v : source_->variables)
      if (v.space == Space::local || v.space == Space::param)
        all += std::min<std::uint64_t>(v.size, kMostLocal + 1);
    if (all > kMostLocal)
      throw DecodeError(
          fmt::format("'{}' uses too much local data: its variables take more than the {} KiB of a thread",
                      demangled(source_->name), kMostLocal / 1024));
    const auto place = [&](const ptx::Variable& v) {
      const std::uint32_t alignment = std::max({v.alignment, 1u, v.space == Space::reg ? 8u : 1u});
      end = (end + alignment - 1) / alignment * alignment;
      const std::uint32_t at = end;
      frame_offsets_.emplace(v.name, at);
      end += size_of(v);
      return at;
    };
    if (!source_->is_entry) {
      for (const auto& v : source_->results) {
        f.result_offsets.push_back(place(v));
        f.result_sizes.push_back(size_of(v));
      }
      for (const auto& v : source_->parameters) {
        f.parameter_offsets.push_back(place(v));
        f.parameter_sizes.push_back(size_of(v));
      }
    }
    for (const auto& v : source_->variables)
      if (v.space == Space::local || v.space == Space::param) place(v);
    f.frame_bytes = (end + 15) / 16 * 16;
  }

  const auto n = static_cast<std::int32_t>(source_->instructions.size());
  std::vector<bool> leader(static_cast<std::size_t>(n) + 1, false);
  leader[0] = true;
  for (const auto& label : source_->labels) leader[static_cast<std::size_t>(label.at)] = true;
  for (std::int32_t k = 0; k < n; ++k) {
    const Instruction& i = source_->instructions[static_cast<std::size_t>(k)];
    if (is_sync(i)) leader[static_cast<std::size_t>(k)] = true;
    if (is_control(i) || (is_sync(i) && i.guard >= 0)) leader[static_cast<std::size_t>(k) + 1] = true;
    if (i.guard >= 0 && ((is_control(i) && i.opcode != "bra") || is_sync(i)))
      leader[static_cast<std::size_t>(k)] = true;
  }

  block_of_instruction_.assign(static_cast<std::size_t>(n) + 1, 0);
  program_.functions[number].entry_block = static_cast<std::uint32_t>(program_.blocks.size());
  if (n > 0) {
    current_ = &source_->instructions.front();
    take_register_parameters();
  }
  for (std::int32_t k = 0; k < n; ++k) {
    const Instruction& i = source_->instructions[static_cast<std::size_t>(k)];
    current_ = &i;
    if (leader[static_cast<std::size_t>(k)]) {
      const std::uint32_t fresh = open_block();
      const bool follows = fresh > program_.functions[number].entry_block;
      if (follows && program_.blocks[fresh - 1].exit == Exit::fall) program_.blocks[fresh - 1].next = fresh;
      block_of_instruction_[static_cast<std::size_t>(k)] = fresh;
    }
    guard_ = MicroOp::kNoSlot;
    guard_negated_ = false;
    if (i.guard >= 0) {
      if ((is_control(i) && i.opcode != "bra") || is_sync(i)) {
        // The guard is tested in a separate block before, so that sync and control ops are never guarded.
        BasicBlock& test = block();
        test.predicate = register_slot(i.guard);
        test.predicate_negated = i.guard_negated;
        test.exit = Exit::branch;
        const auto test_number = static_cast<std::uint32_t>(program_.blocks.size() - 1);
        fixups_.push_back({test_number, true, k + 1});
        const std::uint32_t body = open_block();
        program_.blocks[test_number].target = body;
      } else if (i.opcode != "bra") {
        guard_ = register_slot(i.guard);
        guard_negated_ = i.guard_negated;
      }
    }
    block().counted += 1;
    block().ptx_index = static_cast<std::uint32_t>(k);
    instruction(i, k);
    block().ptx_index = static_cast<std::uint32_t>(k);
  }
  // The end of a function returns.
  const std::uint32_t end = open_block();
  if (end > 0 && program_.blocks[end - 1].function == number && program_.blocks[end - 1].exit == Exit::fall)
    program_.blocks[end - 1].next = end;
  block_of_instruction_[static_cast<std::size_t>(n)] = end;
  if (n > 0) {
    current_ = &source_->instructions.back();
    guard_ = MicroOp::kNoSlot;
    leave_register_results();
  }
  close_block(Exit::ret);

  for (const Fixup& fix : fixups_) {
    const std::uint32_t to = block_of_instruction_[static_cast<std::size_t>(fix.instruction)];
    (fix.is_next ? program_.blocks[fix.block].next : program_.blocks[fix.block].target) = to;
  }
  for (const auto& [table, targets] : table_fixups_) {
    for (const std::int32_t at : targets->targets)
      program_.jump_tables[table].push_back(block_of_instruction_[static_cast<std::size_t>(at)]);
  }
}

}  // namespace course::sim
