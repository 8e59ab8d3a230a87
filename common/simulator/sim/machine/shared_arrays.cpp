// SPDX-License-Identifier: MIT
#include "sim/machine/shared_arrays.hpp"

#include <map>
#include <string_view>

#include "ptx/ir.hpp"

namespace course::sim {
namespace {

using ptx::Operand;

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
