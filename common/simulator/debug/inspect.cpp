// SPDX-License-Identifier: MIT
#include "debug/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "sim/authors_files.hpp"
#include "sim/machine/access.hpp"

namespace course::debug {
namespace {

// The position of a slot among those that a re-entered function saves; -1: it is not saved.
std::ptrdiff_t saved_position(const sim::ProgramFunction& f, std::uint32_t slot) {
  std::ptrdiff_t at = 0;
  for (const auto* slots : {&f.narrow_slots, &f.wide_slots, &f.predicate_slots}) {
    const auto found = std::find(slots->begin(), slots->end(), slot);
    if (found != slots->end()) return at + (found - slots->begin());
    at += static_cast<std::ptrdiff_t>(slots->size());
  }
  return -1;
}

std::size_t saved_size(const sim::ProgramFunction& f) {
  return f.narrow_slots.size() + f.wide_slots.size() + f.predicate_slots.size();
}

}  // namespace

// --- code --------------------------------------------------------------------------------------------------

void Inspector::add_module(const sim::ModuleImage& image, std::string_view ptx) {
  auto made = std::make_unique<ModuleCode>();
  made->image = &image;
  auto debug = read_debug_info(ptx);
  if (debug)
    made->debug = std::move(*debug);
  else
    made->complaint = debug.error().text;
  if (debug && made->debug.functions.empty())
    made->complaint = "this code was compiled without -G, so it has no variables, only lines";
  modules_.push_back(std::move(made));
}

std::uint32_t Inspector::line_index(const std::string& file, std::uint32_t number) {
  const std::string path = std::filesystem::path(file).lexically_normal().string();
  const auto [it, fresh] = line_numbers_.try_emplace(fmt::format("{}:{}", path, number),
                                                     static_cast<std::uint32_t>(lines_.size()));
  if (fresh) lines_.push_back({path, number});
  return it->second;
}

void Inspector::add_kernel(const sim::Program& program, const sim::ModuleImage& image, sim::SlotNames names) {
  auto code = std::make_unique<KernelCode>();
  code->program = &program;
  code->names = std::move(names);
  for (const auto& m : modules_)
    if (m->image == &image) code->module = m.get();
  if (code->module == nullptr) return;
  const ptx::Module& module = *program.module;
  // The author's line of a position, and how many calls deep it is inlined.
  const auto author_line = [&](std::int32_t at, std::uint32_t& inlined) {
    std::uint32_t line = 0;
    inlined = 0;
    for (; at >= 0; at = module.locations[static_cast<std::size_t>(at)].inlined_at) {
      const ptx::Location& l = module.locations[static_cast<std::size_t>(at)];
      const std::string* file = module.find_file(l.file);
      if (line != 0)
        ++inlined;
      else if (l.line != 0 && file != nullptr && sim::is_authors_file(*file))
        line = line_index(*file, l.line);
    }
    return line;
  };
  for (const sim::ProgramFunction& f : program.functions) {
    std::uint32_t ignored = 0, before = 0;
    auto& lines = code->lines.emplace_back();
    for (const ptx::Instruction& i : f.source->instructions) {
      const std::uint32_t line = author_line(i.location, ignored);
      lines.push_back(before = line != 0 ? line : before);
    }
    auto& labels = code->labels.emplace_back();
    for (const auto& l : f.source->labels) labels.emplace(l.name, l.at);
    const Scope* scope = nullptr;
    for (const Scope& s : code->module->debug.functions)
      if (labels.contains(s.begin)) scope = &s;
    code->scopes.push_back(scope);
  }
  for (const sim::MicroOp& op : program.ops) {
    const auto& instructions = program.functions[op.function].source->instructions;
    std::int32_t at = op.ptx_index < instructions.size() ? instructions[op.ptx_index].location : -1;
    // The first instructions of a function fetch its parameters: they are at its first line, column 0. No
    // line begins with them, so that the parameters have their values at the first stop.
    const bool is_prologue = code->scopes[op.function] != nullptr && at >= 0 &&
                             at == instructions.front().location &&
                             module.locations[static_cast<std::size_t>(at)].column == 0;
    if (is_prologue) at = -1;
    std::uint32_t inlined = 0;
    code->op_line.push_back(author_line(at, inlined));
    code->op_inlined.push_back(static_cast<std::uint8_t>(std::min(inlined, 63u)));
  }
  code->call_block.assign(program.calls.size(), 0);
  for (std::uint32_t k = 0; k < program.blocks.size(); ++k)
    if (program.blocks[k].exit == sim::Exit::call || program.blocks[k].exit == sim::Exit::call_indirect)
      code->call_block[program.blocks[k].target] = k;
  by_program_[&program] = code.get();
  kernels_.push_back(std::move(code));
}

const KernelCode& Inspector::code(const sim::Program& program) const {
  return *by_program_.at(&program);
}

std::uint32_t Inspector::line_at(const KernelCode& code, std::uint32_t function,
                                 std::uint32_t ptx_index) const {
  const auto& lines = code.lines[function];
  return ptx_index < lines.size() ? lines[ptx_index] : 0;
}

// --- positions ---------------------------------------------------------------------------------------------

std::pair<std::uint32_t, std::uint32_t> Inspector::position(const sim::Warp& w, const sim::Group& g) const {
  const sim::Program& program = *w.program;
  const sim::BasicBlock& b = program.blocks[g.block];
  if (&w == current_warp_ && current_op_ != nullptr && current_op_->index >= b.first &&
      current_op_->index < b.last && (g.mask & w.mask) != 0)
    return {current_op_->function, current_op_->ptx_index};
  const std::uint32_t next = b.first + g.done;
  return {b.function, next < b.last ? program.ops[next].ptx_index : b.ptx_index};
}

const sim::Group* Inspector::group_of(const sim::Warp& w, int lane) {
  for (const sim::Group& g : w.groups)
    if ((g.mask >> lane & 1) != 0) return &g;
  return nullptr;
}

std::vector<Frame> Inspector::frames(const sim::Warp& w, int lane) const {
  std::vector<Frame> all;
  const sim::Group* g = group_of(w, lane);
  if (g == nullptr) return all;
  const auto& calls = w.calls[lane];
  const auto [function, ptx_index] = position(w, *g);
  all.push_back({function, ptx_index, w.frame_base[lane], calls.size()});
  const KernelCode& known = code(*w.program);
  for (std::size_t k = calls.size(); k-- > 0;) {
    const sim::BasicBlock& b = w.program->blocks[known.call_block[calls[k].call]];
    all.push_back({b.function, b.ptx_index, calls[k].caller_base, k});
  }
  return all;
}

std::uint32_t Inspector::line_of(const sim::Warp& w, int lane) const {
  const KernelCode& known = code(*w.program);
  for (const Frame& f : frames(w, lane))
    if (const std::uint32_t line = line_at(known, f.function, f.ptx_index); line != 0) return line;
  return 0;
}

// --- variables ---------------------------------------------------------------------------------------------

std::optional<std::int32_t> Inspector::label(const KernelCode& code, std::uint32_t function,
                                             const std::string& name) const {
  const auto& labels = code.labels[function];
  const auto it = labels.find(name);
  if (it == labels.end()) return {};
  return it->second;
}

// Whether the frame's instruction is from label `begin` on and before label `end`.
bool Inspector::covers(const KernelCode& code, const Frame& frame, const std::string& begin,
                       const std::string& end) const {
  const auto from = label(code, frame.function, begin), to = label(code, frame.function, end);
  const auto at = static_cast<std::int32_t>(frame.ptx_index);
  return from && to && at >= *from && at < *to;
}

void Inspector::collect(const KernelCode& code, const Frame& frame, const Scope& scope,
                        std::vector<const Variable*>& found) const {
  for (const Scope& child : scope.children)
    if (covers(code, frame, child.begin, child.end)) collect(code, frame, child, found);
  for (const Variable& v : scope.variables) found.push_back(&v);
}

std::vector<const Variable*> Inspector::visible(const KernelCode& code, const Frame& frame,
                                                bool globals) const {
  std::vector<const Variable*> found;
  if (const Scope* scope = code.scopes[frame.function]) collect(code, frame, *scope, found);
  if (globals)
    for (const Variable& v : code.module->debug.globals) found.push_back(&v);
  return found;
}

std::optional<std::uint64_t> Inspector::register_value(sim::Warp& w, int lane, const Frame& frame,
                                                       const std::string& name) const {
  const sim::Program& program = *w.program;
  const sim::ProgramFunction& f = program.functions[frame.function];
  const auto& registers = f.source->registers;
  std::size_t index = 0;
  while (index < registers.size() && registers[index].name != name) ++index;
  if (index == registers.size()) return {};
  const std::uint32_t slot = code(program).names.functions[frame.function].registers[index];
  if (slot == sim::MicroOp::kNoSlot) return {};
  // A deeper activation of the same function has saved this one's registers.
  std::size_t saved = 0;
  const auto& calls = w.calls[lane];
  for (std::size_t k = 0; k < calls.size(); ++k) {
    if (!calls[k].spilled) continue;
    if (k >= frame.depth && calls[k].function == frame.function) {
      const std::ptrdiff_t at = saved_position(f, slot);
      const std::size_t where = saved + static_cast<std::size_t>(at);
      if (at < 0 || where >= w.spilled[lane].size()) return {};
      return w.spilled[lane][where];
    }
    saved += saved_size(program.functions[calls[k].function]);
  }
  const int bits = ptx::bits_of(registers[index].type);
  if (registers[index].type == ptx::Type::pred) return w.predicate(slot) >> lane & 1;
  return bits > 32 ? w.slot<std::uint64_t>(slot)[lane] : w.slot<std::uint32_t>(slot)[lane];
}

std::optional<std::uint64_t> Inspector::symbol_address(const KernelCode& code, const Frame& frame,
                                                       const std::string& name) const {
  const auto& frame_names = code.names.functions[frame.function].frame;
  const ptx::Function& f = *code.program->functions[frame.function].source;
  if (f.is_entry)
    for (const ptx::Variable& p : f.parameters)
      if (p.name == name) return code.module->image->parameter_area + p.offset;
  if (const auto it = frame_names.find(name); it != frame_names.end())
    return sim::kLocalWindow + frame.base + it->second;
  if (const auto it = code.names.shared.find(name); it != code.names.shared.end())
    return sim::kSharedWindow + it->second;
  const auto& globals = code.module->image->variables;
  for (const std::string& full : {sim::scope_of_variables(f) + name, name})
    if (const auto it = globals.find(full); it != globals.end()) return it->second;
  return {};
}

Result<Value> Inspector::read(sim::Warp& w, int lane, const Frame& frame, const Variable& v) const {
  const KernelCode& known = code(*w.program);
  Value value;
  value.type = v.type;
  for (const Variable::Range& r : v.ranges) {
    if (!r.begin.empty() && !covers(known, frame, r.begin, r.end)) continue;
    if (r.place.kind == Place::Kind::in_register) {
      const auto bits = register_value(w, lane, frame, r.place.name);
      if (!bits) break;
      value.bytes.resize(std::min<std::uint64_t>(v.type->bytes, 8));
      std::memcpy(value.bytes.data(), &*bits, value.bytes.size());
      return value;
    }
    if (r.place.kind == Place::Kind::at_symbol) {
      const auto address = symbol_address(known, frame, r.place.name);
      if (!address) break;
      value.address = *address + r.place.offset;
      auto bytes = memory(w, lane, *value.address, v.type->bytes);
      if (!bytes) return bytes.error();
      value.bytes = std::move(*bytes);
      return value;
    }
  }
  return Error{fmt::format("\"{}\" has no value here: not set yet, or no longer needed", v.name)};
}

// --- memory ------------------------------------------------------------------------------------------------

Result<std::vector<std::byte>> Inspector::memory(const sim::Warp& w, int lane, std::uint64_t address,
                                                 std::uint64_t n_bytes) const {
  constexpr std::uint64_t kMax = 1 << 26;
  if (n_bytes > kMax) return Error{"this value is too large to show"};
  const std::byte* from = nullptr;
  const std::uint64_t offset = address - sim::kLocalWindow;
  if (offset >= sim::kWindowSize)
    from = sim::memory_at(*arena_, *w.block, address, n_bytes);
  else if (offset + n_bytes <= w.local_stride)
    from = w.local.data() + static_cast<std::size_t>(lane) * w.local_stride + offset;
  if (from == nullptr) return Error{fmt::format("{:#x} is not memory that this thread can read", address)};
  return std::vector<std::byte>(from, from + n_bytes);
}

std::uint64_t Inspector::extent(const sim::Warp& w, std::uint64_t address) const {
  if (address >= sim::kSharedWindow && address - sim::kSharedWindow < w.block->shared_bytes)
    return sim::kSharedWindow + w.block->shared_bytes - address;
  if (const sim::Allocation* a = arena_->describe(address)) return a->base + a->size - address;
  return 0;
}

}  // namespace course::debug
