// SPDX-License-Identifier: MIT
// Decides at which instructions a warp begins to execute a source line: where the line or the depth of calls
// changes, and where a loop that stands on a single line begins again. Returning from a function to the
// middle of a line begins none. Stepping and breakpoints are defined by these beginnings.
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "debug/inspect.hpp"
#include "sim/machine/warp.hpp"

namespace course::debug {

class LineStarts {
 public:
  void block_begins(const sim::Block& block) {
    for (const sim::Warp& w : block.warps) warps_[&w] = {};
    last_warp_ = nullptr;
  }
  void clear() {
    warps_.clear();
    last_warp_ = nullptr;
  }

  // Of lane `lane` at op `op`: 64 × its calls + those that the compiler has inlined there (at most 63).
  static std::uint64_t depth(const KernelCode& code, const sim::Warp& w, int lane, const sim::MicroOp& op) {
    return (w.calls[lane].size() << 6) + code.op_inlined[op.index];
  }

  // Lanes `mask` of the warp are about to execute `op`: whether that begins a line.
  bool begins(const KernelCode& code, const sim::Warp& w, std::uint32_t mask, const sim::MicroOp& op) {
    const std::uint32_t line = code.op_line[op.index];
    if (line == 0) return false;
    if (&w != last_warp_) {
      last_ = &warps_[&w];
      last_warp_ = &w;
    }
    bool begins = false;
    for (std::uint32_t m = mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      std::vector<Entry>& stack = last_->lanes[lane];
      const std::uint64_t depth_here = depth(code, w, lane, op);
      while (!stack.empty() && stack.back().depth > depth_here) stack.pop_back();
      if (stack.empty() || stack.back().depth < depth_here) {
        stack.push_back({depth_here, line, op.ptx_index, op.ptx_index});
        begins = true;
        continue;
      }
      Entry& e = stack.back();
      if (e.line != line) {
        e = {depth_here, line, op.ptx_index, op.ptx_index};
        begins = true;
        continue;
      }
      if (op.ptx_index < e.last) {
        begins = begins || op.ptx_index >= e.first;
        if (op.ptx_index < e.first) e.first = op.ptx_index;
      }
      e.last = op.ptx_index;
    }
    return begins;
  }

 private:
  struct Entry {
    std::uint64_t depth;
    std::uint32_t line, first, last;  // since the line began: its lowest instruction, and the latest one
  };
  struct Track {
    std::vector<Entry> lanes[sim::kLanes];
  };
  std::unordered_map<const sim::Warp*, Track> warps_;
  const sim::Warp* last_warp_ = nullptr;
  Track* last_ = nullptr;
};

}  // namespace course::debug
