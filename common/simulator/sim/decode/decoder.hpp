// SPDX-License-Identifier: MIT
// The state of the decoder; each part of it is in its own file. Private to this folder; others include
// decode.hpp.
// Reading order: decode.cpp (a kernel, its functions, instructions), blocks.cpp, slots.cpp, operands.cpp,
// emit.cpp, then the families alu.cpp, memory.cpp, async.cpp, warp_sync.cpp, matrix.cpp (and
// ldmatrix.cpp, wmma_memory.cpp), texture.cpp, control.cpp.
// Most instructions are one row of the op table, found by their spelling. The decoder only handles
// instructions whose operands or control flow need more.
// Invariant: the ops of a block are contiguous; a sync op starts a block; a control op ends one.
// Source: NVIDIA, "PTX ISA", version 9.0, chapters 5 to 9.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/ir.hpp"
#include "sim/decode/contract.hpp"
#include "sim/decode/decode.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

struct DecodeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

SlotKind slot_kind_of(Type type);
// Of an instruction's types; none where it has none.
inline Type first_type(const Instruction& i) {
  return i.types.empty() ? Type::none : i.types.front();
}
inline Type last_type(const Instruction& i) {
  return i.types.empty() ? Type::none : i.types.back();
}
bool is_signed(Type t);
bool is_float(Type t);
inline bool is_half_pair(Type t) {
  return t == Type::f16x2 || t == Type::bf16x2;
}
// Whether the instruction waits for other lanes (and so starts a block), and whether it ends a block.
bool is_sync(const Instruction& i);
bool is_control(const Instruction& i);
// Adds the names of all symbols in an operand.
void collect_names(const Operand& operand, std::set<std::string>& names);

struct Access {
  Space space = Space::generic;
  MemorySpace kind = MemorySpace::generic;
  const char* place = "generic";
  Type type = Type::none;
  int count = 1;
  std::uint8_t order = kWeak;
};

// Gets space, vector length, type, order and scope from the modifiers of a memory instruction.
Access access_of(const Instruction& i);

class Decoder {
 public:
  Decoder(const ModuleImage& image, const OpTable& table, SlotNames* names)
      : image_(image), module_(*image.module), table_(table), slot_names_(names) {}

  Program run(const ptx::Function& kernel);

 private:
  struct Fixup {  // a block number that is filled in when all blocks of the function are known
    std::uint32_t block;
    bool is_next;
    std::int32_t instruction;
  };

  // --- slots
  std::uint32_t new_slot(SlotKind kind);
  std::uint32_t constant(SlotKind kind, std::uint64_t value);
  std::uint32_t special(std::string_view name, SlotKind kind);
  std::uint32_t register_slot(std::int32_t index);
  SlotKind register_kind(std::int32_t index) const {
    return slot_kind_of(source_->registers[static_cast<std::size_t>(index)].type);
  }
  std::uint32_t temporary(SlotKind kind) { return new_slot(kind); }
  bool is_double_wide(std::int32_t index) const;
  // Whether any other operand of the function names this destination register.
  bool is_read(const Operand& destination) const;
  std::pair<std::uint32_t, std::uint32_t> double_wide(const Operand& operand);

  // --- operands
  std::uint32_t source(const Operand& operand, SlotKind kind, Type type);
  std::uint32_t predicate_source(const Operand& operand);
  std::uint32_t sum(const Operand& operand, SlotKind kind, Type type);
  std::uint32_t members_of(const Instruction& i, std::size_t operand);
  struct Result {  // the destination of an op, and the conversion that must follow
    std::uint32_t slot = MicroOp::kNoSlot;
    std::uint32_t target = MicroOp::kNoSlot;
    const char* convert = nullptr;
  };
  Result result(const Operand& operand, SlotKind kind, bool sign_extends);
  void finish(const Result& r);
  void address(const Operand& operand, Space space, MicroOp& op);
  std::uint32_t generic_address(const Operand& operand, Space space);
  std::uint64_t symbol_value(std::string_view name);
  void note_taken_addresses();
  const ptx::Variable* local_variable(std::string_view name) const;
  bool is_kernel_parameter(std::string_view name) const;
  bool is_in_frame(std::string_view name) const;
  std::uint32_t frame_offset(std::string_view name);
  void lay_out_shared(const std::vector<const ptx::Function*>& functions);

  // --- ops
  MicroOp& emit(const OpRow& row);
  MicroOp& emit(std::string_view key) { return emit(row(key)); }
  const OpRow& row(std::string_view key) const;
  // Emits row `key` with the given slots.
  void simple(std::string_view key, std::uint32_t dst, std::initializer_list<std::uint32_t> sources);
  void table_instruction(const OpRow& r, const Instruction& i);
  void check_operands() const;

  void save_factors(const Instruction& product, std::size_t k);
  void contracted_sum(const Instruction& sum, const Contraction& c);

  // --- blocks
  std::uint32_t open_block();
  void close_block(Exit exit);
  void open_sync_block();
  void open_block_at(std::size_t k);  // for instruction k of the function, or its end
  // The guard of instruction k: a test in a block of its own, or of each of the instruction's ops.
  void take_guard(const Instruction& i, std::int32_t k);
  // The frame: results, parameters (except of kernels), .local and .param variables.
  void lay_out_frame(ProgramFunction& f);
  // Throws if the current function's frame would need more than the local memory of a thread.
  void check_frame(std::uint64_t n_bytes) const;
  BasicBlock& block() { return program_.blocks.back(); }

  // --- instructions
  void function(std::uint32_t number);
  void instruction(const Instruction& i, std::int32_t index);
  void dispatch(const Instruction& i, std::int32_t index);
  void move(const Instruction& i);
  void move_double_wide(const Operand& to, const Operand& from);
  void move_vector(const Operand& to, const Operand& from, Type type);
  void pack(const Operand& target, const std::vector<Operand>& parts, Type type);
  void unpack(const std::vector<Operand>& parts, const Operand& from, Type type);
  std::pair<std::uint32_t, std::uint32_t> halves(const Operand& operand);
  std::vector<std::uint32_t> compared(const Instruction& i, bool has_result_type, bool wants_opposite,
                                      std::uint32_t* opposite);
  void compare(const Instruction& i);
  void logic_with_predicate(const Instruction& i);
  void set(const Instruction& i);
  void convert_address(const Instruction& i);
  void is_space(const Instruction& i);
  void load(const Instruction& i);
  void store(const Instruction& i);
  void load_double_wide(const Instruction& i, const Access& a);
  void store_double_wide(const Instruction& i, const Access& a);
  MicroOp& plain_access(std::string_view key, std::uint32_t address, bool wide, std::int64_t offset,
                        int bytes);
  void atomic(const Instruction& i);
  void atomic_element(const OpRow& r, const Access& a, const Operand& where, int element,
                      std::span<const Operand> values, const Operand* to);
  void atomic_double_wide(const OpRow& r, const Access& a, const Operand& where,
                          std::span<const Operand> values, const Operand* to);
  void barrier(const Instruction& i);
  void shuffle(const Instruction& i);
  void vote(const Instruction& i);
  void match(const Instruction& i);
  void warp_reduce(const Instruction& i);
  void elect(const Instruction& i);
  void fence(const Instruction& i);
  void access_matrix(const Instruction& i);
  void move_matrix(const Instruction& i);
  void multiply_matrices(const Instruction& i);
  void warp_matrix(const Instruction& i);
  void access_fragment(const Instruction& i);
  struct FragmentAccess;
  FragmentAccess fragment_access(const Instruction& i) const;
  std::map<int, std::uint32_t> line_addresses(const Instruction& i, const FragmentAccess& f);
  void access_element(const FragmentAccess& f, std::size_t r, int j, std::uint32_t slot);
  void load_elements(const FragmentAccess& f, std::size_t r);
  std::uint32_t calculate(std::string_view key, SlotKind kind, std::uint32_t x, std::uint32_t y);
  std::uint32_t shifted(const char* key, std::uint32_t x, int by);
  std::uint32_t gather(const Operand& operand, std::size_t n, SlotKind kind);
  std::uint32_t row_address(const Operand& operand);
  std::vector<std::uint32_t> texture_sources(const Operand& place, std::size_t n, Type type);
  void texture(const Instruction& i);
  void surface(const Instruction& i);
  void copy(const Instruction& i);
  void copy_bulk(const Instruction& i);
  void prefetch(const Instruction& i);
  MicroOp& mbarrier_op(std::string_view key, std::uint32_t at, bool strong);
  void mbarrier_arrive(const Instruction& i);
  void mbarrier(const Instruction& i);
  void map_address(const Instruction& i);
  void branch(const Instruction& i, std::int32_t index);
  void indexed_branch(const Instruction& i);
  void call(const Instruction& i, std::int32_t index);
  void move_by_frame(bool store, std::uint32_t slot, SlotKind kind, std::uint32_t offset,
                     std::uint32_t bytes);
  void move_register_variable(const ptx::Variable& v, bool store, std::uint32_t offset);
  void take_register_parameters();
  void leave_register_results();
  // An argument or a result of a call in registers (or an immediate), and its offset in the caller's frame.
  struct Passed {
    std::vector<const Operand*> operands;  // one operand, or the components of a vector
    std::uint32_t offset, bytes;           // of each operand
  };
  Passed passed_by_register(const Operand& part, const ptx::Function* callee, bool is_result, std::size_t k);
  std::string table_key(const Instruction& i) const;

  std::uint32_t function_number(const ptx::Function* f);
  [[noreturn]] void unsupported(const std::string& why = "") const;
  // The same for one operand, which the message identifies by its number.
  [[noreturn]] void unsupported(const Operand& operand, const std::string& why) const;
  std::string where() const;

  const ModuleImage& image_;
  const ptx::Module& module_;
  const OpTable& table_;
  SlotNames* const slot_names_;  // nullptr unless they are asked for
  Program program_;

  std::map<std::pair<SlotKind, std::uint64_t>, std::uint32_t> constants_;
  std::uint32_t predicate_chunk_ = 0, predicates_left_ = 0;
  std::vector<const ptx::Function*> sources_;  // by function number
  std::map<std::string, std::uint32_t, std::less<>> shared_offsets_;
  std::deque<std::string> names_;  // names of operands that the decoder has created

  // the current function
  std::uint32_t number_ = 0;
  const ptx::Function* source_ = nullptr;
  const Instruction* current_ = nullptr;
  std::vector<std::uint32_t> register_slots_;
  std::vector<std::uint32_t> register_uses_;  // number of operands that use the register
  std::map<std::string, std::uint32_t, std::less<>> frame_offsets_;
  std::vector<std::uint32_t> block_of_instruction_;
  std::vector<Fixup> fixups_;
  std::vector<std::pair<std::uint32_t, const ptx::BranchTargets*>> table_fixups_;
  Contractions contractions_;
  std::map<std::size_t, std::pair<std::uint32_t, std::uint32_t>> factors_;  // slots, by contracted product
  std::uint32_t guard_ = MicroOp::kNoSlot;
  bool guard_negated_ = false;
  bool helper_ = false;  // the ops emitted now are helpers, which are not counted
};

}  // namespace course::sim
