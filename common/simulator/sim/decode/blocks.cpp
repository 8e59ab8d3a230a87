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

namespace {

// Whether a guard is tested in a block of its own before the instruction. So sync and control ops are never
// guarded.
bool tests_guard_before(const Instruction& i) {
  return i.guard >= 0 && ((is_control(i) && i.opcode != "bra") || is_sync(i));
}

// How many operands and guards use each register.
std::vector<std::uint32_t> register_uses(const ptx::Function& f) {
  std::vector<std::uint32_t> uses(f.registers.size(), 0);
  const auto count = [&](const auto& self, const Operand& operand) -> void {
    if (operand.index >= 0 && (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::address))
      ++uses[static_cast<std::size_t>(operand.index)];
    for (const Operand& part : operand.parts) self(self, part);
  };
  for (const Instruction& i : f.instructions) {
    if (i.guard >= 0) ++uses[static_cast<std::size_t>(i.guard)];
    for (const Operand& operand : i.operands) count(count, operand);
  }
  return uses;
}

// Which instructions start a block.
std::vector<bool> leaders_of(const ptx::Function& f) {
  const std::size_t n = f.instructions.size();
  std::vector<bool> leader(n + 1, false);
  leader[0] = true;
  for (const auto& label : f.labels) leader[static_cast<std::size_t>(label.at)] = true;
  for (std::size_t k = 0; k < n; ++k) {
    const Instruction& i = f.instructions[k];
    if (is_sync(i) || tests_guard_before(i)) leader[k] = true;
    if (is_control(i) || (is_sync(i) && i.guard >= 0)) leader[k + 1] = true;
  }
  return leader;
}

}  // namespace

void Decoder::check_frame(std::uint64_t n_bytes) const {
  if (n_bytes > kMaxLocal)
    throw DecodeError(
        fmt::format("'{}' uses too much local data: its variables take more than the {} KiB of a thread",
                    demangled(source_->name), kMaxLocal / 1024));
}

void Decoder::lay_out_frame(ProgramFunction& f) {
  // A parameter in a register has the size of its type.
  const auto size_of = [](const ptx::Variable& v) {
    const std::uint64_t n_bytes =
        v.space == Space::reg ? static_cast<std::uint64_t>(ptx::bits_of(v.type) / 8 * v.vector) : v.size;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(n_bytes, kMaxLocal + 1));
  };
  std::uint64_t end = 0;
  const auto place = [&](const ptx::Variable& v) {
    const std::uint64_t alignment = std::max({v.alignment, 1u, v.space == Space::reg ? 8u : 1u});
    end = (end + alignment - 1) / alignment * alignment;
    const std::uint64_t at = end;
    end += size_of(v);
    check_frame(end);
    frame_offsets_.emplace(v.name, static_cast<std::uint32_t>(at));
    return static_cast<std::uint32_t>(at);
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
  f.frame_bytes = static_cast<std::uint32_t>((end + 15) / 16 * 16);
}

void Decoder::open_block_at(std::size_t k) {
  const std::uint32_t fresh = open_block();
  if (fresh > program_.functions[number_].entry_block && program_.blocks[fresh - 1].exit == Exit::fall)
    program_.blocks[fresh - 1].next = fresh;
  block_of_instruction_[k] = fresh;
}

void Decoder::take_guard(const Instruction& i, std::int32_t k) {
  guard_ = MicroOp::kNoSlot;
  guard_negated_ = false;
  if (tests_guard_before(i)) {
    BasicBlock& test = block();
    test.predicate = register_slot(i.guard);
    test.predicate_negated = i.guard_negated;
    test.exit = Exit::branch;
    const auto test_number = static_cast<std::uint32_t>(program_.blocks.size() - 1);
    fixups_.push_back({test_number, true, k + 1});
    const std::uint32_t body = open_block();
    program_.blocks[test_number].target = body;
  } else if (i.guard >= 0 && i.opcode != "bra") {
    guard_ = register_slot(i.guard);
    guard_negated_ = i.guard_negated;
  }
}

void Decoder::function(std::uint32_t number) {
  number_ = number;
  source_ = sources_[number];
  if (program_.functions.size() <= number) program_.functions.resize(number + 1);
  program_.functions[number].source = source_;
  register_slots_.assign(source_->registers.size(), MicroOp::kNoSlot);
  register_uses_ = register_uses(*source_);
  contractions_ = contractions_of(module_, *source_);
  factors_.clear();
  frame_offsets_.clear();
  fixups_.clear();
  table_fixups_.clear();
  lay_out_frame(program_.functions[number]);

  const std::size_t n = source_->instructions.size();
  const std::vector<bool> leader = leaders_of(*source_);
  block_of_instruction_.assign(n + 1, 0);
  program_.functions[number].entry_block = static_cast<std::uint32_t>(program_.blocks.size());
  if (n > 0) {
    current_ = &source_->instructions.front();
    take_register_parameters();
  }
  for (std::size_t k = 0; k < n; ++k) {
    const Instruction& i = source_->instructions[k];
    const auto index = static_cast<std::int32_t>(k);
    current_ = &i;
    if (leader[k]) open_block_at(k);
    take_guard(i, index);
    block().counted += contractions_.vanishes[k] ? 0u : 1u;
    block().ptx_index = static_cast<std::uint32_t>(k);
    instruction(i, index);
    block().ptx_index = static_cast<std::uint32_t>(k);
  }
  // The end of a function returns.
  open_block_at(n);
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
