// SPDX-License-Identifier: MIT
// The op table maps PTX spellings to handlers. One row registers one op. The decoder looks up rows; the
// conformance test visits all of them. Compiled once for each instruction set of the host.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/machine/flow_rule.hpp"
#include "sim/machine/gap.hpp"
#include "sim/machine/program.hpp"

namespace course::sim {

// The kind of slot that an operand has.
enum class SlotKind : std::uint8_t { narrow, wide, predicate };

struct OpRow {
  std::string key;  // canonical spelling: "mad.lo.s32"
  Handler fn = nullptr;
  OpKind kind = OpKind::other;
  std::vector<SlotKind> sources;
  std::vector<SlotKind> results;
  std::int64_t imm = 0;  // becomes MicroOp::imm; distinguishes rows with the same handler
  FlowRule flow = {};    // set by OpTable::add()
};

// Whether the row's key begins with one of these families: "cp.async" is also that of "cp.async.bulk".
inline bool is_of(const OpRow& row, std::initializer_list<std::string_view> families) {
  for (const std::string_view family : families)
    if (row.key.starts_with(family) && (row.key.size() == family.size() || row.key[family.size()] == '.'))
      return true;
  return false;
}

// How the results of a row may differ from a GPU's in their last bits. conformance/differential and
// conformance/functions compared them with an H100 (README, "Differences from a GPU").
inline Gap gap_of_results(const OpRow& row) {
  if (row.key.starts_with("tanh.approx")) return "they are rounded correctly, and a GPU interpolates";
  if (row.key == "mma.float")
    return "sums are exact before they are rounded, and a GPU drops their last bits";
  return nullptr;
}

class OpTable {
 public:
  void add(OpRow row) {
    row.flow = flow_rule(row.key);
    rows_.emplace(row.key, std::move(row));
  }
  const OpRow* find(std::string_view key) const {
    const auto it = rows_.find(std::string(key));
    return it == rows_.end() ? nullptr : &it->second;
  }
  const std::unordered_map<std::string, OpRow>& rows() const { return rows_; }

 private:
  std::unordered_map<std::string, OpRow> rows_;
};

enum class RunEnd : std::uint8_t { waiting, exited, slice_over };

// The machine, compiled for one instruction set of the host.
struct Engine {
  const char* name;
  const OpTable* table;
  // Runs a warp until it waits, exits, or has executed `budget` warp instructions.
  RunEnd (*run)(Warp&, std::int64_t budget);
  RunEnd (*run_observed)(Warp&, std::int64_t budget);
};

// The best built-in engine that this processor can run. The environment variable SIM_ISA (portable, avx2 or
// avx512) selects one of them. Throws std::runtime_error if there is none.
const Engine& engine();

}  // namespace course::sim
