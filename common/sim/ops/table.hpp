// SPDX-License-Identifier: MIT
// The op table: which pure function computes which PTX spelling. One row registers an op; the decoder looks
// rows up, the coverage test lists them. Built once per instruction set of the host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/machine/program.hpp"

namespace course::sim {

// How wide an operand's slot is.
enum class SlotKind : std::uint8_t { narrow, wide, predicate };

struct OpRow {
  std::string key;  // canonical spelling: "mad.lo.s32"
  Handler fn = nullptr;
  OpKind kind = OpKind::combine;
  std::vector<SlotKind> sources;
  std::vector<SlotKind> results;
  std::int64_t imm = 0;  // goes into MicroOp::imm: what tells rows of one handler apart
};

class OpTable {
 public:
  void add(OpRow row) { rows_.emplace(row.key, std::move(row)); }
  const OpRow* find(std::string_view key) const {
    const auto it = rows_.find(std::string(key));
    return it == rows_.end() ? nullptr : &it->second;
  }
  const std::unordered_map<std::string, OpRow>& rows() const { return rows_; }

 private:
  std::unordered_map<std::string, OpRow> rows_;
};

enum class RunEnd : std::uint8_t { waiting, exited, slice_over };

// The machine built for one instruction set of the host.
struct Engine {
  const char* name;
  const OpTable* table;
  // Runs a warp until it waits, exits or has used `budget` warp instructions.
  RunEnd (*run)(Warp&, std::int64_t budget);
  RunEnd (*run_observed)(Warp&, std::int64_t budget);
};

// The best engine that is built in and that this processor runs; SIM_ISA=portable|avx2|avx512 asks for one of
// those built in. Throws std::runtime_error where there is none.
const Engine& engine();

}  // namespace course::sim
