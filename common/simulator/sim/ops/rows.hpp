// SPDX-License-Identifier: MIT
// Makes rows of the op table from pure functions (alu.hpp, float.hpp …): the lane loop and the signature.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "sim/machine/op_table.hpp"
#include "sim/ops/float.hpp"

namespace course::sim::SIM_ISA {

template <typename T>
constexpr const char* suffix() {
  if constexpr (std::is_same_v<T, u8>)
    return "u8";
  else if constexpr (std::is_same_v<T, u16>)
    return "u16";
  else if constexpr (std::is_same_v<T, u32>)
    return "u32";
  else if constexpr (std::is_same_v<T, u64>)
    return "u64";
  else if constexpr (std::is_same_v<T, s8>)
    return "s8";
  else if constexpr (std::is_same_v<T, s16>)
    return "s16";
  else if constexpr (std::is_same_v<T, s32>)
    return "s32";
  else if constexpr (std::is_same_v<T, s64>)
    return "s64";
  else if constexpr (std::is_same_v<T, f32>)
    return "f32";
  else if constexpr (std::is_same_v<T, f64>)
    return "f64";
  else
    return "pred";
}

template <typename T>
constexpr SlotKind slot_kind() {
  if constexpr (std::is_same_v<T, bool>)
    return SlotKind::predicate;
  else
    return sizeof(T) == 8 ? SlotKind::wide : SlotKind::narrow;
}

template <typename Op, typename Result, typename... Args>
void run_alu(Warp& w, const MicroOp& op) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const std::tuple<Source<Args>...> in{Source<Args>(w, op.src[K])...};
    write_lanes<Result>(w, op.dst[0], [&](int i) { return Op::of(std::get<K>(in)[i]...); });
  }
  (std::index_sequence_for<Args...>{});
}

// As run_alu, for ops with flags that are equal for all lanes: OpRow::imm is their first argument.
template <typename Op, typename Result, typename... Args>
void run_flagged(Warp& w, const MicroOp& op) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const std::tuple<Source<Args>...> in{Source<Args>(w, op.src[K])...};
    const s64 flags = op.imm;
    write_lanes<Result>(w, op.dst[0], [&](int i) { return Op::of(flags, std::get<K>(in)[i]...); });
  }
  (std::index_sequence_for<Args...>{});
}

// Adds rows to a table. `unary<Op, T…>("neg")` adds one row per type; f32 also gets an .ftz row.
struct Rows {
  OpTable& table;

  template <typename Op, typename Result, typename... Args>
  void flagged(std::string key, s64 flags, OpKind kind = OpKind::combine) {
    table.add(OpRow{std::move(key),
                    &run_flagged<Op, Result, Args...>,
                    kind,
                    {slot_kind<Args>()...},
                    {slot_kind<Result>()},
                    flags});
  }

  template <typename Op, typename Result, typename... Args>
  void row(std::string key, OpKind kind = OpKind::combine) {
    table.add(OpRow{
        std::move(key), &run_alu<Op, Result, Args...>, kind, {slot_kind<Args>()...}, {slot_kind<Result>()}});
  }

  template <typename Op, typename... T>
  void unary(const std::string& name, OpKind kind = OpKind::combine) {
    (typed<Op, T, T, T>(name, kind), ...);
  }
  template <typename Op, typename... T>
  void binary(const std::string& name, OpKind kind = OpKind::combine) {
    (typed<Op, T, T, T, T>(name, kind), ...);
  }
  template <typename Op, typename... T>
  void ternary(const std::string& name) {
    (typed<Op, T, T, T, T, T>(name, OpKind::combine), ...);
  }
  // Rows named by width: b16, b32, b64, and one for predicates.
  template <typename Op>
  void bitwise2(const std::string& name) {
    row<Op, u16, u16, u16>(name + ".b16");
    row<Op, u32, u32, u32>(name + ".b32");
    row<Op, u64, u64, u64>(name + ".b64");
    row<Op, bool, bool, bool>(name + ".pred");
  }
  template <typename Op, typename... T>
  void compare(const std::string& name) {
    (typed<Op, T, bool, T, T>("setp." + name, OpKind::combine), ...);
  }

  // Adds the row name.T for type T, and a second one with .ftz if T is f32.
  template <typename Op, typename T, typename Result, typename... Args>
  void typed(const std::string& name, OpKind kind) {
    if constexpr (std::is_same_v<T, f32>) {
      row<alu::Plain<Op>, Result, Args...>(name + ".f32", kind);
      row<alu::Ftz<Op>, Result, Args...>(name + ".ftz.f32", kind);
    } else {
      row<Op, Result, Args...>(name + "." + suffix<T>(), kind);
    }
  }
};

// Rows of ops that are not computed lane by lane.
struct PlainRows {
  OpTable& table;

  void row(std::string key, Handler fn, OpKind kind, std::vector<SlotKind> sources = {},
           std::vector<SlotKind> results = {}) {
    table.add(OpRow{std::move(key), fn, kind, std::move(sources), std::move(results)});
  }
};

void add_integer_rows(OpTable& table);
void add_bit_rows(OpTable& table);
void add_float_rows(OpTable& table);
void add_half_rows(OpTable& table);
void add_rounding_rows(OpTable& table);
void add_compare_rows(OpTable& table);
void add_move_rows(OpTable& table);
void add_convert_rows(OpTable& table);
void add_any_convert_rows(OpTable& table);
void add_load_store_rows(OpTable& table);
void add_atomic_rows(OpTable& table);
void add_warp_rows(OpTable& table);
void add_carry_rows(OpTable& table);
void add_async_rows(OpTable& table);
void add_clock_rows(OpTable& table);
void add_matrix_rows(OpTable& table);
void add_texture_rows(OpTable& table);

}  // namespace course::sim::SIM_ISA
