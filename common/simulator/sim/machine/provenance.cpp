// SPDX-License-Identifier: MIT
#include "sim/machine/provenance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "ptx/ir.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/machine.hpp"

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

namespace {

// Adds the registers from which values in `registers` may have been copied; `onwards`: those to which.
std::set<std::int32_t> with_copies(const ptx::Function& f, std::set<std::int32_t> registers, bool onwards) {
  for (bool more = true; more;) {
    more = false;
    for (const ptx::Instruction& i : f.instructions) {
      if ((i.opcode != "mov" && i.opcode != "cvt") || i.operands.size() != 2) continue;
      const Operand &known = i.operands[onwards ? 1 : 0], &fresh = i.operands[onwards ? 0 : 1];
      if (known.kind == Operand::Kind::reg && fresh.kind == Operand::Kind::reg &&
          registers.contains(known.index))
        more = registers.insert(fresh.index).second || more;
    }
  }
  return registers;
}

// Whether an instruction compares what a swap has found, in register `found`, with what it expected.
bool is_compared(const ptx::Function& f, std::int32_t found, const std::set<std::int32_t>& before) {
  const std::set<std::int32_t> copies = with_copies(f, {found}, true),
                               expected = with_copies(f, before, true);
  const auto holds = [](const Operand& o, const std::set<std::int32_t>& registers) {
    return o.kind == Operand::Kind::reg && registers.contains(o.index);
  };
  return std::any_of(f.instructions.begin(), f.instructions.end(), [&](const ptx::Instruction& i) {
    const auto& o = i.operands;
    if (o.size() < 3 || !(i.opcode == "setp" || i.opcode == "set" || i.opcode == "xor" || i.opcode == "sub"))
      return false;
    return (holds(o[1], copies) && holds(o[2], expected)) || (holds(o[2], copies) && holds(o[1], expected));
  });
}

// The register or symbol from which an address was computed by adding constants only.
struct Start {
  std::int32_t reg = -1;
  std::string_view symbol;
  std::int64_t offset = 0;
  friend bool operator==(const Start&, const Start&) = default;
};

// For each register that exactly one instruction defines, that instruction.
class Definitions {
 public:
  explicit Definitions(const ptx::Function& f)
      : by_register_(f.registers.size()), counts_(f.registers.size()) {
    for (const ptx::Instruction& i : f.instructions)
      if (!i.operands.empty()) note(i.operands[0], i);
  }

  Start start_of(const Operand& address) const {
    Start at{address.index, address.name, address.integer};
    for (int steps = 0; at.reg >= 0 && at.symbol.empty() && steps < kMaxSteps; ++steps) {
      const auto reg = static_cast<std::size_t>(at.reg);
      const ptx::Instruction* const i = counts_[reg] == 1 ? by_register_[reg] : nullptr;
      if (i == nullptr || !follow(*i, at)) break;
    }
    return at;
  }

  // The value of an operand, if it is a constant.
  std::optional<std::int64_t> number(const Operand& o) const {
    if (o.kind == Operand::Kind::integer) return o.integer;
    if (o.kind != Operand::Kind::reg || o.index < 0 || counts_[static_cast<std::size_t>(o.index)] != 1)
      return std::nullopt;
    const ptx::Instruction& i = *by_register_[static_cast<std::size_t>(o.index)];
    if (i.opcode != "mov" || i.operands.size() != 2) return std::nullopt;
    return number(i.operands[1]);
  }

 private:
  static constexpr int kMaxSteps = 16;

  void note(const Operand& o, const ptx::Instruction& i) {
    if (o.kind == Operand::Kind::reg && o.index >= 0) {
      by_register_[static_cast<std::size_t>(o.index)] = &i;
      ++counts_[static_cast<std::size_t>(o.index)];
    }
    for (const Operand& part : o.parts) note(part, i);
  }

  static bool follow(const ptx::Instruction& i, Start& at) {
    const auto& o = i.operands;
    const bool adds = i.opcode == "add" && o.size() == 3 && o[2].kind == Operand::Kind::integer;
    if (!adds && !((i.opcode == "mov" || i.opcode == "cvta") && o.size() == 2)) return false;
    if (o[1].kind == Operand::Kind::reg && o[1].index >= 0) {
      at.reg = o[1].index;
      at.offset += adds ? o[2].integer : 0;
    } else if (o[1].kind == Operand::Kind::symbol) {
      at = {-1, o[1].name, at.offset + o[1].integer};
    } else {
      return false;
    }
    return true;
  }

  std::vector<const ptx::Instruction*> by_register_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace

std::set<std::uint32_t> loads_before_swaps(const Program& program) {
  std::set<std::uint32_t> loads;
  std::map<std::uint32_t, Definitions> definitions;  // by function
  for (const MicroOp& swap : program.ops) {
    if (swap.kind != OpKind::atomic) continue;
    const ptx::Function& f = *program.functions[swap.function].source;
    const ptx::Instruction& i = f.instructions[swap.ptx_index];
    if (!i.has("cas") || i.operands.size() < 4 || i.operands[2].kind != Operand::Kind::reg) continue;
    const std::set<std::int32_t> expected = with_copies(f, {i.operands[2].index}, false);
    if (i.operands[0].kind != Operand::Kind::reg || !is_compared(f, i.operands[0].index, expected)) continue;
    const Definitions& defined = definitions.try_emplace(swap.function, f).first->second;
    const Start swapped = defined.start_of(i.operands[1]);
    for (const MicroOp& load : program.ops) {
      if (load.kind != OpKind::load || load.function != swap.function || load.width != swap.width) continue;
      const ptx::Instruction& l = f.instructions[load.ptx_index];
      if (l.opcode == "ld" && l.operands.size() == 2 && l.operands[0].kind == Operand::Kind::reg &&
          expected.contains(l.operands[0].index) && defined.start_of(l.operands[1]) == swapped)
        loads.insert(load.index);
    }
  }
  return loads;
}

void mark_harmless_looks(Program& program) {
  for (MicroOp& look : program.ops) {
    if (look.kind != OpKind::load || (look.order & kOnlyDecides) == 0) continue;
    const ptx::Function& f = *program.functions[look.function].source;
    const auto start = [&f, defined = Definitions(f)](const MicroOp& op) {
      const auto& o = f.instructions[op.ptx_index].operands;
      return defined.start_of(o[o[0].kind == Operand::Kind::address ? 0 : 1]);
    };
    for (const MicroOp& op : std::span(program.ops).subspan(look.index + 1))
      if ((op.kind == OpKind::store || op.kind == OpKind::atomic || (op.order & kWaits) != 0) &&
          op.function == look.function && start(op) == start(look))
        look.order |= kWaits;
    if ((look.order & kWaits) == 0) look.order &= kOnlyDecides - 1;
  }
}

std::set<std::uint32_t> swaps_of(const Program& program) {
  std::set<std::uint32_t> swaps;
  for (const MicroOp& op : program.ops) {
    if (op.kind != OpKind::atomic) continue;
    const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
    if (i.has("exch") || i.has("cas")) swaps.insert(op.index);
  }
  return swaps;
}

std::set<std::uint32_t> atomics_that_only_read(const Program& program) {
  std::set<std::uint32_t> looks;
  std::map<std::uint32_t, Definitions> definitions;  // by function
  for (const MicroOp& op : program.ops) {
    if (op.kind != OpKind::atomic || op.dst[0] == MicroOp::kNoSlot) continue;
    const ptx::Function& f = *program.functions[op.function].source;
    const ptx::Instruction& i = f.instructions[op.ptx_index];
    const auto& o = i.operands;
    const Definitions& defined = definitions.try_emplace(op.function, f).first->second;
    const auto is_same = [&](const Operand& a, const Operand& b) {
      if (a.kind == Operand::Kind::reg && b.kind == Operand::Kind::reg && a.index == b.index) return true;
      const auto n = defined.number(a);
      return n && n == defined.number(b);
    };
    const bool keeps = i.has("add") || i.has("or") || i.has("xor");
    if ((o.size() == 3 && keeps && defined.number(o[2]) == 0) ||
        (o.size() == 4 && i.has("cas") && is_same(o[2], o[3])))
      looks.insert(op.index);
  }
  return looks;
}

namespace {

// What a register may contain, as far as shared arrays are concerned: nothing known yet, no shared address,
// an address in one array, or a mixture.
class Base {
 public:
  static Base nothing() { return Base(&kNothing); }
  static Base mixture() { return Base(&kMixture); }
  static Base array(const Program::SharedVariable& v) { return Base(&v); }
  Base() = default;

  bool is_array() const { return what_ != nullptr && what_ != &kNothing && what_ != &kMixture; }
  const Program::SharedVariable* variable() const { return is_array() ? what_ : nullptr; }
  // For a value that is one or the other.
  Base either(Base other) const {
    if (what_ == nullptr || what_ == other.what_) return other;
    return other.what_ == nullptr ? *this : mixture();
  }
  // For a sum: an array plus an offset is an address in that array.
  Base plus(Base other) const {
    if (what_ == &kNothing || what_ == nullptr) return other;
    return other.what_ == &kNothing || other.what_ == nullptr ? *this : mixture();
  }
  friend bool operator==(Base, Base) = default;

 private:
  explicit Base(const Program::SharedVariable* what) : what_(what) {}
  static const Program::SharedVariable kNothing, kMixture;
  const Program::SharedVariable* what_ = nullptr;
};
const Program::SharedVariable Base::kNothing{}, Base::kMixture{};

class ArrayWalk {
 public:
  ArrayWalk(const Program& program, const ptx::Function& f) : program_(program), bases_(f.registers.size()) {
    for (bool more = true; more;) {
      more = false;
      for (const ptx::Instruction& i : f.instructions) {
        if (i.operands.empty()) continue;
        const Base base = result(i);
        each_register(i.operands[0], [&](std::size_t reg) {
          const Base both = bases_[reg].either(base);
          more = more || !(both == bases_[reg]);
          bases_[reg] = both;
        });
      }
    }
  }

  // The base of an operand: of its value, or of the address if the operand is one, such as [%rd1 + 4].
  Base of(const Operand& o) const {
    const Base reg = o.index >= 0 && (o.kind == Operand::Kind::reg || o.kind == Operand::Kind::address)
                         ? bases_[static_cast<std::size_t>(o.index)]
                         : Base::nothing();
    return o.name.empty() || o.kind == Operand::Kind::reg ? reg : reg.plus(named(o.name));
  }

 private:
  Base named(std::string_view name) const {
    for (const auto& v : program_.shared)
      if (v.name == name) return v.size == 0 ? Base::mixture() : Base::array(v);
    return Base::nothing();
  }

  Base result(const ptx::Instruction& i) const {
    const auto& o = i.operands;
    if ((i.opcode == "mov" || i.opcode == "cvta" || i.opcode == "cvt") && o.size() == 2) return of(o[1]);
    if ((i.opcode == "add" || i.opcode == "or") && o.size() == 3) return of(o[1]).plus(of(o[2]));
    if (i.opcode == "sub" && o.size() == 3) return of(o[2]).is_array() ? Base::mixture() : of(o[1]);
    if (i.opcode == "and" && o.size() == 3) return of(o[1]).plus(of(o[2]));
    if (i.opcode == "mad" && o.size() == 4) return of(o[3]);
    if (i.opcode == "selp" && o.size() == 4) return of(o[1]).either(of(o[2]));
    return Base::nothing();
  }

  template <typename Each>
  static void each_register(const Operand& o, const Each& each) {
    if (o.kind == Operand::Kind::reg && o.index >= 0) each(static_cast<std::size_t>(o.index));
    for (const Operand& part : o.parts) each_register(part, each);
  }

  const Program& program_;
  std::vector<Base> bases_;  // by register
};

}  // namespace

std::vector<const Program::SharedVariable*> shared_arrays(const Program& program) {
  std::vector<const Program::SharedVariable*> arrays(program.ops.size(), nullptr);
  if (program.shared.empty()) return arrays;
  std::map<std::uint32_t, ArrayWalk> walks;  // by function
  for (const MicroOp& op : program.ops) {
    // Of a copy, the first address is its destination.
    const bool copies = op.kind == OpKind::copy;
    if (!copies &&
        (!accesses_memory(op.kind) || (op.space != MemorySpace::shared && op.space != MemorySpace::generic)))
      continue;
    const ptx::Function& f = *program.functions[op.function].source;
    const ArrayWalk& walk = walks.try_emplace(op.function, program, f).first->second;
    for (const Operand& o : f.instructions[op.ptx_index].operands)
      if (o.kind == Operand::Kind::address) {
        arrays[op.index] = walk.of(o).variable();
        if (copies) break;
      }
  }
  return arrays;
}

}  // namespace course::sim
