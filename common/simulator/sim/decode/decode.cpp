// SPDX-License-Identifier: MIT
// Decodes a kernel and all functions that it can reach; error messages.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "sim/decode/decoder.hpp"
#include "sim/machine/atomic_patterns.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

std::string Decoder::where() const {
  // The innermost line in the kernel's own file, and the header through which an instruction came there.
  std::vector<std::pair<std::string, std::uint32_t>> places;
  for (std::int32_t at = current_->location; at >= 0;) {
    const auto& location = module_.locations[static_cast<std::size_t>(at)];
    if (const std::string* file = module_.find_file(location.file)) places.emplace_back(*file, location.line);
    at = location.inlined_at;
  }
  std::string place;
  if (!places.empty()) {
    const auto own =
        std::ranges::find_if(places, [&](const auto& p) { return p.first == places.back().first; });
    place = fmt::format(" ({}:{}", own->first, own->second);
    if (own != places.begin()) place += fmt::format(", through {}:{}", places[0].first, places[0].second);
    place += ")";
  }
  return fmt::format("in {}{}, PTX line {}", demangled(source_->name), place, current_->text_line);
}

void Decoder::unsupported(const std::string& why) const {
  throw DecodeError(fmt::format("the simulator does not know the instruction '{}'{}{} {}",
                                current_->full_opcode(), why.empty() ? "" : ": ", why, where()));
}

void Decoder::unsupported(const Operand& operand, const std::string& why) const {
  const auto holds = [&](const auto& self, const Operand& candidate) -> bool {
    return &candidate == &operand ||
           std::ranges::any_of(candidate.parts, [&](const Operand& part) { return self(self, part); });
  };
  const auto spelt = [&](const auto& self, const Operand& o) -> std::string {
    if (o.kind == Operand::Kind::integer) return fmt::format("{}", o.integer);
    if (o.kind == Operand::Kind::reg) return source_->registers[static_cast<std::size_t>(o.index)].name;
    std::string text(o.name);
    for (const Operand& part : o.parts) text += (text.empty() ? "" : ", ") + self(self, part);
    return o.kind == Operand::Kind::vector ? "{" + text + "}" : text;
  };
  for (std::size_t k = 0; k < current_->operands.size(); ++k)
    if (holds(holds, current_->operands[k])) {
      const std::string text = spelt(spelt, operand);
      unsupported(fmt::format("operand {}{}: {}", k + 1, text.empty() ? "" : " (" + text + ")", why));
    }
  unsupported(why);
}

// A function's address is in the initial value of a variable, or an instruction of some function takes it.
void Decoder::note_taken_addresses() {
  program_.address_taken.assign(sources_.size(), false);
  if (std::ranges::none_of(sources_, [](const auto* f) { return !f->prototypes.empty(); }))
    return;  // no function calls by address
  std::set<std::string> names;
  for (const auto& v : module_.variables)
    for (const auto& relocation : v.relocations) names.insert(relocation.symbol);
  for (const auto& f : module_.functions)
    for (const Instruction& i : f.instructions)
      if (i.opcode == "mov")
        for (const Operand& operand : i.operands) collect_names(operand, names);
  for (std::size_t k = 0; k < sources_.size(); ++k)
    program_.address_taken[k] = names.contains(sources_[k]->name);
}

Program Decoder::run(const ptx::Function& kernel) {
  program_.module = &module_;
  program_.name = kernel.name;
  program_.demangled = demangled(kernel.name);
  program_.carry_slot = new_slot(SlotKind::predicate);
  program_.frame_slot = new_slot(SlotKind::narrow);

  // All reachable functions; needed for the layout of shared memory. A function whose address is taken may be
  // called indirectly.
  std::vector<const ptx::Function*> reachable{&kernel};
  for (std::size_t k = 0; k < reachable.size(); ++k) {
    std::set<std::string> names;
    for (const Instruction& i : reachable[k]->instructions)
      for (const Operand& operand : i.operands) collect_names(operand, names);
    bool indirect = !reachable[k]->prototypes.empty();
    const auto add = [&](const ptx::Function& f) {
      if (!f.is_declaration && !f.is_entry && std::ranges::find(reachable, &f) == reachable.end())
        reachable.push_back(&f);
    };
    for (const auto& name : names)
      if (const ptx::Function* f = module_.find_function(name)) add(*f);
    // A function with an indirect call (a prototype) may also call functions whose address is in an
    // initialised variable.
    if (indirect)
      for (const auto& v : module_.variables)
        for (const auto& relocation : v.relocations)
          if (const ptx::Function* f = module_.find_function(relocation.symbol)) add(*f);
  }
  if (reachable.size() > std::numeric_limits<decltype(MicroOp::function)>::max())
    throw DecodeError(
        fmt::format("'{}' can reach too many functions: {}", program_.demangled, reachable.size()));
  sources_ = reachable;
  lay_out_shared(reachable);
  program_.function_addresses.assign(reachable.size(), 0);
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    if (k > 0) program_.function_addresses[k] = function_address(module_, *sources_[k]);
    function(static_cast<std::uint32_t>(k));
    if (slot_names_ != nullptr) slot_names_->functions.push_back({register_slots_, frame_offsets_});
  }
  note_taken_addresses();
  if (slot_names_ != nullptr) slot_names_->shared = shared_offsets_;

  program_.register_image.assign(program_.register_bytes, std::byte{0xA5});
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
  check_operands();
  rank_blocks(program_);
  mark_harmless_looks(program_);
  find_unset_slots(program_);
  mark_combined_atomics(program_);
  for (const MicroOp& op : program_.ops)
    if (op.kind == OpKind::load && op.space != MemorySpace::shared && is_look(op))
      program_.order_sensitive = true;
  // The order of threads can be observed through old values of atomics (also in shared memory), strong loads,
  // strong stores of several lanes in one place, and polls of an mbarrier.
  program_.shows_order = program_.order_sensitive || std::ranges::any_of(program_.ops, [](const MicroOp& op) {
                           return op.kind == OpKind::mbarrier || is_look(op) ||
                                  (op.kind == OpKind::store && is_strong_change(op));
                         });
  return std::move(program_);
}

// Handlers do not ask whether the sources that their rows list exist. Only an address may be a constant.
void Decoder::check_operands() const {
  for (const MicroOp& op : program_.ops) {
    for (int k = accesses_memory(op.kind) ? 1 : 0; k < std::min<int>(op.n_src, 4); ++k)
      if (op.src[k] == MicroOp::kNoSlot && op.kind != OpKind::sync)
        throw DecodeError(
            fmt::format("an operand is missing in {}, PTX line {}", program_.demangled,
                        program_.functions[op.function].source->instructions[op.ptx_index].text_line));
  }
}

// --- instructions ------------------------------------------------------------------------------------------

// The key of the op table. Rounding to nearest even is the default, so .rn is left out. nvcc writes
// max.s32.relu for the ISA's max.relu.s32.
std::string Decoder::table_key(const Instruction& i) const {
  static const std::set<std::string, std::less<>> kRounds = {"add", "sub", "mul", "fma",
                                                             "mad", "div", "rcp", "sqrt"};
  std::string key(i.opcode);
  const bool relu_first = i.opcode == "min" || i.opcode == "max";
  if (relu_first && i.has("relu")) key += ".relu";
  for (const auto& m : i.modifiers) {
    if ((m == "rn" && kRounds.contains(i.opcode)) || (relu_first && m == "relu")) continue;
    key += '.';
    key += m;
  }
  return key;
}

void Decoder::table_instruction(const OpRow& r, const Instruction& i) {
  if (i.operands.size() != r.sources.size() + 1) unsupported("number of operands");
  if (std::ranges::any_of(i.operands,
                          [](const Operand& o) { return !o.name.empty() && o.kind == Operand::Kind::reg; }))
    unsupported("selector");
  const Type type = last_type(i);
  std::uint32_t slots[4] = {};
  for (std::size_t k = 0; k < r.sources.size(); ++k)
    slots[k] = source(i.operands.at(k + 1), r.sources[k], type);
  const Type result_type = first_type(i);
  const Result out = result(i.operands.at(0), r.results[0], is_signed(result_type));
  MicroOp& op = emit(r);
  op.dst[0] = out.slot;
  std::copy_n(slots, r.sources.size(), op.src);
  finish(out);
}

// Keeps the factors of a product for the sums into which it is contracted. A factor's register may be written
// again before them.
void Decoder::save_factors(const Instruction& product, std::size_t k) {
  const Type type = last_type(product);
  const SlotKind kind = slot_kind_of(type);
  const auto saved = [&](const Operand& factor) {
    const std::uint32_t slot = source(factor, kind, type);
    if (factor.kind != Operand::Kind::reg ||
        contractions_.written_once[static_cast<std::size_t>(factor.index)])
      return slot;
    const std::uint32_t copy = temporary(kind);
    simple(kind == SlotKind::wide ? "mov.wide" : "mov.narrow", copy, {slot});
    return copy;
  };
  helper_ = true;
  const std::uint32_t a = saved(product.operands.at(1)), b = saved(product.operands.at(2));
  factors_[k] = {a, b};
  helper_ = false;
}

// add or sub with one of its operands replaced by a product: one fma.
void Decoder::contracted_sum(const Instruction& sum, const Contraction& c) {
  const Type type = last_type(sum);
  const SlotKind kind = slot_kind_of(type);
  const bool subtracts = sum.opcode == "sub";
  const auto negated = [&](std::uint32_t slot, bool negates) {
    if (!negates) return slot;
    const std::uint32_t opposite = temporary(kind);
    helper_ = true;
    simple(std::string("neg.") + ptx::spelling(type), opposite, {slot});
    helper_ = false;
    return opposite;
  };
  const auto [a, b] = factors_.at(static_cast<std::size_t>(c.product));
  const std::uint32_t addend = source(sum.operands.at(3 - c.operand), kind, type);
  std::string key = "fma";
  for (const auto& m : sum.modifiers) key += "." + std::string(m);
  const std::uint32_t factor = negated(a, c.negated != (subtracts && c.operand == 2));
  const std::uint32_t term = negated(addend, subtracts && c.operand == 1);
  const Result out = result(sum.operands.at(0), kind, false);
  simple(key, out.slot, {factor, b, term});
  finish(out);
}

// Operands are accessed with at(), because malformed instructions may have too few.
void Decoder::instruction(const Instruction& i, std::int32_t index) {
  const auto k = static_cast<std::size_t>(index);
  try {
    if (contractions_.contracted[k]) save_factors(i, k);
    if (contractions_.vanishes[k]) return;
    if (contractions_.into[k].product >= 0) return contracted_sum(i, contractions_.into[k]);
    dispatch(i, index);
  } catch (const std::out_of_range&) {
    unsupported("operands are missing");
  }
}

void Decoder::dispatch(const Instruction& i, std::int32_t index) {
  using Method = void (Decoder::*)(const Instruction&);
  static const std::unordered_map<std::string_view, Method> kFamilies = {
      {"mov", &Decoder::move},
      {"setp", &Decoder::compare},
      {"set", &Decoder::set},
      {"cvta", &Decoder::convert_address},
      {"isspacep", &Decoder::is_space},
      {"ld", &Decoder::load},
      {"ldu", &Decoder::load},
      {"st", &Decoder::store},
      {"atom", &Decoder::atomic},
      {"red", &Decoder::atomic},
      {"bar", &Decoder::barrier},
      {"barrier", &Decoder::barrier},
      {"shfl", &Decoder::shuffle},
      {"vote", &Decoder::vote},
      {"match", &Decoder::match},
      {"redux", &Decoder::warp_reduce},
      {"elect", &Decoder::elect},
      {"fence", &Decoder::fence},
      {"membar", &Decoder::fence},
      {"brx", &Decoder::indexed_branch},
      {"cp", &Decoder::copy},
      {"mbarrier", &Decoder::mbarrier},
      {"tex", &Decoder::texture},
      {"suld", &Decoder::surface},
      {"sust", &Decoder::surface},
      {"mma", &Decoder::multiply_matrices},
      {"wmma", &Decoder::warp_matrix},
      {"ldmatrix", &Decoder::access_matrix},
      {"stmatrix", &Decoder::access_matrix},
      {"movmatrix", &Decoder::move_matrix},
      {"mapa", &Decoder::map_address},
      {"getctarank", &Decoder::map_address}};
  const std::string_view opcode = i.opcode;
  if (const auto it = kFamilies.find(opcode); it != kFamilies.end()) return (this->*it->second)(i);
  if (opcode == "bra") return branch(i, index);
  if (opcode == "call") return call(i, index);
  if (opcode == "lop3" && i.modifiers.size() > 1) return logic_with_predicate(i);
  if (opcode == "ret") {
    leave_register_results();
    return close_block(source_->is_entry ? Exit::exit : Exit::ret);
  }
  if (opcode == "exit") return close_block(Exit::exit);
  if (opcode == "trap") return close_block(Exit::trap);
  if (opcode == "activemask") {
    const Result out = result(i.operands.at(0), SlotKind::narrow, false);
    emit("activemask").dst[0] = out.slot;
    return finish(out);
  }
  if (opcode == "nanosleep") {
    const std::uint32_t duration = source(i.operands.at(0), SlotKind::narrow, Type::u32);
    emit("nanosleep").src[0] = duration;
    return;
  }
  // They change no results: hints for caches, requests to debuggers and profilers, and griddepcontrol, since
  // launches run one after the other.
  if (opcode == "prefetch" || opcode == "prefetchu") return prefetch(i);
  if (opcode == "applypriority" || opcode == "discard" || opcode == "setmaxnreg" || opcode == "pmevent" ||
      opcode == "brkpt" || opcode == "griddepcontrol")
    return static_cast<void>(emit("fence"));
  if (opcode == "createpolicy") {  // cache policies have no effect, so any value is right
    const Result out = result(i.operands.at(0), SlotKind::wide, false);
    simple("mov.wide", out.slot, {constant(SlotKind::wide, 0)});
    return finish(out);
  }
  const OpRow* const found = table_.find(table_key(i));
  if (found == nullptr || found->results.empty()) unsupported();
  table_instruction(*found, i);
}

std::uint64_t function_address(const ptx::Module& module, const ptx::Function& f) {
  return kFunctionWindow + 16 * static_cast<std::uint64_t>(&f - module.functions.data());
}

Result<Program> decode(const ModuleImage& image, const ptx::Function& kernel, const OpTable& table,
                       SlotNames* names) {
  try {
    return Decoder(image, table, names).run(kernel);
  } catch (const DecodeError& e) {
    return Error{e.what()};
  }
}

}  // namespace course::sim
