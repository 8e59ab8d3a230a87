// SPDX-License-Identifier: MIT
#include "sim/machine/index_origins.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>

#include "ptx/ir.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/shared_arrays.hpp"
#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

using ptx::Operand;

// Whether the result of the instruction may be a pointer that was computed from a pointer operand.
bool carries_pointers(const ptx::Instruction& i) {
  return i.opcode == "add" || i.opcode == "sub" || i.opcode == "mov" || i.opcode == "cvta" ||
         i.opcode == "mad" || i.opcode == "selp" || i.opcode == "ld" || i.opcode == "and" || i.opcode == "or";
}

bool defines(const Operand& o, std::int32_t reg) {
  if (o.kind == Operand::Kind::reg) return o.index == reg;
  return std::ranges::any_of(o.parts, [reg](const Operand& part) { return defines(part, reg); });
}

class Walk {
 public:
  Walk(const ptx::Function& f, const LaunchRequest& launch, PointerArguments& found)
      : f_(f), launch_(launch), found_(found) {}

  void from(std::int32_t reg) {
    if (reg < 0 || ptx::bits_of(f_.registers[static_cast<std::size_t>(reg)].type) != 64 ||
        !seen_.insert(reg).second)
      return;
    for (const ptx::Instruction& i : f_.instructions)
      if (!i.operands.empty() && defines(i.operands[0], reg) && carries_pointers(i)) through(i);
  }

 private:
  void through(const ptx::Instruction& i) {
    if (i.opcode == "ld") {
      if (!i.has("param") || i.operands[1].index >= 0) return;
      for (const ptx::Variable& p : f_.parameters) {
        if (p.name != i.operands[1].name) continue;
        const std::uint64_t at = p.offset + static_cast<std::uint64_t>(i.operands[1].integer);
        std::uint64_t value = 0;
        if (at + sizeof value > launch_.parameters.size()) continue;
        std::memcpy(&value, launch_.parameters.data() + at, sizeof value);
        found_.emplace(at, value);
      }
      return;
    }
    for (std::size_t k = 1; k < i.operands.size(); ++k)
      if (i.operands[k].kind == Operand::Kind::reg) from(i.operands[k].index);
  }

  const ptx::Function& f_;
  const LaunchRequest& launch_;
  PointerArguments& found_;
  std::set<std::int32_t> seen_;
};

}  // namespace

PointerArguments pointers_behind(const Program& program, const LaunchRequest& launch, const MicroOp& op) {
  PointerArguments found;
  const ptx::Function& f = *program.functions[op.function].source;
  if (!f.is_entry || op.ptx_index >= f.instructions.size()) return found;
  Walk walk(f, launch, found);
  for (const Operand& o : f.instructions[op.ptx_index].operands)
    if (o.kind == Operand::Kind::address) walk.from(o.index);
  return found;
}

std::string describe_index(const Program& program, const LaunchRequest& launch, const Arena& arena,
                           const MicroOp& op) {
  constexpr std::size_t kMostArrays = 3, kMostLines = 6;
  const ptx::Function& f = *program.functions[op.function].source;
  std::vector<std::int32_t> registers;  // in the order in which they were found
  std::vector<std::uint32_t> lines;
  // And those of the access and of the kernel's head.
  std::set<std::uint32_t> launch_lines{own_place(places_of(program, op)).line,
                                       own_place(places_of(program, op.function, 0)).line};
  const auto arrays = shared_arrays(program);
  std::vector<std::string> names, sources;
  bool by_thread = false;
  const auto follow = [&](const Operand& o, const auto& self) -> void {
    by_thread = by_thread || o.name.starts_with("%tid") || o.name.starts_with("%lane");
    const bool is_value = o.kind == Operand::Kind::reg || o.kind == Operand::Kind::address;
    if (is_value && o.index >= 0 && f.registers[static_cast<std::size_t>(o.index)].type != ptx::Type::pred &&
        std::ranges::find(registers, o.index) == registers.end())
      registers.push_back(o.index);
    for (const Operand& part : o.parts) self(part, self);
  };
  for (const Operand& o : f.instructions[op.ptx_index].operands)
    if (o.kind == Operand::Kind::address) follow(o, follow);
  for (std::size_t r = 0; r < registers.size(); ++r) {
    for (std::uint32_t k = 0; k < f.instructions.size(); ++k) {
      const ptx::Instruction& i = f.instructions[k];
      if (i.operands.empty() || i.has("param") || !defines(i.operands[0], registers[r])) continue;
      const std::uint32_t line = own_place(places_of(program, op.function, k)).line;
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
      // A line such as i = blockIdx.x * blockDim.x + threadIdx.x is hardly ever wrong.
      if (i.operands.size() > 1 && i.operands[1].kind == Operand::Kind::special) launch_lines.insert(line);
      const auto load = std::ranges::find_if(program.ops, [&](const MicroOp& one) {
        return one.function == op.function && one.ptx_index == k &&
               (one.kind == OpKind::load || one.kind == OpKind::atomic);
      });
      if (load == program.ops.end()) {
        for (const Operand& o : std::span(i.operands).subspan(1)) follow(o, follow);
        continue;
      }
      by_thread = true;
      const auto* shared = arrays[load->index];
      for (const MicroOp& store : program.ops)
        if (shared != nullptr && store.kind == OpKind::store && arrays[store.index] == shared)
          for (const Operand& o :
               program.functions[store.function].source->instructions[store.ptx_index].operands)
            if (store.function == op.function && o.kind != Operand::Kind::address) follow(o, follow);
      const PointerArguments pointers = pointers_behind(program, launch, *load);
      std::string name = shared != nullptr ? plain_name(shared->name) : "";
      // A load from null would have been a fault: it was left out.
      if (name.empty() && pointers.size() == 1 && pointers.begin()->second != 0)
        name = describe_address(program, arena, pointers.begin()->second);
      name.resize(std::min(name.find_first_of(",["), name.size()));
      if (name.empty() || names.size() == kMostArrays || std::ranges::find(names, name) != names.end())
        continue;
      names.push_back(name);
      sources.push_back(fmt::format("{} (line {})", name, line));
    }
  }
  std::erase_if(lines, [&](std::uint32_t line) { return launch_lines.contains(line); });
  lines.resize(std::min(lines.size(), kMostLines));
  if (by_thread && sources.empty() && lines.empty()) return "";
  const std::string from = fmt::format("comes from {}", fmt::join(sources, " and "));
  return fmt::format("; the position {}{}",
                     !by_thread        ? "is the same for all threads of a block"
                     : sources.empty() ? "is computed"
                                       : from,
                     lines.empty() ? "" : fmt::format(", by lines {}", fmt::join(lines, ", ")));
}

namespace {

// The value of an operand in a lane, if it is a number or a register that one of the function's ops has set.
std::optional<std::int64_t> value_of(const Warp& w, std::uint16_t function, int lane, const Operand& o) {
  if (o.kind == Operand::Kind::integer) return o.integer;
  for (const MicroOp& one : w.program->ops) {
    if (o.kind != Operand::Kind::reg || one.function != function || !one.counted || one.n_dst != 1 ||
        one.pred_dst != 0)
      continue;
    const auto& set = w.program->functions[function].source->instructions[one.ptx_index].operands;
    if (set.empty() || set[0].kind != Operand::Kind::reg || set[0].index != o.index) continue;
    if (one.wide_dst == 0) return static_cast<std::int32_t>(w.slot<std::uint32_t>(one.dst[0])[lane]);
    return static_cast<std::int64_t>(w.slot<std::uint64_t>(one.dst[0])[lane]);
  }
  return std::nullopt;
}

}  // namespace

std::string describe_stray_index(const Warp& w, const MicroOp& op, int lane) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 32;  // larger numbers are addresses
  const Program& program = *w.program;
  const ptx::Function& f = *program.functions[op.function].source;
  const auto value = [&](const Operand& o) { return value_of(w, op.function, lane, o); };
  std::vector<std::int32_t> registers;
  const auto follow = [&](std::int32_t reg) {
    if (reg >= 0 && std::ranges::find(registers, reg) == registers.end()) registers.push_back(reg);
  };
  for (const Operand& o : f.instructions[op.ptx_index].operands)
    if (o.kind == Operand::Kind::address) follow(o.index);
  for (std::size_t r = 0; r < registers.size(); ++r) {
    for (std::uint32_t k = 0; k < f.instructions.size(); ++k) {
      const ptx::Instruction& i = f.instructions[k];
      const auto& o = i.operands;
      if (o.size() < 2 || o[0].kind != Operand::Kind::reg || o[0].index != registers[r]) continue;
      const bool chooses = i.opcode == "selp" || i.opcode == "mov" || i.opcode == "min" || i.opcode == "max";
      const bool adds = i.opcode == "add", subtracts = i.opcode == "sub";
      if (adds || subtracts) {
        const auto a = value(o[1]), b = value(o[2]), result = value(o[0]);
        const std::int64_t less = adds ? ~b.value_or(-1) + 1 : b.value_or(0);
        const bool is_difference = subtracts || o[2].kind == Operand::Kind::integer;
        if (a && b && result && is_difference && *a >= 0 && *a < less && less < kLargest &&
            *result == *a - less) {
          const std::uint32_t line = own_place(places_of(program, op.function, k)).line;
          return fmt::format(
              "; the position comes from {} - {}, which is below zero (line {}; if unsigned, very large), by "
              "lines {}",
              *a, less, line, line);
        }
      } else if (!chooses && i.opcode != "mul" && i.opcode != "mad" && i.opcode != "shl" &&
                 i.opcode != "cvt" && i.opcode != "cvta") {
        continue;
      }
      for (const Operand& from : std::span(o).subspan(1))
        if (from.kind == Operand::Kind::reg && (!chooses || value(from) == value(o[0]))) follow(from.index);
    }
  }
  return "";
}

}  // namespace course::sim
