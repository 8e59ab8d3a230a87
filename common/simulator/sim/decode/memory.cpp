// SPDX-License-Identifier: MIT
// Addresses and spaces, loads, stores, atomics, fences.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/decode/decoder.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {

namespace {

// The suffix of memory rows for a type: its size, and its signedness if a load extends it.
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

std::uint64_t window_of(const Instruction& i) {
  if (i.has("shared") || i.has("shared::cta") || i.has("shared::cluster")) return kSharedWindow;
  return i.has("local") ? kLocalWindow : 0;
}

}  // namespace

void Decoder::convert_address(const Instruction& i) {
  const std::uint64_t window = window_of(i);
  const std::uint32_t in = source(i.operands.at(1), SlotKind::wide, Type::u64);
  const Result out = result(i.operands.at(0), SlotKind::wide, false);
  if (window == 0)
    simple("mov.wide", out.slot, {in});
  else
    simple(i.has("to") ? "sub.u64" : "add.u64", out.slot, {in, constant(SlotKind::wide, window)});
  finish(out);
}

void Decoder::is_space(const Instruction& i) {
  const std::uint64_t window = window_of(i);
  const std::uint32_t in = source(i.operands.at(1), SlotKind::wide, Type::u64);
  const Result out = result(i.operands.at(0), SlotKind::predicate, false);
  if (i.has("const") || i.has("param") || i.has("param::entry")) {
    simple("mov.pred", out.slot, {constant(SlotKind::predicate, 0)});
  } else if (window == 0) {  // global memory is below every window
    simple("setp.lt.u64", out.slot, {in, constant(SlotKind::wide, kSharedWindow)});
  } else {
    const std::uint32_t offset = temporary(SlotKind::wide);
    simple("sub.u64", offset, {in, constant(SlotKind::wide, window)});
    helper_ = true;
    simple("setp.lt.u64", out.slot, {offset, constant(SlotKind::wide, kWindowSize)});
    helper_ = false;
  }
}

Access access_of(const Instruction& i) {
  Access a;
  a.type = last_type(i);
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
    else if (m == "v8")
      a.count = 8;
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

void Decoder::load(const Instruction& i) {
  Access a = access_of(i);
  if (ptx::bits_of(a.type) == 128) return load_double_wide(i, a);
  const char* suffix = memory_suffix(a.type, true);
  if (suffix == nullptr) unsupported("element type");
  if (a.count > 4) unsupported("vector width");
  const SlotKind kind = slot_kind_of(a.type);
  const std::vector<Operand> single{i.operands.at(0)};
  const std::vector<Operand>& targets =
      i.operands.at(0).kind == Operand::Kind::vector ? i.operands.at(0).parts : single;
  if (static_cast<int>(targets.size()) != a.count) unsupported("vector width");

  // A kernel parameter at a fixed offset is constant during a launch.
  const Operand& from = i.operands.at(1);
  if (a.space == Space::param && from.kind == Operand::Kind::address && from.index < 0 &&
      is_kernel_parameter(from.name)) {
    std::uint64_t offset = 0;
    for (const auto& p : source_->parameters)
      if (p.name == from.name) offset = p.offset;
    offset += static_cast<std::uint64_t>(from.integer);
    const auto bytes = static_cast<std::uint32_t>(ptx::bits_of(a.type) / 8);
    const std::uint64_t all = source_->parameter_bytes(), wanted = targets.size() * bytes;
    if (wanted > all || offset > all - wanted)
      unsupported(from, fmt::format("outside of the kernel's {} bytes of parameters", all));
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
  // With a register as the address, the parameter is read from the launch's parameter area in the arena.
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
  if (i.has("nc")) op.order |= kNonCoherent;
  op.n_dst = static_cast<std::uint8_t>(a.count);
  op.n_src = 1;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    op.dst[k] = out[k].slot;
    if (kind == SlotKind::wide) op.wide_dst |= static_cast<std::uint8_t>(1u << k);
  }
  for (std::size_t k = 0; k < targets.size(); ++k) finish(out[k]);
}

// A 128-bit register is loaded and stored as two 64-bit elements.
void Decoder::load_double_wide(const Instruction& i, const Access& a) {
  if (a.count != 1) unsupported("element type");
  const auto [low, high] = double_wide(i.operands.at(0));
  const Operand& from = i.operands.at(1);
  // A kernel's parameters are in the launch's parameter area in the arena.
  const bool parameter =
      a.space == Space::param && source_->is_entry && (from.index >= 0 || is_kernel_parameter(from.name));
  MicroOp& op = emit(fmt::format("ld.v2.{}.u64", parameter ? "global" : a.place));
  address(from, a.space, op);
  op.space = parameter ? MemorySpace::constant : a.kind;
  op.width = 8;
  op.count = 2;
  op.order = a.order;
  op.n_src = 1;
  op.n_dst = 2;
  op.dst[0] = low;
  op.dst[1] = high;
  op.wide_dst = 3;
}
void Decoder::store_double_wide(const Instruction& i, const Access& a) {
  if (a.count != 1) unsupported("element type");
  const auto [low, high] = double_wide(i.operands.at(1));
  MicroOp& op = emit(fmt::format("st.v2.{}.u64", a.place));
  address(i.operands.at(0), a.space, op);
  op.space = a.kind;
  op.width = 8;
  op.count = 2;
  op.order = a.order;
  op.n_src = 3;
  op.src[1] = low;
  op.src[2] = high;
  op.wide_src |= 6;
}

void Decoder::store(const Instruction& i) {
  if (i.has("async")) unsupported("not supported: .async");
  const Access a = access_of(i);
  if (ptx::bits_of(a.type) == 128) return store_double_wide(i, a);
  const char* suffix = memory_suffix(a.type, false);
  if (suffix == nullptr) unsupported("element type");
  if (a.count > 4) unsupported("vector width");
  const SlotKind kind = slot_kind_of(a.type);
  const std::vector<Operand> single{i.operands.at(1)};
  const std::vector<Operand>& values =
      i.operands.at(1).kind == Operand::Kind::vector ? i.operands.at(1).parts : single;
  if (static_cast<int>(values.size()) != a.count) unsupported("vector width");
  std::uint32_t slots[4];
  for (std::size_t k = 0; k < values.size(); ++k) slots[k] = source(values[k], kind, a.type);
  std::string key = a.count == 1 ? "st" : fmt::format("st.v{}", a.count);
  key += fmt::format(".{}.{}", a.place, suffix);
  MicroOp& op = emit(key);
  address(i.operands.at(0), a.space, op);
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

// Emits an ordinary load or store; the caller fills in its registers.
MicroOp& Decoder::plain_access(std::string_view key, std::uint32_t at, bool wide, std::int64_t offset,
                               int bytes) {
  MicroOp& op = emit(key);
  op.src[0] = at;
  op.wide_src = wide ? 1 : 0;
  op.imm = offset;
  op.width = static_cast<std::uint8_t>(bytes);
  op.order = kWeak | kScopeDevice;
  const bool store = op.kind == OpKind::store;
  op.n_src = store ? 2 : 1;
  op.n_dst = store ? 0 : 1;
  return op;
}

// atom.op.type d, [a], b[, c] · red.op.type [a], b · vectors of these are decoded element by element
void Decoder::atomic(const Instruction& i) {
  const Access a = access_of(i);
  const bool returns = i.opcode == "atom";
  if (i.has("async")) unsupported();
  static const std::set<std::string, std::less<>> kOps = {"add", "min",  "max", "and", "or",
                                                          "xor", "exch", "cas", "inc", "dec"};
  std::string name;
  for (const auto& m : i.modifiers)
    if (kOps.contains(m)) name = m;
  std::string type = ptx::spelling(a.type);
  if (type == "b32" || type == "b64" || type == "b16") type[0] = 'u';
  const OpRow& r = row(fmt::format("atom.{}.{}.{}", a.place, name, type));
  const std::size_t first = returns ? 1 : 0;  // operand index of the address
  const std::size_t n_values = name == "cas" ? 2 : 1;
  if (i.operands.size() != first + 1 + n_values + (i.has("L2::cache_hint") ? 1 : 0))
    unsupported("number of operands");
  const auto part = [&](const Operand& o, int k) -> const Operand& {
    if (o.kind == Operand::Kind::vector && o.parts.size() != static_cast<std::size_t>(a.count))
      unsupported("vector width");
    return o.kind == Operand::Kind::vector ? o.parts.at(static_cast<std::size_t>(k)) : o;
  };
  bool used = false;
  for (int k = 0; k < a.count; ++k) {
    helper_ = k > 0;
    used = used || (returns && is_read(part(i.operands.at(0), k)));
    const std::span<const Operand> values(&i.operands.at(first + 1), n_values);
    if (ptx::bits_of(a.type) == 128)
      atomic_double_wide(r, a, i.operands.at(first), values, returns ? &i.operands.at(0) : nullptr);
    else
      atomic_element(r, a, i.operands.at(first), k, values, returns ? &part(i.operands.at(0), k) : nullptr);
  }
  helper_ = false;
  // The order of blocks can be observed if the old value is used, through the rounding of float sums, and
  // after operations that do not commute.
  const bool shows = used || is_float(a.type) || a.type == Type::f16x2 || a.type == Type::bf16x2 ||
                     name == "exch" || name == "cas" || name == "inc" || name == "dec";
  if (shows && a.kind != MemorySpace::shared) program_.order_sensitive = true;
}

void Decoder::atomic_element(const OpRow& r, const Access& a, const Operand& where, int element,
                             std::span<const Operand> values, const Operand* to) {
  const SlotKind kind = slot_kind_of(a.type);
  std::uint32_t slots[2] = {MicroOp::kNoSlot, MicroOp::kNoSlot};
  for (std::size_t k = 0; k < values.size() && k < 2; ++k) {
    const Operand& value = values[k];
    slots[k] = source(
        value.kind == Operand::Kind::vector ? value.parts.at(static_cast<std::size_t>(element)) : value, kind,
        a.type);
  }
  Result out;
  const bool used = to != nullptr && is_read(*to);
  if (used) out = result(*to, kind, is_signed(a.type));
  MicroOp& op = emit(r);
  address(where, a.space, op);
  op.space = a.kind;
  op.width = static_cast<std::uint8_t>(ptx::bits_of(a.type) / 8);
  op.imm += element * op.width;
  op.order = a.order;
  op.src[1] = slots[0];
  op.src[2] = slots[1];
  op.n_src = static_cast<std::uint8_t>(1 + values.size());
  op.dst[0] = out.slot;
  op.n_dst = used ? 1 : 0;
  if (kind == SlotKind::wide) {
    op.wide_src |= 6;
    op.wide_dst |= 1;
  }
  finish(out);
}

// 128-bit atomics: b is in src[1] and src[2], c in src[3] and dst[3], the old value in dst[0] and dst[1].
void Decoder::atomic_double_wide(const OpRow& r, const Access& a, const Operand& where,
                                 std::span<const Operand> values, const Operand* to) {
  std::pair<std::uint32_t, std::uint32_t> in[2] = {{MicroOp::kNoSlot, MicroOp::kNoSlot},
                                                   {MicroOp::kNoSlot, MicroOp::kNoSlot}};
  for (std::size_t k = 0; k < values.size() && k < 2; ++k) in[k] = double_wide(values[k]);
  MicroOp& op = emit(r);
  address(where, a.space, op);
  op.space = a.kind;
  op.width = 16;
  op.order = a.order;
  std::tie(op.src[1], op.src[2]) = in[0];
  std::tie(op.src[3], op.dst[3]) = in[1];
  op.n_src = static_cast<std::uint8_t>(1 + 2 * values.size());
  op.wide_src |= 14;
  if (to == nullptr || !is_read(*to)) return;
  std::tie(op.dst[0], op.dst[1]) = double_wide(*to);
  op.n_dst = 2;
  op.wide_dst |= 3;
}

void Decoder::fence(const Instruction& i) {
  MicroOp& op = emit("fence");
  // Fences between proxies or for the initialisation of mbarriers do not order threads.
  if (i.has("proxy") || i.has("mbarrier_init") ||
      std::ranges::any_of(i.modifiers, [](const auto& m) { return m.starts_with("proxy"); }))
    return;
  const Access a = access_of(i);
  op.order = static_cast<std::uint8_t>((i.has("sc") || i.opcode == "membar" ? kSequential : kAcquireRelease) |
                                       (a.order & kScopeMask));
  if (i.opcode == "membar") {
    const std::uint8_t scope = i.has("cta") ? kScopeBlock : i.has("sys") ? kScopeSystem : kScopeDevice;
    op.order = static_cast<std::uint8_t>(kSequential | scope);
  }
}

}  // namespace course::sim
