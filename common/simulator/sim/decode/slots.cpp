// SPDX-License-Identifier: MIT
// Register slots, constants, special registers; addresses of symbols; the layout of shared memory.
#include <fmt/format.h>

#include <algorithm>

#include "base/words.hpp"
#include "sim/decode/decoder.hpp"

namespace course::sim {

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

namespace {
constexpr std::uint32_t kNarrowBytes = 32 * 4, kWideBytes = 32 * 8;
constexpr std::uint32_t kMaxRegisterBytes = std::uint32_t{64} << 20;  // real kernels: a few MiB at most
}  // namespace

std::uint32_t Decoder::new_slot(SlotKind kind) {
  if (program_.register_bytes > kMaxRegisterBytes)
    throw DecodeError(fmt::format("'{}' uses too many registers: more than {} MiB in a warp",
                                  demangled(source_ == nullptr ? program_.name : source_->name),
                                  kMaxRegisterBytes >> 20));
  if (kind == SlotKind::predicate) {
    // predicates are allocated in chunks of 16, so that other slots stay 64-byte aligned
    if (predicates_left_ == 0) {
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
  static const std::vector<std::string> kKnown = words(
      "%tid.x %tid.y %tid.z %ntid.x %ntid.y %ntid.z %ctaid.x %ctaid.y %ctaid.z %nctaid.x %nctaid.y %nctaid.z "
      "%laneid %warpid %nwarpid %smid %nsmid %gridid %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge "
      "%lanemask_gt %dynamic_smem_size %total_smem_size %aggr_smem_size %reserved_smem_offset_begin "
      "%reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1 "
      "%envreg0 %envreg1 %envreg2 %clusterid.x %clusterid.y %clusterid.z %nclusterid.x %nclusterid.y "
      "%nclusterid.z %cluster_ctaid.x %cluster_ctaid.y %cluster_ctaid.z %cluster_nctaid.x %cluster_nctaid.y "
      "%cluster_nctaid.z %cluster_ctarank %cluster_nctarank %is_explicit_cluster");
  // All other registers of the driver and the performance monitor are 0.
  if (std::ranges::find(kKnown, name) == kKnown.end() && !name.starts_with("%envreg") &&
      !name.starts_with("%pm"))
    unsupported(fmt::format("special register {}", name));
  const std::uint32_t slot = new_slot(kind);
  program_.specials.push_back({std::string(name), slot});
  return slot;
}

bool Decoder::is_read(const Operand& destination) const {
  return destination.kind == Operand::Kind::reg &&
         register_uses_[static_cast<std::size_t>(destination.index)] > 1;
}

bool Decoder::is_double_wide(std::int32_t index) const {
  return ptx::bits_of(source_->registers[static_cast<std::size_t>(index)].type) > 64;
}

// The slots of a 128-bit operand: its low half and its high half.
std::pair<std::uint32_t, std::uint32_t> Decoder::double_wide(const Operand& operand) {
  if (operand.kind == Operand::Kind::sink) return {temporary(SlotKind::wide), temporary(SlotKind::wide)};
  if (operand.kind != Operand::Kind::reg || !is_double_wide(operand.index))
    unsupported(operand, "a 128-bit register is expected");
  const std::uint32_t low = register_slot(operand.index);
  return {low, low + kWideBytes};
}

std::uint32_t Decoder::register_slot(std::int32_t index) {
  std::uint32_t& slot = register_slots_[static_cast<std::size_t>(index)];
  if (slot == MicroOp::kNoSlot) {
    const SlotKind kind = register_kind(index);
    slot = new_slot(kind);
    ProgramFunction& f = program_.functions[number_];
    auto& slots = kind == SlotKind::predicate ? f.predicate_slots
                  : kind == SlotKind::wide    ? f.wide_slots
                                              : f.narrow_slots;
    slots.push_back(slot);
    if (is_double_wide(index)) slots.push_back(new_slot(kind));  // the next wide slot is the high half
  }
  return slot;
}

// --- symbols and frames ------------------------------------------------------------------------------------

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
  return std::ranges::any_of(source_->parameters, [&](const auto& p) { return p.name == name; });
}

// Whether this is a .local variable of the function, or a .param variable that is not a kernel parameter.
bool Decoder::is_in_frame(std::string_view name) const {
  const ptx::Variable* variable = local_variable(name);
  return variable != nullptr && (variable->space == Space::local || variable->space == Space::param) &&
         !is_kernel_parameter(name);
}

// The byte offset of a .local or .param variable in the function's frame.
std::uint32_t Decoder::frame_offset(std::string_view name) {
  const auto it = frame_offsets_.find(name);
  if (it == frame_offsets_.end()) throw DecodeError(fmt::format("unknown variable '{}' {}", name, where()));
  return it->second;
}

// The value of a symbol that is the same for all threads: offset in shared memory, global or parameter
// address, function address.
std::uint64_t Decoder::symbol_value(std::string_view name) {
  if (is_kernel_parameter(name)) {
    for (const auto& p : source_->parameters)
      if (p.name == name) return image_.parameter_area + p.offset;
  }
  if (const auto it = shared_offsets_.find(name); it != shared_offsets_.end()) return it->second;
  // Names of .global variables declared in a body carry their scope.
  const std::string scope = local_variable(name) != nullptr ? scope_of_variables(*source_) : std::string();
  if (const auto it = image_.variables.find(scope + std::string(name)); it != image_.variables.end())
    return it->second;
  if (const ptx::Function* f = module_.find_function(name)) {
    if (f->is_entry) return function_address(module_, *f);  // to launch it
    const std::uint32_t number = function_number(f);
    // The address only has to differ from all data addresses; it encodes the function's index in the module.
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
  std::set<std::string> used;
  for (const ptx::Function* f : functions)
    for (const Instruction& i : f->instructions)
      for (const Operand& operand : i.operands) collect_names(operand, used);
  const bool reserves =
      std::ranges::any_of(used, [](const std::string& n) { return n.starts_with("%reserved_smem_"); });
  std::uint64_t end = program_.reserved_shared = reserves ? kReservedShared : 0;
  const auto aligned = [&](std::uint64_t alignment) {
    alignment = std::max<std::uint64_t>(alignment, 1);
    return (end + alignment - 1) / alignment * alignment;
  };
  const auto must_fit = [&] {
    if (end >= kBlockPart)
      throw DecodeError(fmt::format("'{}' uses too much shared data: {} bytes", program_.demangled, end));
  };
  std::vector<const ptx::Variable*> dynamic;
  const auto place = [&](const ptx::Variable& v) {
    if (v.space != Space::shared || shared_offsets_.contains(v.name)) return;
    if (v.is_extern || v.size == 0) {
      dynamic.push_back(&v);
      return;
    }
    end = aligned(v.alignment);
    const auto at = static_cast<std::uint32_t>(end);
    end += std::min<std::uint64_t>(v.size, kBlockPart);
    must_fit();
    shared_offsets_.emplace(v.name, at);
    const auto element = static_cast<std::uint32_t>(std::max(ptx::bits_of(v.type) / 8, 1));
    program_.shared.push_back({v.name, at, static_cast<std::uint32_t>(v.size), element});
  };
  for (const ptx::Function* f : functions)
    for (const auto& v : f->variables) place(v);
  for (const auto& v : module_.variables)
    if (used.contains(v.name)) place(v);
  std::uint32_t alignment = 16;
  for (const ptx::Variable* v : dynamic) alignment = std::max(alignment, v->alignment);
  if (!dynamic.empty()) end = aligned(alignment);
  must_fit();
  const auto dynamic_start = program_.static_shared = static_cast<std::uint32_t>(end);
  for (const ptx::Variable* v : dynamic) {
    shared_offsets_.emplace(v->name, dynamic_start);
    program_.shared.push_back(
        {v->name, dynamic_start, 0, static_cast<std::uint32_t>(std::max(ptx::bits_of(v->type) / 8, 1))});
  }
}

}  // namespace course::sim
