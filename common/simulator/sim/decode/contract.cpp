// SPDX-License-Identifier: MIT
// The rule by which ptxas contracts products, derived from its machine code for random expressions
// (a GPU and the simulator agreed on nearly all; the README has the numbers):
//   - A sum (add, sub) takes a product (mul) of the same type and .ftz in the same basic block. Neither has a
//     rounding modifier, the product has no .sat and no guard, and none of its factors is 1 or -1. A neg or
//     mov between the two does not matter.
//   - The product's other uses must be such sums, too. Otherwise it is needed by itself and stays.
//   - In the order of the code, each sum takes a product all of whose other sums have taken it or may still
//     do so; of two such products the one with fewer uses, else the first. Except in pairs of halves, sums of
//     products with a single use come before all others.
// Basic blocks are those that ptxas sees before it replaces short branches by guards, so a division that
// becomes a branch to a slow path ends one.
#include "sim/decode/decoder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <string_view>

namespace course::sim {
namespace {

using ptx::Function;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

bool is_number(Type t) {
  return is_float(t) || is_half_pair(t);
}

bool has_rounding(const Instruction& i) {
  return i.has("rn") || i.has("rz") || i.has("rm") || i.has("rp");
}

// The sign of an immediate factor of 1 or -1, which makes the product a copy or a negation; 0 for others.
int unit(const Operand& operand) {
  const auto bits = static_cast<std::uint64_t>(operand.integer);
  if (operand.kind == Operand::Kind::real32) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return x == 1.0f ? 1 : x == -1.0f ? -1 : 0;
  }
  if (operand.kind == Operand::Kind::real64) {
    const double x = std::bit_cast<double>(bits);
    return x == 1.0 ? 1 : x == -1.0 ? -1 : 0;
  }
  return 0;
}

bool is_product(const Instruction& i) {
  return i.opcode == "mul" && is_number(last_type(i)) && !has_rounding(i) && !i.has("sat") && i.guard < 0 &&
         i.operands.size() == 3 && i.operands[0].kind == Operand::Kind::reg && unit(i.operands[1]) == 0 &&
         unit(i.operands[2]) == 0;
}

bool is_sum(const Instruction& i) {
  return (i.opcode == "add" || i.opcode == "sub") && is_number(last_type(i)) && !has_rounding(i) &&
         i.operands.size() == 3;
}

bool takes(const Instruction& sum, const Instruction& product) {
  return is_sum(sum) && last_type(sum) == last_type(product) && sum.has("ftz") == product.has("ftz");
}

// Whether ptxas replaces the instruction by a branch or a call, at least under a guard.
bool becomes_branch(const Instruction& i) {
  const std::string_view o = i.opcode;
  const Type type = last_type(i);
  const bool approximate = i.has("approx") || i.has("full");
  if (is_one_of(o, {"div", "rem", "rcp", "sqrt", "rsqrt"}))
    return is_number(type) ? !approximate || (type == Type::f64 && !i.has("ftz")) : type != Type::u32;
  if (is_one_of(o, {"fence", "membar", "pmevent"})) return true;
  return i.guard >= 0 && is_one_of(o, {"ld", "ldu", "st", "atom", "red", "cp", "prefetch", "prefetchu", "bar",
                                       "barrier", "tex", "suld", "sust", "mbarrier"});
}

class Contractor {
 public:
  explicit Contractor(const Function& f) : f_(f), n_(f.instructions.size()) {
    find_blocks();
    find_accesses();
  }

  Contractions none() const {
    Contractions all{std::vector<Contraction>(n_), std::vector<bool>(n_), std::vector<bool>(n_), {}};
    for (const auto& list : accesses_) all.written_once.push_back(is_written_once(list));
    return all;
  }

  Contractions run() {
    Contractions all = none();
    candidates_.resize(n_);
    uses_.resize(n_);
    std::vector<std::int32_t> sums;
    for (std::size_t k = 0; k < n_; ++k) {
      if (is_product(f_.instructions[k])) add_product(static_cast<std::int32_t>(k));
      if (is_sum(f_.instructions[k])) sums.push_back(static_cast<std::int32_t>(k));
    }
    for (const std::int32_t sum : sums)
      if (!is_half_pair(last_type(f_.instructions[at(sum)]))) choose(sum, true, all.into);
    for (const std::int32_t sum : sums) choose(sum, false, all.into);
    for (std::size_t k = 0; k < n_; ++k)
      if (const std::int32_t product = all.into[k].product; product >= 0) {
        all.contracted[at(product)] = true;
        all.vanishes[at(product)] = is_free(product, all.into);
      }
    return all;
  }

 private:
  struct Use {
    std::int32_t instruction;
    std::size_t operand;
    bool negated;
  };

  static std::size_t at(std::int32_t k) { return static_cast<std::size_t>(k); }

  // Numbers the basic blocks. A label that no branch refers to does not start one.
  void find_blocks() {
    std::vector<bool> starts(n_ + 1, false);
    const auto target = [&](const auto& self, const Operand& operand) -> void {
      if (operand.kind == Operand::Kind::label) starts[at(operand.index)] = true;
      for (const Operand& part : operand.parts) self(self, part);
    };
    for (std::size_t k = 0; k < n_; ++k) {
      const Instruction& i = f_.instructions[k];
      if (i.opcode == "bra" && i.guard < 0 && i.operands.size() == 1 && at(i.operands[0].index) == k + 1)
        continue;  // to the next instruction
      for (const Operand& operand : i.operands) target(target, operand);
      if (is_one_of(i.opcode, {"bra", "brx", "call", "ret", "exit", "trap"}) || becomes_branch(i))
        starts[k + 1] = true;
    }
    for (const auto& table : f_.branch_targets)
      for (const std::int32_t to : table.targets) starts[at(to)] = true;
    std::int32_t block = 0;
    for (std::size_t k = 0; k < n_; ++k) blocks_.push_back(block += starts[k] ? 1 : 0);
  }

  struct Access {
    std::int32_t instruction;
    std::size_t operand;
    bool writes;
  };

  static bool is_written_once(const std::vector<Access>& list) {
    return std::ranges::count_if(list, [](const Access& a) { return a.writes; }) == 1;
  }

  void find_accesses() {
    accesses_.resize(f_.registers.size());
    for (std::size_t k = 0; k < n_; ++k) {
      const Instruction& i = f_.instructions[k];
      // Reads come before writes. The list of a call's results or arguments counts as both.
      for (std::size_t o = i.operands.size(); o-- > 0;) {
        const bool is_result = o == 0 && !is_one_of(i.opcode, {"st", "red"});
        access(i.operands[o], static_cast<std::int32_t>(k), o, is_result);
      }
    }
  }

  void access(const Operand& operand, std::int32_t k, std::size_t o, bool writes) {
    if (operand.index >= 0 && (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::address))
      accesses_[at(operand.index)].push_back({k, o, writes && operand.kind == Operand::Kind::reg});
    for (const Operand& part : operand.parts) {
      access(part, k, o, writes);
      if (operand.kind == Operand::Kind::list) access(part, k, o, !writes);
    }
  }

  // Adds the uses of the value that instruction k writes, which is `product` or a copy; a use through neg or
  // mov counts as one of the product. Returns false if they are not known.
  bool add_uses(std::int32_t k, const Instruction& product, bool negated, std::vector<Use>& uses) const {
    const auto& list = accesses_[at(f_.instructions[at(k)].operands[0].index)];
    const bool once = is_written_once(list);
    for (const Access& a : list) {
      if (a.instruction <= k) {
        if (once && !a.writes) return false;  // read in the next iteration of a loop
        continue;
      }
      if (!once && blocks_[at(a.instruction)] != blocks_[at(k)]) return false;
      const Instruction& user = f_.instructions[at(a.instruction)];
      if (a.writes) return user.guard < 0;
      const int sign = passes_on(user, product);
      if (sign == 0)
        uses.push_back({a.instruction, a.operand, negated});
      else if (!add_uses(a.instruction, product, negated != (sign < 0), uses))
        return false;
    }
    return once;
  }

  // 1 if the instruction only copies the product, -1 if it negates it, else 0.
  static int passes_on(const Instruction& i, const Instruction& product) {
    const auto& o = i.operands;
    if (i.guard >= 0 || o.size() < 2 || o[0].kind != Operand::Kind::reg) return 0;
    const Type type = last_type(product);
    const bool alike = last_type(i) == type && i.has("ftz") == product.has("ftz");
    if (i.opcode == "mul" && alike && o.size() == 3 && !i.has("sat")) return unit(o[1]) + unit(o[2]);
    if (o.size() != 2 || o[1].kind != Operand::Kind::reg) return 0;
    if (i.opcode == "mov") return ptx::bits_of(last_type(i)) == ptx::bits_of(type) ? 1 : 0;
    return i.opcode == "neg" && alike && type != Type::bf16x2 ? -1 : 0;
  }

  void add_product(std::int32_t k) {
    std::vector<Use>& uses = uses_[at(k)];
    const Instruction& product = f_.instructions[at(k)];
    if (!add_uses(k, product, false, uses)) return;
    const bool free = std::ranges::all_of(uses, [&](const Use& u) {
      const auto same = [&](const Use& other) { return other.instruction == u.instruction; };
      return blocks_[at(u.instruction)] == blocks_[at(k)] &&
             takes(f_.instructions[at(u.instruction)], product) && std::ranges::count_if(uses, same) == 1;
    });
    if (!free) return;
    for (const Use& u : uses) candidates_[at(u.instruction)][u.operand - 1] = {k, u.operand, u.negated};
  }

  // Whether each sum that uses the product takes it or, unless `all`, may still take it.
  bool is_free(std::int32_t product, const std::vector<Contraction>& into, bool all = true) const {
    const auto& uses = uses_[at(product)];
    return std::ranges::all_of(uses, [&](const Use& u) {
      const std::int32_t taken = into[at(u.instruction)].product;
      return taken == product || (!all && taken < 0);
    });
  }

  void choose(std::int32_t sum, bool single, std::vector<Contraction>& into) const {
    if (into[at(sum)].product >= 0) return;
    std::size_t fewest = SIZE_MAX;
    Contraction best;
    for (const Contraction& c : candidates_[at(sum)]) {
      if (c.product < 0) continue;
      const std::size_t n = uses_[at(c.product)].size();
      if (single ? n != 1 : !is_free(c.product, into, false)) continue;
      if (n < fewest) best = c;
      fewest = std::min(fewest, n);
    }
    into[at(sum)] = best;
  }

  const Function& f_;
  const std::size_t n_;
  std::vector<std::int32_t> blocks_;                    // by instruction
  std::vector<std::vector<Access>> accesses_;           // by register, in the order of the code
  std::vector<std::vector<Use>> uses_;                  // by product
  std::vector<std::array<Contraction, 2>> candidates_;  // by sum, for both operands
};

}  // namespace

Contractions contractions_of(const ptx::Module& module, const Function& f) {
  const auto& options = module.target_options;
  const bool debug = std::ranges::find(options, "debug") != options.end();
  Contractor contractor(f);
  return debug ? contractor.none() : contractor.run();
}

}  // namespace course::sim
