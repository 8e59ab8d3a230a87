// SPDX-License-Identifier: MIT
// The rows of extended-precision arithmetic: add.cc, addc, mad.lo.cc and others that write or read the carry
// flag, which has a predicate slot of its own. Compiled once per instruction set of the host.
// The flag is the carry out of the adder. A subtraction adds the complement, a − b = a + ~b + 1, so its flag
// is set if there is no borrow. Machine code shows this (sub.cc is IADD3 a, −b; subc is IADD3.X a, ~b), and
// nvcc's 128-bit division reads the flag of a subtraction with addc.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.2.
#include "sim/ops/rows.hpp"

namespace course::sim::SIM_ISA {

namespace {

// a + b (+ carry), or a + ~b + 1 (a + ~b + carry). In: reads the carry; Out: writes it.
template <typename T, bool Subtract, bool In, bool Out>
void carry_chain(Warp& w, const MicroOp& op) {
  const auto* a = w.slot<T>(op.src[0]);
  const auto* b = w.slot<T>(op.src[1]);
  u32& carry = w.predicate(w.program->carry_slot);
  const u32 in = carry;
  alignas(64) T value[kLanes];
  u32 out = 0;
  for (int i = 0; i < kLanes; ++i) {
    const u32 c = In ? in >> i & 1 : Subtract;
    const u128 wide = static_cast<u128>(a[i]) + static_cast<T>(Subtract ? ~b[i] : b[i]) + c;
    value[i] = static_cast<T>(wide);
    out |= static_cast<u32>(wide >> (8 * sizeof(T)) & 1) << i;
  }
  write_lanes<T>(w, op.dst[0], [&](int i) { return value[i]; });
  if constexpr (Out) carry = (carry & ~w.mask) | (out & w.mask);
}

// a · b (low or high half) + c (+ carry).
template <typename T, bool High, bool In, bool Out>
void carry_mad(Warp& w, const MicroOp& op) {
  using U = std::make_unsigned_t<T>;
  const auto* a = w.slot<U>(op.src[0]);
  const auto* b = w.slot<U>(op.src[1]);
  const auto* c = w.slot<U>(op.src[2]);
  u32& carry = w.predicate(w.program->carry_slot);
  const u32 in = carry;
  alignas(64) U value[kLanes];
  u32 out = 0;
  for (int i = 0; i < kLanes; ++i) {
    const U product = High ? static_cast<U>(alu::MulHi::of<T>(static_cast<T>(a[i]), static_cast<T>(b[i])))
                           : static_cast<U>(alu::MulLo::of<T>(static_cast<T>(a[i]), static_cast<T>(b[i])));
    const u128 wide = static_cast<u128>(product) + c[i] + (In ? in >> i & 1 : 0);
    value[i] = static_cast<U>(wide);
    out |= static_cast<u32>(wide >> (8 * sizeof(T)) & 1) << i;
  }
  write_lanes<U>(w, op.dst[0], [&](int i) { return value[i]; });
  if constexpr (Out) carry = (carry & ~w.mask) | (out & w.mask);
}

struct CarryRows {
  OpTable& table;

  void row(std::string key, Handler fn, OpKind kind, std::vector<SlotKind> sources,
           std::vector<SlotKind> results) {
    table.add(OpRow{std::move(key), fn, kind, std::move(sources), std::move(results)});
  }

  template <typename T>
  void carries(const char* unsigned_name, const char* signed_name) {
    constexpr SlotKind k = slot_kind<T>();
    for (const char* type : {unsigned_name, signed_name}) {
      const std::string t = std::string(".") + type;
      row("add.cc" + t, &carry_chain<T, false, false, true>, OpKind::combine, {k, k}, {k});
      row("addc" + t, &carry_chain<T, false, true, false>, OpKind::combine, {k, k}, {k});
      row("addc.cc" + t, &carry_chain<T, false, true, true>, OpKind::combine, {k, k}, {k});
      row("sub.cc" + t, &carry_chain<T, true, false, true>, OpKind::combine, {k, k}, {k});
      row("subc" + t, &carry_chain<T, true, true, false>, OpKind::combine, {k, k}, {k});
      row("subc.cc" + t, &carry_chain<T, true, true, true>, OpKind::combine, {k, k}, {k});
    }
    mads<T>(unsigned_name);
    mads<std::make_signed_t<T>>(signed_name);
  }
  template <typename T>
  void mads(const char* type) {
    constexpr SlotKind k = slot_kind<T>();
    const std::string t = std::string(".") + type;
    row("mad.lo.cc" + t, &carry_mad<T, false, false, true>, OpKind::combine, {k, k, k}, {k});
    row("mad.hi.cc" + t, &carry_mad<T, true, false, true>, OpKind::combine, {k, k, k}, {k});
    row("madc.lo" + t, &carry_mad<T, false, true, false>, OpKind::combine, {k, k, k}, {k});
    row("madc.hi" + t, &carry_mad<T, true, true, false>, OpKind::combine, {k, k, k}, {k});
    row("madc.lo.cc" + t, &carry_mad<T, false, true, true>, OpKind::combine, {k, k, k}, {k});
    row("madc.hi.cc" + t, &carry_mad<T, true, true, true>, OpKind::combine, {k, k, k}, {k});
  }
};

}  // namespace

void add_carry_rows(OpTable& table) {
  CarryRows r{table};
  r.carries<u32>("u32", "s32");
  r.carries<u64>("u64", "s64");
}

}  // namespace course::sim::SIM_ISA
