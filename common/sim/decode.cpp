// SPDX-License-Identifier: MIT
// Reading order: decode() at the end, then Decoder::function, ::instruction, and the families below it.
// Most instructions are one row of the op table, found by their own spelling; this file only treats those whose operands or
// control flow need more. Invariant: a block's ops are contiguous; sync ops open a block; control ends one.
// Source: NVIDIA, "PTX ISA", version 9.0, chapters 5 to 9.
#include "sim/decode.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>

#include "sim/memory.hpp"
#include "sim/warp.hpp"

namespace course::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

struct DecodeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

SlotKind slot_kind_of(Type type) {
  if (type == Type::pred) return SlotKind::predicate;
  return ptx::bits_of(type) > 32 ? SlotKind::wide : SlotKind::narrow;
}

bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
bool is_float(Type t) {
  return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64;
}

// The spelling that memory rows use for a type: its size, and sign where loading extends it.
const char* memory_suffix(Type type, bool load) {
  const bool s = load && is_signed(type);
  switch (ptx::bits_of(type)) {
    case 8: return s ? "s8" : "u8";
    case 16: return s ? "s16" : "u16";
    case 32: return "u32";
    case 64: return "u64";
    default: return nullptr;
  }
}

constexpr std::uint32_t kNarrowBytes = 32 * 4, kWideBytes = 32 * 8;

class Decoder {
 public:
  Decoder(const ModuleImage& image, const OpTable& table)
      : image_(image), module_(*image.module), table_(table) {}

  Program run(const ptx::Function& kernel);

 private:
  struct Fixup {  // a block number to be filled in once the function's blocks are known
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

  // --- operands
  std::uint32_t source(const Operand& operand, SlotKind kind, Type type);
  std::uint32_t predicate_source(const Operand& operand);
  struct Result {  // where an op writes, and what must follow to bring the value into the register
    std::uint32_t slot = MicroOp::kNoSlot;
    std::uint32_t target = MicroOp::kNoSlot;
    const char* convert = nullptr;
  };
  Result result(const Operand& operand, SlotKind kind, bool sign_extends);
  void finish(const Result& r);
  void address(const Operand& operand, Space space, MicroOp& op);
  std::uint64_t symbol_value(std::string_view name);
  const ptx::Variable* local_variable(std::string_view name) const;
  bool is_kernel_parameter(std::string_view name) const;
  std::uint32_t frame_offset(std::string_view name);
  void lay_out_shared(const std::vector<const ptx::Function*>& functions);

  // --- ops
  MicroOp& emit(const OpRow& row);
  MicroOp& emit(std::string_view key) { return emit(row(key)); }
  const OpRow& row(std::string_view key) const;
  // Emits row `key` on ready slots.
  void simple(std::string_view key, std::uint32_t dst, std::initializer_list<std::uint32_t> sources);
  void table_instruction(const OpRow& r, const Instruction& i);

  // --- blocks
  std::uint32_t open_block();
  void close_block(Exit exit);
  void open_sync_block();
  BasicBlock& block() { return program_.blocks.back(); }

  // --- instructions
  void function(std::uint32_t number);
  void instruction(const Instruction& i, std::int32_t index);
  void move(const Instruction& i);
  void pack(const Operand& target, const std::vector<Operand>& parts, Type type);
  void unpack(const std::vector<Operand>& parts, const Operand& from, Type type);
  void compare(const Instruction& i);
  void set(const Instruction& i);
  void convert_address(const Instruction& i);
  void is_space(const Instruction& i);
  void load(const Instruction& i);
  void store(const Instruction& i);
  void atomic(const Instruction& i);
  void barrier(const Instruction& i);
  void shuffle(const Instruction& i);
  void vote(const Instruction& i);
  void match(const Instruction& i);
  void warp_reduce(const Instruction& i);
  void elect(const Instruction& i);
  void fence(const Instruction& i);
  void branch(const Instruction& i, std::int32_t index);
  void indexed_branch(const Instruction& i);
  void call(const Instruction& i, std::int32_t index);
  std::optional<std::string> table_key(const Instruction& i) const;

  std::uint32_t function_number(const ptx::Function* f);
  [[noreturn]] void unsupported(const std::string& why = "") const;
  std::string where() const;

  const ModuleImage& image_;
  const ptx::Module& module_;
  const OpTable& table_;
  Program program_;

  std::map<std::pair<SlotKind, std::uint64_t>, std::uint32_t> constants_;
  std::uint32_t predicate_chunk_ = 0, predicates_left_ = 0;
  std::vector<const ptx::Function*> sources_;  // by function number
  std::map<std::string, std::uint32_t, std::less<>> shared_offsets_;
  std::set<std::string> address_taken_;

  // of the function at hand
  std::uint32_t number_ = 0;
  const ptx::Function* source_ = nullptr;
  const Instruction* current_ = nullptr;
  std::vector<std::uint32_t> register_slots_;
  std::map<std::string, std::uint32_t, std::less<>> frame_offsets_;
  std::vector<std::uint32_t> block_of_instruction_;
  std::vector<Fixup> fixups_;
  std::vector<std::pair<std::uint32_t, const ptx::BranchTargets*>> table_fixups_;
  std::uint32_t guard_ = MicroOp::kNoSlot;
  bool guard_negated_ = false;
  bool helper_ = false;  // ops emitted now are the decoder's own, not counted
};

// --- errors -------------------------------------------------------------------------------------------------------

std::string Decoder::where() const {
  std::string place;
  if (current_->location >= 0) {
    const auto& location = module_.locations[static_cast<std::size_t>(current_->location)];
    if (const std::string* file = module_.find_file(location.file))
      place = fmt::format(" ({}:{})", *file, location.line);
  }
  return fmt::format("in {}{}, PTX line {}", demangled(source_->name), place, current_->text_line);
}

void Decoder::unsupported(const std::string& why) const {
  throw DecodeError(fmt::format("the simulator does not know the instruction '{}'{}{} {}",
                                current_->full_opcode(), why.empty() ? "" : ": ", why, where()));
}

// --- slots --------------------------------------------------------------------------------------------------------

std::uint32_t Decoder::new_slot(SlotKind kind) {
  if (kind == SlotKind::predicate) {
    if (predicates_left_ == 0) {  // predicates come in chunks of 16, so that wider slots stay 64-byte aligned
      predicate_chunk_ = program_.register_bytes;
      program_.register_bytes += 64;
      predicates_left_ = 16;
    }
    return predicate_chunk_ + 4 * (16 - predicates_left_--);
  }
  const std::uint32_t at = program_.register_bytes;
  program_.register_bytes += kind == SlotKind::wide ? kWideBytes : kNarrowBytes;
  return at;
}

std::uint32_t Decoder::constant(SlotKind kind, std::uint64_t value) {
  if (kind == SlotKind::narrow) value = static_cast<std::uint32_t>(value);
  if (kind == SlotKind::predicate) value = value != 0 ? ~0u : 0u;
  const auto [it, fresh] = constants_.try_emplace({kind, value}, 0);
  if (fresh) it->second = new_slot(kind);
  return it->second;
}

std::uint32_t Decoder::special(std::string_view name, SlotKind kind) {
  for (const SpecialSlot& s : program_.specials)
    if (s.name == name) return s.slot;
  static const std::set<std::string, std::less<>> kKnown = {"%tid.x",
                                                            "%tid.y",
                                                            "%tid.z",
                                                            "%ntid.x",
                                                            "%ntid.y",
                                                            "%ntid.z",
                                                            "%ctaid.x",
                                                            "%ctaid.y",
                                                            "%ctaid.z",
                                                            "%nctaid.x",
                                                            "%nctaid.y",
                                                            "%nctaid.z",
                                                            "%laneid",
                                                            "%warpid",
                                                            "%nwarpid",
                                                            "%smid",
                                                            "%nsmid",
                                                            "%gridid",
                                                            "%lanemask_eq",
                                                            "%lanemask_le",
                                                            "%lanemask_lt",
                                                            "%lanemask_ge",
                                                            "%lanemask_gt",
                                                            "%dynamic_smem_size",
                                                            "%total_smem_size",
                                                            "%aggr_smem_size",
                                                            "%reserved_smem_offset_begin",
                                                            "%reserved_smem_offset_end",
                                                            "%reserved_smem_offset_cap",
                                                            "%reserved_smem_offset_0",
                                                            "%reserved_smem_offset_1",
                                                            "%envreg0",
                                                            "%envreg1",
                                                            "%envreg2",
                                                            "%clusterid.x",
                                                            "%clusterid.y",
                                                            "%clusterid.z",
                                                            "%nclusterid.x",
                                                            "%nclusterid.y",
                                                            "%nclusterid.z",
                                                            "%cluster_ctaid.x",
                                                            "%cluster_ctaid.y",
                                                            "%cluster_ctaid.z",
                                                            "%cluster_nctaid.x",
                                                            "%cluster_nctaid.y",
                                                            "%cluster_nctaid.z",
                                                            "%cluster_ctarank",
                                                            "%cluster_nctarank",
                                                            "%is_explicit_cluster"};
  if (!kKnown.contains(name)) unsupported(fmt::format("special register {}", name));
  const std::uint32_t slot = new_slot(kind);
  program_.specials.push_back({std::string(name), slot});
  return slot;
}

std::uint32_t Decoder::register_slot(std::int32_t index) {
  std::uint32_t& slot = register_slots_[static_cast<std::size_t>(index)];
  if (slot == MicroOp::kNoSlot) {
    const SlotKind kind = register_kind(index);
    if (ptx::bits_of(source_->registers[static_cast<std::size_t>(index)].type) > 64)
      unsupported("128-bit register");
    slot = new_slot(kind);
    ProgramFunction& f = program_.functions[number_];
    (kind == SlotKind::predicate ? f.predicate_slots
     : kind == SlotKind::wide    ? f.wide_slots
                                 : f.narrow_slots)
        .push_back(slot);
  }
  return slot;
}

// --- symbols and frames -------------------------------------------------------------------------------------------

const ptx::Variable* Decoder::local_variable(std::string_view name) const {
  for (const auto& v : source_->variables)
    if (v.name == name) return &v;
  for (const auto& v : source_->parameters)
    if (v.name == name) return &v;
  for (const auto& v : source_->results)
    if (v.name == name) return &v;
  return nullptr;
}

bool Decoder::is_kernel_parameter(std::string_view name) const {
  if (!source_->is_entry) return false;
  return std::any_of(source_->parameters.begin(), source_->parameters.end(),
                     [&](const auto& p) { return p.name == name; });
}

// Byte offset of a .local or .param variable in the function's frame.
std::uint32_t Decoder::frame_offset(std::string_view name) {
  const auto it = frame_offsets_.find(name);
  if (it == frame_offsets_.end()) throw DecodeError(fmt::format("unknown variable '{}' {}", name, where()));
  return it->second;
}

// Value of a symbol that is the same for all threads: shared offset, global or parameter address, function address.
std::uint64_t Decoder::symbol_value(std::string_view name) {
  if (is_kernel_parameter(name)) {
    for (const auto& p : source_->parameters)
      if (p.name == name) return image_.parameter_area + p.offset;
  }
  if (const auto it = shared_offsets_.find(name); it != shared_offsets_.end()) return it->second;
  if (const auto it = image_.variables.find(std::string(name)); it != image_.variables.end())
    return it->second;
  if (const ptx::Function* f = module_.find_function(name)) {
    const std::uint32_t number = function_number(f);
    // Any address will do that no data has: the function's place in the module.
    program_.function_addresses.resize(std::max<std::size_t>(program_.function_addresses.size(), number + 1));
    return program_.function_addresses[number] = function_address(module_, *f);
  }
  throw DecodeError(fmt::format("unknown symbol '{}' {}", name, where()));
}

std::uint32_t Decoder::function_number(const ptx::Function* f) {
  for (std::size_t k = 0; k < sources_.size(); ++k)
    if (sources_[k] == f) return static_cast<std::uint32_t>(k);
  sources_.push_back(f);
  return static_cast<std::uint32_t>(sources_.size() - 1);
}

void collect_names(const Operand& operand, std::set<std::string>& names) {
  if (!operand.name.empty()) names.emplace(operand.name);
  for (const Operand& part : operand.parts) collect_names(part, names);
}

void Decoder::lay_out_shared(const std::vector<const ptx::Function*>& functions) {
  std::uint32_t end = 0;
  std::vector<const ptx::Variable*> dynamic;
  const auto place = [&](const ptx::Variable& v) {
    if (v.space != Space::shared || shared_offsets_.contains(v.name)) return;
    if (v.is_extern || v.size == 0) {
      dynamic.push_back(&v);
      return;
    }
    const std::uint32_t alignment = std::max(v.alignment, 1u);
    end = (end + alignment - 1) / alignment * alignment;
    shared_offsets_.emplace(v.name, end);
    const auto element = static_cast<std::uint32_t>(std::max(ptx::bits_of(v.type) / 8, 1));
    program_.shared.push_back({v.name, end, static_cast<std::uint32_t>(v.size), element});
    end += static_cast<std::uint32_t>(v.size);
  };
  std::set<std::string> used;
  for (const ptx::Function* f : functions) {
    for (const auto& v : f->variables) place(v);
    for (const Instruction& i : f->instructions)
      for (const Operand& operand : i.operands) collect_names(operand, used);
  }
  for (const auto& v : module_.variables)
    if (used.contains(v.name)) place(v);
  program_.static_shared = end;
  std::uint32_t alignment = 16;
  for (const ptx::Variable* v : dynamic) alignment = std::max(alignment, v->alignment);
  const std::uint32_t dynamic_start = dynamic.empty() ? end : (end + alignment - 1) / alignment * alignment;
  if (!dynamic.empty()) program_.static_shared = dynamic_start;
  for (const ptx::Variable* v : dynamic) {
    shared_offsets_.emplace(v->name, dynamic_start);
    program_.shared.push_back(
        {v->name, dynamic_start, 0, static_cast<std::uint32_t>(std::max(ptx::bits_of(v->type) / 8, 1))});
  }
}

// --- ops ----------------------------------------------------------------------------------------------------------

const OpRow& Decoder::row(std::string_view key) const {
  const OpRow* found = table_.find(key);
  if (found == nullptr) unsupported();
  return *found;
}

MicroOp& Decoder::emit(const OpRow& r) {
  MicroOp op;
  op.fn = r.fn;
  op.kind = r.kind;
  op.guard = guard_;
  op.guard_negated = guard_negated_;
  op.index = static_cast<std::uint32_t>(program_.ops.size());
  op.function = static_cast<std::uint16_t>(number_);
  op.ptx_index = static_cast<std::uint32_t>(current_ - source_->instructions.data());
  op.counted = !helper_;
  op.n_src = static_cast<std::uint8_t>(r.sources.size());
  op.n_dst = static_cast<std::uint8_t>(r.results.size());
  for (std::size_t k = 0; k < r.sources.size(); ++k) {
    if (r.sources[k] == SlotKind::wide) op.wide_src |= static_cast<std::uint8_t>(1u << k);
    if (r.sources[k] == SlotKind::predicate) op.pred_src |= static_cast<std::uint8_t>(1u << k);
  }
  for (std::size_t k = 0; k < r.results.size(); ++k) {
    if (r.results[k] == SlotKind::wide) op.wide_dst |= static_cast<std::uint8_t>(1u << k);
    if (r.results[k] == SlotKind::predicate) op.pred_dst |= static_cast<std::uint8_t>(1u << k);
  }
  program_.ops.push_back(op);
  block().last = static_cast<std::uint32_t>(program_.ops.size());
  return program_.ops.back();
}

void Decoder::simple(std::string_view key, std::uint32_t dst, std::initializer_list<std::uint32_t> sources) {
  MicroOp& op = emit(key);
  op.dst[0] = dst;
  std::copy(sources.begin(), sources.end(), op.src);
}

// --- operands -----------------------------------------------------------------------------------------------------

// The slot of an operand read as `kind`; `type` says how an immediate is to be understood.
std::uint32_t Decoder::source(const Operand& operand, SlotKind kind, Type type) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      if (kind == SlotKind::predicate) return predicate_source(operand);
      const SlotKind have = register_kind(operand.index);
      const std::uint32_t slot = register_slot(operand.index);
      if (have == kind) return slot;
      if (have == SlotKind::predicate) unsupported("a predicate where a value is expected");
      helper_ = true;
      const std::uint32_t converted = temporary(kind);
      simple(kind == SlotKind::wide ? (is_signed(type) ? "cvt.s64.s32" : "cvt.u64.u32") : "cvt.u32.u64",
             converted, {slot});
      helper_ = false;
      return converted;
    }
    case Operand::Kind::integer: {
      if (type == Type::f32)
        return constant(kind, std::bit_cast<std::uint32_t>(static_cast<float>(operand.integer)));
      if (type == Type::f64)
        return constant(kind, std::bit_cast<std::uint64_t>(static_cast<double>(operand.integer)));
      return constant(kind, static_cast<std::uint64_t>(operand.integer));
    }
    case Operand::Kind::real32: {
      const auto bits = static_cast<std::uint32_t>(operand.integer);
      if (kind == SlotKind::wide && type == Type::f64)
        return constant(kind, std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(bits))));
      return constant(kind, bits);
    }
    case Operand::Kind::real64: {
      const auto bits = static_cast<std::uint64_t>(operand.integer);
      if (kind == SlotKind::narrow)
        return constant(kind, std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits))));
      return constant(kind, bits);
    }
    case Operand::Kind::special: {
      helper_ = true;
      std::uint32_t slot;
      SlotKind have = SlotKind::narrow;
      if (operand.name == "%clock64" || operand.name == "%globaltimer" || operand.name == "%clock" ||
          operand.name == "%clock_hi" || operand.name == "%globaltimer_lo" ||
          operand.name == "%globaltimer_hi") {
        const bool wide = operand.name == "%clock64" || operand.name == "%globaltimer";
        have = wide ? SlotKind::wide : SlotKind::narrow;
        slot = temporary(have);
        simple(operand.name.substr(1), slot, {});
      } else if (operand.name == "WARP_SZ") {
        slot = constant(SlotKind::narrow, 32);
      } else {
        slot = special(operand.name, SlotKind::narrow);
      }
      if (kind != have) {
        const std::uint32_t converted = temporary(kind);
        simple(kind == SlotKind::wide ? "cvt.u64.u32" : "cvt.u32.u64", converted, {slot});
        slot = converted;
      }
      helper_ = false;
      return slot;
    }
    case Operand::Kind::symbol: {
      const ptx::Variable* variable = local_variable(operand.name);
      const bool in_frame = variable != nullptr &&
                            (variable->space == Space::local || variable->space == Space::param) &&
                            !is_kernel_parameter(operand.name);
      if (!in_frame)
        return constant(kind, symbol_value(operand.name) + static_cast<std::uint64_t>(operand.integer));
      helper_ = true;
      const std::uint64_t offset = frame_offset(operand.name) + static_cast<std::uint64_t>(operand.integer);
      const std::uint32_t narrow = temporary(SlotKind::narrow);
      simple("add.u32", narrow, {program_.frame_slot, constant(SlotKind::narrow, offset)});
      std::uint32_t slot = narrow;
      if (kind == SlotKind::wide) simple("cvt.u64.u32", slot = temporary(SlotKind::wide), {narrow});
      helper_ = false;
      return slot;
    }
    default: unsupported("operand form");
  }
}

std::uint32_t Decoder::predicate_source(const Operand& operand) {
  if (operand.kind == Operand::Kind::integer)
    return constant(SlotKind::predicate, static_cast<std::uint64_t>(operand.integer) ^ operand.negated);
  if (operand.kind != Operand::Kind::reg || register_kind(operand.index) != SlotKind::predicate)
    unsupported("a predicate is expected");
  const std::uint32_t slot = register_slot(operand.index);
  if (!operand.negated) return slot;
  helper_ = true;
  const std::uint32_t negated = temporary(SlotKind::predicate);
  simple("not.pred", negated, {slot});
  helper_ = false;
  return negated;
}

Decoder::Result Decoder::result(const Operand& operand, SlotKind kind, bool sign_extends) {
  if (operand.kind == Operand::Kind::sink || operand.kind == Operand::Kind::none)
    return {temporary(kind), MicroOp::kNoSlot, nullptr};
  if (operand.kind != Operand::Kind::reg) unsupported("destination form");
  const SlotKind have = register_kind(operand.index);
  const std::uint32_t slot = register_slot(operand.index);
  if (have == kind) return {slot, MicroOp::kNoSlot, nullptr};
  if (have == SlotKind::predicate || kind == SlotKind::predicate) unsupported("destination type");
  const char* convert = kind == SlotKind::wide ? "cvt.u32.u64" : sign_extends ? "cvt.s64.s32" : "cvt.u64.u32";
  return {temporary(kind), slot, convert};
}

void Decoder::finish(const Result& r) {
  if (r.convert == nullptr) return;
  helper_ = true;
  simple(r.convert, r.target, {r.slot});
  helper_ = false;
}

// Fills src[0] and imm from an address operand.
void Decoder::address(const Operand& operand, Space space, MicroOp& op) {
  op.imm = operand.integer;
  if (operand.kind == Operand::Kind::integer) return;
  if (operand.kind == Operand::Kind::reg || (operand.kind == Operand::Kind::address && operand.index >= 0)) {
    const bool wide = register_kind(operand.index) == SlotKind::wide;
    op.src[0] = register_slot(operand.index);
    if (wide) op.wide_src |= 1;
    return;
  }
  if (operand.name.empty()) return;  // absolute
  const ptx::Variable* variable = local_variable(operand.name);
  const bool in_frame = variable != nullptr &&
                        (variable->space == Space::local || variable->space == Space::param) &&
                        !is_kernel_parameter(operand.name);
  if (in_frame) {
    op.src[0] = program_.frame_slot;
    op.imm += frame_offset(operand.name);
    return;
  }
  std::uint64_t base = symbol_value(operand.name);
  if (space == Space::generic && shared_offsets_.contains(operand.name)) base += kSharedWindow;
  op.imm += static_cast<std::int64_t>(base);
}

// --- blocks -------------------------------------------------------------------------------------------------------

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

// A sync op must be the first of its block. Where its operands needed ops of their own, it opens another block after them.
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
  if (o == "bar" || o == "barrier") return !i.has("arrive") || !i.has("cluster");
  return o == "shfl" || o == "vote" || o == "match" || o == "redux" || o == "elect";
}
bool is_control(const Instruction& i) {
  const std::string_view o = i.opcode;
  return o == "bra" || o == "brx" || o == "ret" || o == "exit" || o == "call" || o == "trap";
}

// --- functions ----------------------------------------------------------------------------------------------------

void Decoder::function(std::uint32_t number) {
  number_ = number;
  source_ = sources_[number];
  if (program_.functions.size() <= number) program_.functions.resize(number + 1);
  program_.functions[number].source = source_;
  register_slots_.assign(source_->registers.size(), MicroOp::kNoSlot);
  frame_offsets_.clear();
  fixups_.clear();
  table_fixups_.clear();

  {  // the frame: results, parameters (of functions), .local and .param variables
    ProgramFunction& f = program_.functions[number];
    std::uint32_t end = 0;
    const auto place = [&](const ptx::Variable& v) {
      const std::uint32_t alignment = std::max(v.alignment, 1u);
      end = (end + alignment - 1) / alignment * alignment;
      const std::uint32_t at = end;
      frame_offsets_.emplace(v.name, at);
      end += static_cast<std::uint32_t>(v.size);
      return at;
    };
    if (!source_->is_entry) {
      for (const auto& v : source_->results) {
        if (v.space == Space::reg) unsupported("register results");
        f.result_offsets.push_back(place(v));
        f.result_sizes.push_back(static_cast<std::uint32_t>(v.size));
      }
      for (const auto& v : source_->parameters) {
        f.parameter_offsets.push_back(place(v));
        f.parameter_sizes.push_back(static_cast<std::uint32_t>(v.size));
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
  for (std::int32_t k = 0; k < n; ++k) {
    const Instruction& i = source_->instructions[static_cast<std::size_t>(k)];
    current_ = &i;
    if (leader[static_cast<std::size_t>(k)]) {
      const std::uint32_t fresh = open_block();
      if (k > 0 && program_.blocks[fresh - 1].exit == Exit::fall) program_.blocks[fresh - 1].next = fresh;
      block_of_instruction_[static_cast<std::size_t>(k)] = fresh;
    }
    guard_ = MicroOp::kNoSlot;
    guard_negated_ = false;
    if (i.guard >= 0) {
      if ((is_control(i) && i.opcode != "bra") || is_sync(i)) {
        // A test of its own in front, so that sync and control ops are never guarded.
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
  // Falling off the end returns.
  const std::uint32_t end = open_block();
  if (end > 0 && program_.blocks[end - 1].function == number && program_.blocks[end - 1].exit == Exit::fall)
    program_.blocks[end - 1].next = end;
  block_of_instruction_[static_cast<std::size_t>(n)] = end;
  if (n > 0) current_ = &source_->instructions.back();
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

Program Decoder::run(const ptx::Function& kernel) {
  program_.module = &module_;
  program_.name = kernel.name;
  program_.demangled = demangled(kernel.name);
  program_.carry_slot = new_slot(SlotKind::predicate);
  program_.frame_slot = new_slot(SlotKind::narrow);

  // Everything reachable, for the layout of shared memory. A function named as a value may be called indirectly.
  std::vector<const ptx::Function*> reachable{&kernel};
  for (std::size_t k = 0; k < reachable.size(); ++k) {
    std::set<std::string> names;
    for (const Instruction& i : reachable[k]->instructions)
      for (const Operand& operand : i.operands) collect_names(operand, names);
    bool indirect = !reachable[k]->prototypes.empty();
    const auto add = [&](const ptx::Function& f) {
      if (!f.is_declaration && !f.is_entry &&
          std::find(reachable.begin(), reachable.end(), &f) == reachable.end())
        reachable.push_back(&f);
    };
    for (const auto& name : names)
      if (const ptx::Function* f = module_.find_function(name)) add(*f);
    // An indirect call may reach any function whose address some initialised variable holds.
    if (indirect)
      for (const auto& v : module_.variables)
        for (const auto& relocation : v.relocations)
          if (const ptx::Function* f = module_.find_function(relocation.symbol)) add(*f);
  }
  sources_ = reachable;
  lay_out_shared(reachable);
  program_.function_addresses.assign(reachable.size(), 0);
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    if (k > 0) program_.function_addresses[k] = function_address(module_, *sources_[k]);
    function(static_cast<std::uint32_t>(k));
  }

  program_.register_image.assign(program_.register_bytes, std::byte{0});
  for (const auto& [key, slot] : constants_) {
    std::byte* at = program_.register_image.data() + slot;
    if (key.first == SlotKind::predicate) {
      const auto value = static_cast<std::uint32_t>(key.second);
      std::memcpy(at, &value, 4);
    } else if (key.first == SlotKind::narrow) {
      const auto value = static_cast<std::uint32_t>(key.second);
      for (int lane = 0; lane < 32; ++lane) std::memcpy(at + 4 * lane, &value, 4);
    } else {
      for (int lane = 0; lane < 32; ++lane) std::memcpy(at + 8 * lane, &key.second, 8);
    }
  }
  rank_blocks(program_);
  return std::move(program_);
}

// --- instructions -------------------------------------------------------------------------------------------------

// Modifiers that change nothing here: rounding to nearest even is what the host does, .uni is a promise.
std::optional<std::string> Decoder::table_key(const Instruction& i) const {
  static const std::set<std::string, std::less<>> kRounds = {"add", "sub", "mul", "fma",
                                                             "mad", "div", "rcp", "sqrt"};
  std::string key(i.opcode);
  for (const auto& m : i.modifiers) {
    if (m == "rn" && kRounds.contains(i.opcode)) continue;
    key += '.';
    key += m;
  }
  return key;
}

void Decoder::table_instruction(const OpRow& r, const Instruction& i) {
  if (i.operands.size() != r.sources.size() + 1) unsupported("number of operands");
  const Type type = i.types.empty() ? Type::none : i.types.back();
  std::uint32_t slots[4] = {};
  for (std::size_t k = 0; k < r.sources.size(); ++k) slots[k] = source(i.operands[k + 1], r.sources[k], type);
  const Type result_type = i.types.empty() ? Type::none : i.types.front();
  const Result out = result(i.operands[0], r.results[0], is_signed(result_type));
  MicroOp& op = emit(r);
  op.dst[0] = out.slot;
  std::copy_n(slots, r.sources.size(), op.src);
  finish(out);
}

void Decoder::instruction(const Instruction& i, std::int32_t index) {
  using Method = void (Decoder::*)(const Instruction&);
  static const std::unordered_map<std::string_view, Method> kFamilies = {
      {"mov", &Decoder::move},          {"setp", &Decoder::compare},
      {"set", &Decoder::set},           {"cvta", &Decoder::convert_address},
      {"isspacep", &Decoder::is_space}, {"ld", &Decoder::load},
      {"ldu", &Decoder::load},          {"st", &Decoder::store},
      {"atom", &Decoder::atomic},       {"red", &Decoder::atomic},
      {"bar", &Decoder::barrier},       {"barrier", &Decoder::barrier},
      {"shfl", &Decoder::shuffle},      {"vote", &Decoder::vote},
      {"match", &Decoder::match},       {"redux", &Decoder::warp_reduce},
      {"elect", &Decoder::elect},       {"fence", &Decoder::fence},
      {"membar", &Decoder::fence},      {"brx", &Decoder::indexed_branch}};
  const std::string_view opcode = i.opcode;
  if (const auto it = kFamilies.find(opcode); it != kFamilies.end()) return (this->*it->second)(i);
  if (opcode == "bra") return branch(i, index);
  if (opcode == "call") return call(i, index);
  if (opcode == "ret") return close_block(source_->is_entry ? Exit::exit : Exit::ret);
  if (opcode == "exit") return close_block(Exit::exit);
  if (opcode == "trap") return close_block(Exit::trap);
  if (opcode == "activemask") {
    const Result out = result(i.operands[0], SlotKind::narrow, false);
    emit("activemask").dst[0] = out.slot;
    return finish(out);
  }
  // Hints: they change speed, not results.
  if (opcode == "prefetch" || opcode == "prefetchu" || opcode == "nanosleep" || opcode == "applypriority" ||
      opcode == "discard" || opcode == "pmevent" || opcode == "brkpt")
    return static_cast<void>(emit("fence"));
  const auto key = table_key(i);
  const OpRow* found = key ? table_.find(*key) : nullptr;
  if (found == nullptr || found->results.empty()) unsupported();
  table_instruction(*found, i);
}

void Decoder::move(const Instruction& i) {
  const Type type = i.types.back();
  const Operand& to = i.operands[0];
  const Operand& from = i.operands[1];
  if (to.kind == Operand::Kind::vector) return unpack(to.parts, from, type);
  if (from.kind == Operand::Kind::vector) return pack(to, from.parts, type);
  const SlotKind kind = slot_kind_of(type);
  const std::uint32_t in = source(from, kind, type);
  const Result out = result(to, kind, is_signed(type));
  simple(kind == SlotKind::predicate ? "mov.pred"
         : kind == SlotKind::wide    ? "mov.wide"
                                     : "mov.narrow",
         out.slot, {in});
  finish(out);
}

// Little end first: element 0 is the low part.
void Decoder::pack(const Operand& to, const std::vector<Operand>& parts, Type type) {
  const SlotKind kind = slot_kind_of(type);
  const Result out = result(to, kind, false);
  const int part_bits = ptx::bits_of(type) / static_cast<int>(parts.size());
  if (kind == SlotKind::wide && parts.size() == 2) {
    simple("pack.b64", out.slot,
           {source(parts[0], SlotKind::narrow, Type::b32), source(parts[1], SlotKind::narrow, Type::b32)});
    return finish(out);
  }
  const bool wide = kind == SlotKind::wide;
  std::uint32_t gathered = MicroOp::kNoSlot;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    helper_ = k + 1 < parts.size();
    const std::uint32_t raw = source(parts[k], SlotKind::narrow, Type::b32);
    std::uint32_t piece = temporary(kind);
    const std::string narrow_type = part_bits == 8 ? "u8" : "u16";
    simple((wide ? "cvt.u64." : "cvt.u32.") + narrow_type, piece, {raw});
    if (k > 0) {
      const std::uint32_t shifted = temporary(kind),
                          merged = k + 1 < parts.size() ? temporary(kind) : out.slot;
      simple(wide ? "shl.b64" : "shl.b32", shifted,
             {piece, constant(SlotKind::narrow, static_cast<std::uint64_t>(part_bits) * k)});
      simple(wide ? "or.b64" : "or.b32", merged, {gathered, shifted});
      piece = merged;
    }
    gathered = piece;
  }
  helper_ = false;
  finish(out);
}

void Decoder::unpack(const std::vector<Operand>& parts, const Operand& from, Type type) {
  const SlotKind kind = slot_kind_of(type);
  const bool wide = kind == SlotKind::wide;
  std::uint32_t in = source(from, kind, type);
  const int part_bits = ptx::bits_of(type) / static_cast<int>(parts.size());
  {  // a destination may be the register taken apart
    helper_ = true;
    const std::uint32_t copy = temporary(kind);
    simple(wide ? "mov.wide" : "mov.narrow", copy, {in});
    in = copy;
    helper_ = false;
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].kind == Operand::Kind::sink) continue;
    helper_ = k > 0;
    const Result out = result(parts[k], SlotKind::narrow, false);
    if (wide && parts.size() == 2) {
      simple(k == 0 ? "cvt.u32.u64" : "high.b64", out.slot, {in});
    } else {
      std::uint32_t shifted = in;
      if (k > 0) {
        shifted = temporary(kind);
        simple(wide ? "shr.u64" : "shr.u32", shifted,
               {in, constant(SlotKind::narrow, static_cast<std::uint64_t>(part_bits) * k)});
      }
      const std::string narrow_type = part_bits == 8 ? "u8" : "u16";
      simple("cvt." + narrow_type + (wide ? ".u64" : ".u32"), out.slot, {shifted});
    }
    helper_ = true;
    finish(out);
  }
  helper_ = false;
}

// setp.cmp[.boolop][.ftz].type p[|q], a, b[, c]
void Decoder::compare(const Instruction& i) {
  std::string key = "setp", boolean;
  for (const auto& m : i.modifiers) {
    if (m == "and" || m == "or" || m == "xor")
      boolean = m;
    else
      key += "." + std::string(m);
  }
  const OpRow& r = row(key);
  const Type type = i.types.back();
  const std::uint32_t a = source(i.operands[1], r.sources[0], type),
                      b = source(i.operands[2], r.sources[1], type);
  const bool pair = i.operands[0].kind == Operand::Kind::pair;
  const Operand& first = pair ? i.operands[0].parts[0] : i.operands[0];
  const Result p = result(first, SlotKind::predicate, false);
  if (!pair && boolean.empty()) return simple(key, p.slot, {a, b});
  const std::uint32_t compared = temporary(SlotKind::predicate);
  simple(key, compared, {a, b});
  helper_ = true;
  std::uint32_t c = MicroOp::kNoSlot;
  if (!boolean.empty()) c = predicate_source(i.operands[3]);
  helper_ = true;
  if (pair) {
    const Result q = result(i.operands[0].parts[1], SlotKind::predicate, false);
    const std::uint32_t opposite = temporary(SlotKind::predicate);
    simple("not.pred", opposite, {compared});
    if (boolean.empty())
      simple("mov.pred", q.slot, {opposite});
    else {
      const std::uint32_t keep = temporary(SlotKind::predicate);  // c may be one of the results
      simple("mov.pred", keep, {c});
      c = keep;
      simple(boolean + ".pred", q.slot, {opposite, c});
    }
  }
  if (boolean.empty())
    simple("mov.pred", p.slot, {compared});
  else
    simple(boolean + ".pred", p.slot, {compared, c});
  helper_ = false;
}

// set.cmp[.boolop][.ftz].dtype.stype d, a, b[, c]: all ones or 1.0 where the comparison holds.
void Decoder::set(const Instruction& i) {
  std::string key = "setp", boolean;
  const Type to = i.types.front(), from = i.types.back();
  bool seen_type = false;
  for (const auto& m : i.modifiers) {
    if (m == "and" || m == "or" || m == "xor") {
      boolean = m;
    } else if (!seen_type && m == ptx::spelling(to)) {
      seen_type = true;
    } else {
      key += "." + std::string(m);
    }
  }
  const OpRow& r = row(key);
  const std::uint32_t a = source(i.operands[1], r.sources[0], from),
                      b = source(i.operands[2], r.sources[1], from);
  std::uint32_t holds = temporary(SlotKind::predicate);
  simple(key, holds, {a, b});
  helper_ = true;
  if (!boolean.empty()) {
    const std::uint32_t c = predicate_source(i.operands[3]);
    helper_ = true;
    const std::uint32_t both = temporary(SlotKind::predicate);
    simple(boolean + ".pred", both, {holds, c});
    holds = both;
  }
  const Result out = result(i.operands[0], SlotKind::narrow, is_signed(to));
  const std::uint64_t yes = to == Type::f32 ? std::bit_cast<std::uint32_t>(1.0f) : 0xffffffffu;
  simple("selp.b32", out.slot, {constant(SlotKind::narrow, yes), constant(SlotKind::narrow, 0), holds});
  finish(out);
  helper_ = false;
}

std::uint64_t window_of(const Instruction& i) {
  if (i.has("shared") || i.has("shared::cta") || i.has("shared::cluster")) return kSharedWindow;
  return i.has("local") ? kLocalWindow : 0;
}

void Decoder::convert_address(const Instruction& i) {
  const std::uint64_t window = window_of(i);
  const std::uint32_t in = source(i.operands[1], SlotKind::wide, Type::u64);
  const Result out = result(i.operands[0], SlotKind::wide, false);
  if (window == 0)
    simple("mov.wide", out.slot, {in});
  else
    simple(i.has("to") ? "sub.u64" : "add.u64", out.slot, {in, constant(SlotKind::wide, window)});
  finish(out);
}

void Decoder::is_space(const Instruction& i) {
  const std::uint64_t window = window_of(i);
  const std::uint32_t in = source(i.operands[1], SlotKind::wide, Type::u64);
  const Result out = result(i.operands[0], SlotKind::predicate, false);
  if (i.has("const") || i.has("param") || i.has("param::entry")) {
    simple("mov.pred", out.slot, {constant(SlotKind::predicate, 0)});
  } else if (window == 0) {  // global: below every window
    simple("setp.lt.u64", out.slot, {in, constant(SlotKind::wide, kSharedWindow)});
  } else {
    const std::uint32_t offset = temporary(SlotKind::wide);
    simple("sub.u64", offset, {in, constant(SlotKind::wide, window)});
    helper_ = true;
    simple("setp.lt.u64", out.slot, {offset, constant(SlotKind::wide, kWindowSize)});
    helper_ = false;
  }
}

struct Access {
  Space space = Space::generic;
  MemorySpace kind = MemorySpace::generic;
  const char* place = "generic";
  Type type = Type::none;
  int count = 1;
  std::uint8_t order = kWeak;
};

// Reads space, vector, type, order and scope off a memory instruction's modifiers.
Access access_of(const Instruction& i) {
  Access a;
  a.type = i.types.empty() ? Type::none : i.types.back();
  std::uint8_t scope = kScopeDevice;
  for (const auto& m : i.modifiers) {
    if (m == "global")
      a.space = Space::global;
    else if (m == "const")
      a.space = Space::constant;
    else if (m == "local")
      a.space = Space::local;
    else if (m.starts_with("shared"))
      a.space = Space::shared;
    else if (m.starts_with("param"))
      a.space = Space::param;
    else if (m == "v2")
      a.count = 2;
    else if (m == "v4")
      a.count = 4;
    else if (m == "volatile")
      a.order = kVolatile;
    else if (m == "relaxed" || m == "mmio")
      a.order = kRelaxed;
    else if (m == "acquire")
      a.order = kAcquire;
    else if (m == "release")
      a.order = kRelease;
    else if (m == "acq_rel")
      a.order = kAcquireRelease;
    else if (m == "cta")
      scope = kScopeBlock;
    else if (m == "cluster")
      scope = kScopeCluster;
    else if (m == "sys")
      scope = kScopeSystem;
  }
  a.order |= scope;
  switch (a.space) {
    case Space::global:
    case Space::constant:
      a.kind = a.space == Space::constant ? MemorySpace::constant : MemorySpace::global;
      a.place = "global";
      break;
    case Space::shared:
      a.kind = MemorySpace::shared;
      a.place = "shared";
      break;
    case Space::local:
    case Space::param:
      a.kind = MemorySpace::local;
      a.place = "local";
      break;
    default: break;
  }
  return a;
}

// Is the result of this load meant to be seen changing by other threads' doing?
bool is_strong(std::uint8_t order) {
  return (order & kOrderMask) != kWeak;
}

void Decoder::load(const Instruction& i) {
  Access a = access_of(i);
  const char* suffix = memory_suffix(a.type, true);
  if (suffix == nullptr) unsupported("element type");
  const SlotKind kind = slot_kind_of(a.type);
  const std::vector<Operand> single{i.operands[0]};
  const std::vector<Operand>& targets =
      i.operands[0].kind == Operand::Kind::vector ? i.operands[0].parts : single;
  if (static_cast<int>(targets.size()) != a.count) unsupported("vector width");

  // A kernel parameter at a fixed place is a constant of the launch.
  const Operand& from = i.operands[1];
  if (a.space == Space::param && from.kind == Operand::Kind::address && from.index < 0 &&
      is_kernel_parameter(from.name)) {
    std::uint64_t offset = 0;
    for (const auto& p : source_->parameters)
      if (p.name == from.name) offset = p.offset;
    offset += static_cast<std::uint64_t>(from.integer);
    const auto bytes = static_cast<std::uint32_t>(ptx::bits_of(a.type) / 8);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      helper_ = k > 0;
      const Result out = result(targets[k], kind, is_signed(a.type));
      const std::uint32_t slot = new_slot(kind);
      program_.parameters.push_back({static_cast<std::uint32_t>(offset + k * bytes), bytes, slot,
                                     kind == SlotKind::wide, is_signed(a.type)});
      simple(kind == SlotKind::wide ? "mov.wide" : "mov.narrow", out.slot, {slot});
      finish(out);
    }
    helper_ = false;
    return;
  }
  // One at a place held in a register lies in the launch's parameter area, in the arena.
  if (a.space == Space::param && source_->is_entry && (from.index >= 0 || is_kernel_parameter(from.name))) {
    a.kind = MemorySpace::constant;
    a.place = "global";
  }
  std::string key = a.count == 1 ? "ld" : fmt::format("ld.v{}", a.count);
  key += fmt::format(".{}.{}", a.place, suffix);
  Result out[4];
  for (std::size_t k = 0; k < targets.size(); ++k) out[k] = result(targets[k], kind, is_signed(a.type));
  MicroOp& op = emit(key);
  address(from, a.space, op);
  op.space = a.kind;
  op.width = static_cast<std::uint8_t>(ptx::bits_of(a.type) / 8);
  op.count = static_cast<std::uint8_t>(a.count);
  op.order = a.order;
  op.n_dst = static_cast<std::uint8_t>(a.count);
  op.n_src = 1;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    op.dst[k] = out[k].slot;
    if (kind == SlotKind::wide) op.wide_dst |= static_cast<std::uint8_t>(1u << k);
  }
  if (is_strong(a.order) && a.kind != MemorySpace::shared && a.kind != MemorySpace::local)
    program_.order_sensitive = true;
  for (std::size_t k = 0; k < targets.size(); ++k) finish(out[k]);
}

void Decoder::store(const Instruction& i) {
  const Access a = access_of(i);
  const char* suffix = memory_suffix(a.type, false);
  if (suffix == nullptr) unsupported("element type");
  const SlotKind kind = slot_kind_of(a.type);
  const std::vector<Operand> single{i.operands[1]};
  const std::vector<Operand>& values =
      i.operands[1].kind == Operand::Kind::vector ? i.operands[1].parts : single;
  if (static_cast<int>(values.size()) != a.count) unsupported("vector width");
  std::uint32_t slots[4];
  for (std::size_t k = 0; k < values.size(); ++k) slots[k] = source(values[k], kind, a.type);
  std::string key = a.count == 1 ? "st" : fmt::format("st.v{}", a.count);
  key += fmt::format(".{}.{}", a.place, suffix);
  MicroOp& op = emit(key);
  address(i.operands[0], a.space, op);
  op.space = a.kind;
  op.width = static_cast<std::uint8_t>(ptx::bits_of(a.type) / 8);
  op.count = static_cast<std::uint8_t>(a.count);
  op.order = a.order;
  op.n_src = static_cast<std::uint8_t>(1 + a.count);
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k < 3)
      op.src[1 + k] = slots[k];
    else
      op.dst[3] = slots[k];
    if (kind == SlotKind::wide) op.wide_src |= static_cast<std::uint8_t>(2u << k);
  }
}

void Decoder::atomic(const Instruction& i) {
  const Access a = access_of(i);
  const bool returns = i.opcode == "atom";
  static const std::set<std::string, std::less<>> kOps = {"add", "min",  "max", "and", "or",
                                                          "xor", "exch", "cas", "inc", "dec"};
  std::string name;
  for (const auto& m : i.modifiers)
    if (kOps.contains(m)) name = m;
  std::string type = ptx::spelling(a.type);
  if (type == "b32" || type == "b64" || type == "b16") type[0] = 'u';
  if (a.count != 1) unsupported("vector atomics");
  const std::string key = fmt::format("atom.{}.{}.{}", a.place, name, type);
  const SlotKind kind = slot_kind_of(a.type);
  const std::size_t first = returns ? 1 : 0;  // operand index of the address
  const std::size_t n_values = i.operands.size() - first - 1;
  std::uint32_t slots[2] = {MicroOp::kNoSlot, MicroOp::kNoSlot};
  for (std::size_t k = 0; k < n_values && k < 2; ++k)
    slots[k] = source(i.operands[first + 1 + k], kind, a.type);
  Result out;
  const bool used = returns && i.operands[0].kind == Operand::Kind::reg;
  if (used) out = result(i.operands[0], kind, is_signed(a.type));
  MicroOp& op = emit(key);
  address(i.operands[first], a.space, op);
  op.space = a.kind;
  op.width = static_cast<std::uint8_t>(ptx::bits_of(a.type) / 8);
  op.order = a.order;
  op.src[1] = slots[0];
  op.src[2] = slots[1];
  op.n_src = static_cast<std::uint8_t>(1 + n_values);
  op.dst[0] = out.slot;
  op.n_dst = used ? 1 : 0;
  if (kind == SlotKind::wide) {
    op.wide_src |= 6;
    op.wide_dst |= 1;
  }
  // The order of blocks shows where the old value is used, and in the rounding of float sums.
  const bool shows =
      used || is_float(a.type) || name == "exch" || name == "cas" || name == "inc" || name == "dec";
  if (shows && a.kind != MemorySpace::shared) program_.order_sensitive = true;
  finish(out);
}

// bar.sync a[, b] · bar.arrive a, b · bar.red.op d, a[, b], [!]c · bar.warp.sync mask
void Decoder::barrier(const Instruction& i) {
  if (i.has("warp")) {
    const std::uint32_t members = source(i.operands[0], SlotKind::narrow, Type::b32);
    open_sync_block();
    emit("warp_barrier").src[3] = members;
    return;
  }
  if (i.has("cluster")) unsupported("clusters of blocks");
  program_.uses_barriers = true;
  const bool reduces = i.has("red"), arrives = i.has("arrive");
  const std::size_t first = reduces ? 1 : 0;
  const std::uint32_t number = source(i.operands[first], SlotKind::narrow, Type::u32);
  std::uint32_t count = MicroOp::kNoSlot;
  std::size_t next = first + 1;
  const bool has_count = i.operands.size() > next + (reduces ? 1 : 0);
  if (has_count) count = source(i.operands[next++], SlotKind::narrow, Type::u32);
  std::uint32_t p = MicroOp::kNoSlot;
  Result out;
  std::string key = "barrier";
  if (reduces) {
    p = predicate_source(i.operands[next]);
    key = i.has("popc") ? "barrier.red.popc" : i.has("and") ? "barrier.red.and" : "barrier.red.or";
    out = result(i.operands[0], i.has("popc") ? SlotKind::narrow : SlotKind::predicate, false);
  }
  open_sync_block();
  block().entry = Entry::barrier;
  MicroOp& op = emit(key);
  op.src[0] = p;
  op.src[1] = number;
  op.src[2] = count;
  op.dst[0] = out.slot;
  op.imm = reduces ? 2 : arrives ? 1 : 0;
  if (p != MicroOp::kNoSlot) op.pred_src |= 1;
  finish(out);
}

// shfl.sync.mode.b32 d[|p], a, b, c, members
void Decoder::shuffle(const Instruction& i) {
  if (!i.has("sync")) unsupported("the form without .sync was removed from sm_70 on");
  const ShuffleMode mode = i.has("up")     ? ShuffleMode::up
                           : i.has("down") ? ShuffleMode::down
                           : i.has("bfly") ? ShuffleMode::butterfly
                                           : ShuffleMode::index;
  static constexpr const char* kKeys[] = {"shfl.up", "shfl.down", "shfl.bfly", "shfl.idx"};
  const bool pair = i.operands[0].kind == Operand::Kind::pair;
  const Operand& value = pair ? i.operands[0].parts[0] : i.operands[0];
  std::uint32_t slots[4];
  for (std::size_t k = 0; k < 4; ++k) slots[k] = source(i.operands[1 + k], SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(value, SlotKind::narrow, false);
  const Result valid = pair ? result(i.operands[0].parts[1], SlotKind::predicate, false) : Result{};
  MicroOp& op = emit(kKeys[static_cast<int>(mode)]);
  op.imm = static_cast<std::int64_t>(mode);
  op.dst[0] = out.slot;
  op.dst[1] = valid.slot;
  std::copy_n(slots, 4, op.src);
  op.n_src = 3;
  op.n_dst = 1;
  if (pair) op.pred_dst |= 2;
  finish(out);
}

// vote.sync.{all,any,uni}.pred p, [!]a, members · vote.sync.ballot.b32 d, [!]a, members
void Decoder::vote(const Instruction& i) {
  if (!i.has("sync")) unsupported("the form without .sync was removed from sm_70 on");
  const bool ballot = i.has("ballot");
  const char* key = ballot         ? "vote.ballot"
                    : i.has("all") ? "vote.all"
                    : i.has("any") ? "vote.any"
                                   : "vote.uni";
  const std::uint32_t a = predicate_source(i.operands[1]);
  const std::uint32_t members = source(i.operands[2], SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(i.operands[0], ballot ? SlotKind::narrow : SlotKind::predicate, false);
  MicroOp& op = emit(key);
  op.dst[0] = out.slot;
  op.src[0] = a;
  op.src[3] = members;
  op.pred_src |= 1;
  op.n_src = 1;
  op.n_dst = 1;
  if (!ballot) op.pred_dst |= 1;
  finish(out);
}

void Decoder::match(const Instruction& i) {
  const Type type = i.types.back();
  const SlotKind kind = slot_kind_of(type);
  const bool pair = i.operands[0].kind == Operand::Kind::pair;
  const std::uint32_t a = source(i.operands[1], kind, type);
  const std::uint32_t members = source(i.operands[2], SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(pair ? i.operands[0].parts[0] : i.operands[0], SlotKind::narrow, false);
  const Result equal = pair ? result(i.operands[0].parts[1], SlotKind::predicate, false) : Result{};
  MicroOp& op = emit(fmt::format("match.{}.b{}", i.has("any") ? "any" : "all", ptx::bits_of(type)));
  op.dst[0] = out.slot;
  op.dst[1] = equal.slot;
  op.src[0] = a;
  op.src[3] = members;
  op.n_src = 1;
  op.n_dst = 1;
  if (kind == SlotKind::wide) op.wide_src |= 1;
  if (pair) op.pred_dst |= 2;
  finish(out);
}

void Decoder::warp_reduce(const Instruction& i) {
  std::string key = "redux";
  for (const auto& m : i.modifiers)
    if (m != "sync") key += "." + std::string(m);
  const std::uint32_t a = source(i.operands[1], SlotKind::narrow, i.types.back());
  const std::uint32_t members = source(i.operands[2], SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(i.operands[0], SlotKind::narrow, is_signed(i.types.back()));
  MicroOp& op = emit(key);
  op.dst[0] = out.slot;
  op.src[0] = a;
  op.src[3] = members;
  op.n_src = 1;
  op.n_dst = 1;
  finish(out);
}

void Decoder::elect(const Instruction& i) {
  const Operand& to = i.operands[0];
  const std::uint32_t members = source(i.operands[1], SlotKind::narrow, Type::b32);
  open_sync_block();
  const bool pair = to.kind == Operand::Kind::pair;
  const Result leader = pair ? result(to.parts[0], SlotKind::narrow, false) : Result{};
  const Result elected = result(pair ? to.parts[1] : to, SlotKind::predicate, false);
  MicroOp& op = emit("elect");
  op.dst[0] = leader.slot;
  op.dst[1] = elected.slot;
  op.src[3] = members;
  op.n_dst = 1;
  op.pred_dst |= 2;
  finish(leader);
}

void Decoder::fence(const Instruction& i) {
  MicroOp& op = emit("fence");
  const Access a = access_of(i);
  op.order = static_cast<std::uint8_t>((i.has("sc") || i.opcode == "membar" ? kSequential : kAcquireRelease) |
                                       (a.order & kScopeMask));
  if (i.opcode == "membar") {
    const std::uint8_t scope = i.has("cta") ? kScopeBlock : i.has("sys") ? kScopeSystem : kScopeDevice;
    op.order = static_cast<std::uint8_t>(kSequential | scope);
  }
}

// --- control ------------------------------------------------------------------------------------------------------

void Decoder::branch(const Instruction& i, std::int32_t index) {
  const auto number = static_cast<std::uint32_t>(program_.blocks.size() - 1);
  const Operand& to = i.operands[0];
  if (to.kind != Operand::Kind::label) unsupported("branch target");
  fixups_.push_back({number, false, to.index});
  if (i.guard < 0) return close_block(Exit::jump);
  block().predicate = register_slot(i.guard);
  block().predicate_negated = i.guard_negated;
  fixups_.push_back({number, true, index + 1});
  close_block(Exit::branch);
}

void Decoder::indexed_branch(const Instruction& i) {
  const Operand& list = i.operands[1];
  const ptx::BranchTargets* targets = nullptr;
  for (const auto& t : source_->branch_targets)
    if (t.name == list.name) targets = &t;
  if (targets == nullptr) unsupported("unknown target list");
  const std::uint32_t index = source(i.operands[0], SlotKind::narrow, Type::u32);
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

}  // namespace

std::uint64_t function_address(const ptx::Module& module, const ptx::Function& f) {
  return kFunctionWindow + 16 * static_cast<std::uint64_t>(&f - module.functions.data());
}

std::string demangled(std::string_view mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(mangled);
}

Result<Program> decode(const ModuleImage& image, const ptx::Function& kernel, const OpTable& table) {
  try {
    return Decoder(image, table).run(kernel);
  } catch (const DecodeError& e) {
    return Error{e.what()};
  }
}

}  // namespace course::sim
