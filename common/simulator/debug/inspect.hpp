// SPDX-License-Identifier: MIT
// What a stopped warp looks like in terms of its source: frames, lines, and where each variable's bytes are.
// Joins the debug information (dwarf.hpp) with the simulator's registers and memory. Changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "debug/dwarf.hpp"
#include "sim/decode/decode.hpp"
#include "sim/machine/program.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"

namespace course::debug {

// A source line of the program's author. Files of the toolkit and of the system are not.
struct Line {
  std::string file;
  std::uint32_t number = 0;
};

// What the debugger keeps of a loaded module.
struct ModuleCode {
  const sim::ModuleImage* image = nullptr;
  DebugInfo debug;
  std::string complaint;  // why there is no debug information, or ""
};

// What it keeps of a decoded kernel.
struct KernelCode {
  const sim::Program* program = nullptr;
  const ModuleCode* module = nullptr;
  sim::SlotNames names;
  std::vector<std::uint32_t> op_line;     // by op: into Inspector::lines(), 0: no line of the author
  std::vector<std::uint8_t> op_inlined;   // by op: how many calls deep the line is inlined
  std::vector<std::uint32_t> call_block;  // by call: the basic block that it ends
  std::vector<const Scope*> scopes;       // by function, or nullptr
  std::vector<std::unordered_map<std::string, std::int32_t>> labels;  // by function: into its instructions
  std::vector<std::vector<std::uint32_t>> lines;  // by function and instruction: Inspector::line_at()
};

// A value in the debugger. `address` if it is in memory.
struct Value {
  const Type* type = nullptr;
  std::vector<std::byte> bytes;
  std::optional<std::uint64_t> address;  // generic
};

// An activation of a function in one lane.
struct Frame {
  std::uint32_t function = 0;   // into Program::functions
  std::uint32_t ptx_index = 0;  // the instruction that runs next, or the call
  std::uint32_t base = 0;       // in local memory
  std::size_t depth = 0;        // 0: the kernel itself
};

class Inspector {
 public:
  void add_module(const sim::ModuleImage& image, std::string_view ptx);
  void add_kernel(const sim::Program& program, const sim::ModuleImage& image, sim::SlotNames names);
  const KernelCode& code(const sim::Program& program) const;
  const std::vector<Line>& lines() const { return lines_; }
  const std::vector<std::unique_ptr<KernelCode>>& kernels() const { return kernels_; }

  // The op that a warp is about to run. Other groups of threads are at the next op of their basic block.
  void stopped_at(const sim::Warp* warp, const sim::MicroOp* op) {
    current_warp_ = warp;
    current_op_ = op;
  }
  void use(const sim::Arena& arena) { arena_ = &arena; }
  const sim::Arena& arena() const { return *arena_; }

  // Function and instruction at which a group of threads is.
  std::pair<std::uint32_t, std::uint32_t> position(const sim::Warp& w, const sim::Group& g) const;
  static const sim::Group* group_of(const sim::Warp& w, int lane);
  // Innermost first. Empty if the lane has exited.
  std::vector<Frame> frames(const sim::Warp& w, int lane) const;
  // The author's line at an instruction, by index in lines(); 0: none. Code of the toolkit that is inlined
  // without a trace belongs to the author's line before it.
  std::uint32_t line_at(const KernelCode& code, std::uint32_t function, std::uint32_t ptx_index) const;
  // The same in the nearest frame that has one.
  std::uint32_t line_of(const sim::Warp& w, int lane) const;

  // The variables that are visible in a frame, innermost scope first. Those of the module come last if
  // `globals`.
  std::vector<const Variable*> visible(const KernelCode& code, const Frame& frame, bool globals) const;
  // A variable's value in one lane. The Error says why there is none.
  Result<Value> read(sim::Warp& w, int lane, const Frame& frame, const Variable& v) const;
  // Bytes at a generic address as the lane sees them.
  Result<std::vector<std::byte>> memory(const sim::Warp& w, int lane, std::uint64_t address,
                                        std::uint64_t n_bytes) const;
  // How many bytes from `address` on are in the same object (allocation or shared memory); 0: none.
  std::uint64_t extent(const sim::Warp& w, std::uint64_t address) const;

 private:
  std::uint32_t line_index(const std::string& file, std::uint32_t number);
  std::optional<std::int32_t> label(const KernelCode& code, std::uint32_t function,
                                    const std::string& name) const;
  bool covers(const KernelCode& code, const Frame& frame, const std::string& begin,
              const std::string& end) const;
  void collect(const KernelCode& code, const Frame& frame, const Scope& scope,
               std::vector<const Variable*>& found) const;
  std::optional<std::uint64_t> register_value(sim::Warp& w, int lane, const Frame& frame,
                                              const std::string& name) const;
  std::optional<std::uint64_t> symbol_address(const KernelCode& code, const Frame& frame,
                                              const std::string& name) const;

  std::vector<std::unique_ptr<ModuleCode>> modules_;
  std::vector<std::unique_ptr<KernelCode>> kernels_;
  std::vector<Line> lines_{1};
  std::unordered_map<std::string, std::uint32_t> line_numbers_;
  std::unordered_map<const sim::Program*, const KernelCode*> by_program_;
  const sim::Arena* arena_ = nullptr;
  const sim::Warp* current_warp_ = nullptr;
  const sim::MicroOp* current_op_ = nullptr;
};

}  // namespace course::debug
