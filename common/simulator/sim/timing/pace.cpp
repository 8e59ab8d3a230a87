// SPDX-License-Identifier: MIT
#include "sim/timing/pace.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/machine/warp.hpp"

namespace course::sim {
namespace {

using Kind = InstructionKind;

bool one_of(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

bool is_floating(ptx::Type t) {
  using ptx::Type;
  return t == Type::f16 || t == Type::f16x2 || t == Type::bf16 || t == Type::bf16x2 || t == Type::tf32 ||
         t == Type::f32 || t == Type::f32x2 || t == Type::f64;
}

double of(const std::array<double, kInstructionKinds>& table, Kind kind) {
  return table[static_cast<std::size_t>(kind)];
}

// The instructions of its kind that the assembler makes of one: those of sm_90 on the path of ordinary
// operands, disassembled from what ptxas 13.0 makes (of a 64-bit division about 80, as four of 32 bits).
std::uint32_t length_of(const ptx::Instruction& i) {
  const ptx::Type type = i.types.empty() ? ptx::Type::none : i.types.back();
  const bool wide = ptx::bits_of(type) == 64;
  if (i.opcode == "fns") return 52;
  if (!is_floating(type)) return wide && one_of(i.opcode, {"div", "rem"}) ? 4 : 1;
  if (i.opcode == "rsqrt") return wide && !i.has("ftz") ? 14 : 1;
  if (i.has("approx")) return 1;
  if (!wide) return one_of(i.opcode, {"sqrt", "rcp"}) ? 11 : 1;
  return i.opcode == "div" ? 19 : i.opcode == "sqrt" ? 18 : i.opcode == "rcp" ? 13 : 1;
}

// The latency of a load that hits in the nearest memory. The additional latency of farther memory is added at
// run time.
double load_latency(const MicroOp& op, const Timing& timing) {
  return op.space == MemorySpace::shared || op.space == MemorySpace::generic ? timing.shared_latency
                                                                             : timing.near_latency;
}

// The most instructions that a forward branch may skip for the assembler to guard them with a predicate
// instead.
constexpr std::uint32_t kMaxGuarded = 12;

// Whether block `number` ends in a branch over the few instructions that follow it, up to its target. The
// assembler turns such instructions into guarded ones and schedules them together with those around them.
bool guards_next(const Program& program, std::uint32_t number) {
  const BasicBlock& b = program.blocks[number];
  if (b.exit != Exit::branch || b.next != number + 1 || b.target <= b.next) return false;
  std::uint32_t n = 0;
  for (std::uint32_t k = b.next; k < b.target; ++k) {
    const BasicBlock& skipped = program.blocks[k];
    n += skipped.counted;
    if (n > kMaxGuarded || skipped.exit != Exit::fall || skipped.next != k + 1 ||
        skipped.entry != Entry::none)
      return false;
  }
  return program.blocks[b.target].entry != Entry::barrier;
}

bool is_far(const MicroOp& op) {
  return op.space == MemorySpace::global || op.space == MemorySpace::generic;
}

// The most instructions of a loop that the assembler unrolls, and how often it does.
constexpr std::uint32_t kMaxUnrolled = 50, kUnrolled = 4;

// Whether block `number` is a loop that the assembler unrolls if no iteration's loads need those of the one
// before: a small loop that only computes and loads, until a counter with a constant step ends it.
// Disassembled from what ptxas 13.0 makes for sm_90.
bool may_be_unrolled(const Program& program, std::uint32_t number) {
  const BasicBlock& b = program.blocks[number];
  if (b.exit != Exit::branch || b.target != number || b.entry != Entry::none || b.counted > kMaxUnrolled)
    return false;
  const std::span ops = std::span(program.ops).subspan(b.first, b.last - b.first);
  const auto is_load = [](const MicroOp& op) { return op.kind == OpKind::load && is_far(op); };
  const auto is_other = [](const MicroOp& op) { return op.kind > OpKind::load || is_look(op); };
  if (std::ranges::none_of(ops, is_load) || std::ranges::any_of(ops, is_other)) return false;
  const ptx::Function& f = *program.functions[b.function].source;
  const ptx::Instruction& branch = f.instructions[b.ptx_index];
  const auto first = static_cast<std::uint32_t>(branch.operands[0].index);
  const std::span body = std::span(f.instructions).subspan(first, b.ptx_index - first);
  const auto steps = [&](std::int32_t counter) {
    return counter >= 0 && std::ranges::any_of(body, [&](const ptx::Instruction& i) {
             return i.opcode == "add" && i.operands[0].index == counter && i.operands[1].index == counter &&
                    i.operands[2].kind == ptx::Operand::Kind::integer;
           });
  };
  const auto ends = [&](const ptx::Instruction& i) {
    return i.opcode == "setp" && i.operands[0].index == branch.guard &&
           (steps(i.operands[1].index) || steps(i.operands[2].index));
  };
  const auto forbids = [&](const ptx::Pragma& pragma) {
    return pragma.text == "nounroll" && std::cmp_greater_equal(pragma.at, first) &&
           std::cmp_less_equal(pragma.at, b.ptx_index);
  };
  return std::ranges::any_of(body, ends) && std::ranges::none_of(f.pragmas, forbids);
}

// Goes through sequences of basic blocks and computes when the value of each register is available; the
// increase within a block is the block's number of clocks. `depth` counts how many loads in a row must be
// waited for, because values depend on loads whose addresses depend on loads, and so on. A load also waits
// for the values of earlier stores to the same memory space, as they may be to its address. Loads that
// nothing has waited for yet are carried over to the next block.
class PaceWalk {
 public:
  PaceWalk(Program& program, const Timing& timing) : program_(program), timing_(timing) {}

  // `open`: the instructions of this block are scheduled together with those of the next one, so only loads
  // wait in this block, for their addresses.
  void block(BasicBlock& b, bool goes_on, bool open, bool unrolled) {
    if (!goes_on) {
      values_.clear();
      stored_ = {};
      issued_ = in_order_ = longest_ = passed_ = 0;
      depth_ = waited_ = 0;
    }
    std::uint32_t wanted = 0;  // waits of the ops in this block
    for (std::uint32_t k = b.first; k < b.last; ++k) {
      MicroOp& op = program_.ops[k];
      const std::uint32_t depth = step(op);
      if (!open || op.kind == OpKind::load) wanted = std::max(wanted, depth);
      op.clocks = in_16_bits(in_order_ - passed_);
      op.waits = in_16_bits(wanted - std::min(wanted, waited_));
    }
    if (b.exit != Exit::fall && !open) wanted = depth_;
    const double now = std::max(issued_, longest_);
    double clocks = now - passed_;
    passed_ = now;
    if (b.exit != Exit::fall) clocks += of(timing_.latency, Kind::control);
    b.clocks = static_cast<std::uint32_t>(std::lround(std::max(clocks, 0.0)));
    std::uint32_t waits = wanted - std::min(wanted, waited_);
    if (depth_ == 0 && !open) waits = 1;  // for no load, or for one of an earlier block
    b.quarter_waits = waits * (unrolled && !chains(b) ? 1 : kUnrolled);
    waited_ = std::max(waited_, wanted);
    b.waits_for_all = waits != 0 && depth_ <= waited_;
  }

  // An access to a local variable that the machine code keeps in a register is no instruction, but passes
  // values on.
  bool is_in_register(const MicroOp& op) const {
    return program_.locals_in_registers && op.space == MemorySpace::local;
  }

 private:
  static std::uint16_t in_16_bits(double n) {
    return static_cast<std::uint16_t>(std::clamp(n, 0.0, double{UINT16_MAX}));
  }

  // Whether loads of a loop's next iteration need this one's.
  bool chains(const BasicBlock& loop) const {
    PaceWalk walk(program_, timing_);
    const auto iterate = [&] {
      for (std::uint32_t k = loop.first; k < loop.last; ++k) walk.step(program_.ops[k]);
      return walk.depth_;
    };
    const std::uint32_t once = iterate();
    return iterate() > once;
  }

  struct Value {
    double ready = 0;
    std::uint32_t depth = 0;
  };

  Value value_of(std::uint32_t slot) const {
    const auto it = values_.find(slot);
    return slot == MicroOp::kNoSlot || it == values_.end() ? Value{} : it->second;
  }

  static Value later(Value a, Value b) { return {std::max(a.ready, b.ready), std::max(a.depth, b.depth)}; }

  // Returns the depth of the values that the op reads.
  std::uint32_t step(const MicroOp& op) {
    Value in = value_of(op.guard);
    for (const std::uint32_t slot : op.src) in = later(in, value_of(slot));
    const bool far = is_far(op);
    const ptx::Instruction& instruction = program_.functions[op.function].source->instructions[op.ptx_index];
    Value& stored = stored_[far ? 0 : is_in_register(op) ? 3 : 1];
    if (op.kind == OpKind::store) stored = later(stored, in);
    if (op.kind == OpKind::load && !instruction.has("nc")) in = later(in, stored);
    const bool takes = op.kind == OpKind::load || op.kind == OpKind::atomic;
    if (takes || op.kind == OpKind::store) in = later(in, stored_[2]);
    Value out = in;
    if (op.counted && !is_in_register(op)) {
      const Kind kind = kind_of(instruction);
      const std::uint32_t n = length_of(instruction);
      const double start = std::max(in.ready, issued_);
      in_order_ = std::max(in_order_, start);
      issued_ += n * of(timing_.issue, kind);
      out.ready =
          start + (op.kind == OpKind::load ? load_latency(op, timing_) : n * of(timing_.latency, kind));
    }
    const bool samples = op.kind == OpKind::other && op.n_dst > 0;  // reads a texture or surface
    if (far &&
        (op.kind == OpKind::load || samples || (op.kind == OpKind::atomic && op.dst[0] != MicroOp::kNoSlot)))
      ++out.depth;
    // Nothing that comes after an acquire may be done before it has its value.
    if (takes && (instruction.has("acquire") || instruction.has("acq_rel"))) stored_[2] = out;
    if (op.kind != OpKind::store)
      for (const std::uint32_t slot : op.dst)
        if (slot != MicroOp::kNoSlot) values_[slot] = out;
    longest_ = std::max(longest_, out.ready);
    depth_ = std::max(depth_, out.depth);
    return in.depth;
  }

  Program& program_;
  const Timing& timing_;
  std::unordered_map<std::uint32_t, Value> values_;  // by slot
  // The latest of stores: to global memory, to others; the latest acquire; of stores to registers.
  std::array<Value, 4> stored_;
  double issued_ = 0, in_order_ = 0, longest_ = 0, passed_ = 0;
  std::uint32_t depth_ = 0, waited_ = 0;  // number of dependent loads; number of waits
};

}  // namespace

InstructionKind kind_of(const ptx::Instruction& i) {
  const std::string_view o = i.opcode;
  const ptx::Type type = i.types.empty() ? ptx::Type::none : i.types.back();
  const int bits = ptx::bits_of(type);
  if (one_of(o, {"mov", "cvta"})) return Kind::light;
  if (one_of(o, {"ld", "st", "atom", "red", "ldu", "cp", "ldmatrix", "stmatrix"}))
    return i.has("param") ? Kind::light : Kind::memory;
  if (o == "wmma" && !i.has("mma")) return Kind::memory;
  if (one_of(o, {"bar", "barrier"})) return i.has("warp") ? Kind::control : Kind::barrier;
  if (one_of(o, {"bra", "brx", "ret", "exit", "call", "trap"})) return Kind::control;
  if (one_of(o, {"shfl", "vote", "elect", "activemask"})) return Kind::exchange;
  if (one_of(o, {"match", "redux"})) return Kind::match;
  if (one_of(o, {"fence", "membar"})) return i.has("cta") ? Kind::light : Kind::fence;
  if (one_of(o, {"popc", "clz", "brev", "bfind", "ex2", "lg2", "sin", "cos", "rsqrt", "rcp", "sqrt", "tanh"}))
    return bits == 64 && is_floating(type)         ? Kind::doubles
           : is_floating(type) && length_of(i) > 1 ? Kind::floating
                                                   : Kind::special;
  if (o == "cvt") {
    const bool converts = std::ranges::any_of(i.types, is_floating);
    return converts ? Kind::special : Kind::light;
  }
  if (is_floating(type)) return bits == 64 ? Kind::doubles : o == "div" ? Kind::divide : Kind::floating;
  if (one_of(o, {"div", "rem"})) return Kind::divide;
  if (one_of(o, {"mul", "mad"})) return bits == 64 ? Kind::wide_multiply : Kind::half_rate;
  if (bits == 64) return Kind::wide;
  if (one_of(o, {"shl", "shr", "shf", "bfe", "bfi", "prmt"})) return Kind::half_rate;
  return Kind::integer;
}

Gap gap_of_timing(const OpRow& row) {
  if (is_plain(row.kind)) return nullptr;
  if (row.kind == OpKind::copy)
    return is_of(row, {"cp.async.bulk"}) ? "bulk copies are not modelled" : nullptr;
  if (row.kind == OpKind::mbarrier) return "waiting for an mbarrier takes no time";
  if (is_of(row, {"cp.async.bulk", "mbarrier"}))
    return "waiting for an mbarrier or a bulk copy takes no time";
  if (is_of(row, {"clock", "clock_hi", "clock64"})) return "clocks count instructions, not the modelled time";
  if (is_of(row, {"mma", "movmatrix"})) return "tensor cores are not modelled";
  if (is_of(row, {"tex", "suld", "sust", "mapa"})) return "it counts as arithmetic";
  // A prefetch moves sectors into the caches. A nanosleep may take any time from zero on (PTX ISA).
  // %globaltimer may be updated as rarely as once in a millisecond; waiting for an atomic reads it.
  return is_of(row, {"prefetch", "nanosleep", "cp.async", "globaltimer", "globaltimer_lo", "globaltimer_hi"})
             ? nullptr
             : "it is not modelled";
}

void set_pace(Program& program, const Timing& timing) {
  PaceWalk walk(program, timing);
  std::uint32_t guarded_until = 0;  // blocks before this one are guarded
  bool synchronised = false;        // the sequence of blocks contains a shuffle, vote or the like
  for (BasicBlock& b : program.blocks) {
    b.mix.fill(0);
    std::uint32_t last = ~std::uint32_t{0};
    std::uint32_t n = 0;
    for (std::uint32_t k = b.first; k < b.last; ++k) {
      const MicroOp& op = program.ops[k];
      if (!op.counted || op.ptx_index == last) continue;
      last = op.ptx_index;
      ++n;
      if (walk.is_in_register(op)) continue;
      const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
      b.mix[static_cast<std::size_t>(kind_of(i))] += length_of(i);
    }
    if (b.counted > n) b.mix[static_cast<std::size_t>(Kind::control)] += b.counted - n;
    const auto number = static_cast<std::uint32_t>(&b - program.blocks.data());
    const BasicBlock* before =
        number > 0 && b.entry != Entry::barrier ? &program.blocks[number - 1] : nullptr;
    const bool goes_on =
        before != nullptr && before->next == number && (before->exit == Exit::fall || number < guarded_until);
    synchronised = (goes_on && synchronised) || b.entry == Entry::warp_sync;
    // Guarded loads do not move across instructions that synchronise.
    if (!synchronised && guards_next(program, number)) guarded_until = b.target;
    walk.block(b, goes_on, number < guarded_until, may_be_unrolled(program, number));
  }
}

}  // namespace course::sim
