// SPDX-License-Identifier: MIT
// A kernel ready to run: PTX decoded once into micro-ops, which refer to register slots, and divided into
// basic blocks. Made by decode/, run by ops/run.cpp. Immutable while a launch runs.
// Register file: one byte array per warp. A 32-bit slot holds 32 lanes of 4 bytes, a 64-bit slot 32 lanes of
// 8 bytes, a predicate one 32-bit mask. Constants, special registers and kernel parameters are slots like any
// other, filled once per launch or per block.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/ir.hpp"
#include "sim/types.hpp"

namespace course::sim {

struct Warp;
struct MicroOp;
struct OpRow;
using Handler = void (*)(Warp&, const MicroOp&);

// What kind of operation an op is, for the observers (counters, dataflow, checkers). Only the handler knows
// the semantics.
enum class OpKind : std::uint8_t {
  move,  // the kinds up to `load` neither write memory nor synchronise
  combine,
  divide,  // of integers: `combine`, with a divisor that may be 0
  load,
  store,
  atomic,
  shuffle,
  vote,
  reduce,
  sync,
  fence,
  control,
  copy,      // asynchronous; reported by Observer::copies_issued
  mbarrier,  // accesses an mbarrier
  other
};
constexpr bool accesses_memory(OpKind kind) {
  return kind == OpKind::load || kind == OpKind::store || kind == OpKind::atomic;
}

// MicroOp::imm of a shuffle.
enum class ShuffleMode : std::uint8_t { up, down, butterfly, index };

// Shared memory that the system reserves in each block, for example for the tiles of cooperative groups, and
// where its parts 0 and 1 begin, in bytes: %reserved_smem_offset_* (PTX ISA, Special Registers). The
// positions of the parts are our choice.
inline constexpr std::uint32_t kReservedShared = 1024, kReservedParts[2] = {256, 512};

enum class MemorySpace : std::uint8_t { none, global, shared, local, generic, constant };

struct MicroOp {
  static constexpr std::uint32_t kNoSlot = ~0u;

  Handler fn = nullptr;
  std::uint32_t dst[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};  // byte offsets into the register file
  std::uint32_t src[4] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  std::int64_t imm = 0;  // address offset, bit pattern or small enumeration, as the handler defines it
  std::uint32_t guard = kNoSlot;  // predicate slot
  std::uint32_t index = 0;        // into Program::ops
  std::uint32_t ptx_index = 0;    // into the function's instructions, for diagnostics
  std::uint16_t function = 0;     // into Program::functions
  OpKind kind = OpKind::other;
  MemorySpace space = MemorySpace::none;
  bool guard_negated = false;
  std::uint8_t width = 0;  // bytes of one element accessed
  std::uint8_t count = 1;  // elements of a vector access
  std::uint8_t n_src = 0, n_dst = 0;
  std::uint8_t wide_src = 0;  // bit i: src[i] is a 64-bit slot; only observers use it
  std::uint8_t wide_dst = 0;
  std::uint8_t pred_src = 0, pred_dst = 0;  // bit i: a predicate slot
  bool counted = true;                      // false for auxiliary ops of the decoder (widening, staging)
  bool prefetches = false;                  // reads global memory only into the caches
  std::uint8_t order = 0;                   // memory order and scope, see MemoryOrder in warp.hpp
  // For the timing model: clocks from the start of its basic block until it is issued, and the memory
  // latencies that end before that.
  std::uint16_t clocks = 0, waits = 0;
};

// How control leaves a basic block.
enum class Exit : std::uint8_t { fall, jump, branch, indexed, call, call_indirect, ret, exit, trap };

// What must hold before a basic block's first op runs. Ops that synchronise begin a block of their own.
enum class Entry : std::uint8_t { none, warp_sync, barrier };

struct BasicBlock {
  std::uint32_t first = 0, last = 0;           // ops [first, last), without the terminator
  std::uint32_t order = 0;                     // scheduling rank: the group with the lowest one runs first
  std::uint32_t next = 0;                      // fall-through or return point
  std::uint32_t target = 0;                    // taken branch, callee entry
  std::uint32_t predicate = MicroOp::kNoSlot;  // branch condition
  std::uint32_t ptx_index = 0;  // the last instruction, for source positions: the terminator if there is one
  std::uint32_t counted = 0;    // PTX instructions in the block, with the terminator
  std::array<std::uint32_t, kInstructionKinds> mix{};  // its instructions by kind
  std::uint32_t clocks = 0;                            // for a warp that runs it alone, see pace.hpp
  std::uint32_t quarter_waits = 4;  // consecutive memory latencies that end in it, in quarters
  std::uint32_t cost = 0;  // what one execution uses up of a warp's turn; more than `counted` if it polls
  std::uint16_t function = 0;
  Exit exit = Exit::fall;
  Entry entry = Entry::none;
  bool predicate_negated = false;
  bool waits_for_all = true;  // after its waits no load is on its way
  bool polling = false;       // in a short loop that reads memory which others may change
  bool only_polling = false;  // in such a loop that accesses no other memory
  bool may_pause = false;     // one of its ops is_look() or is_strong_change()
};

struct CallSite {
  static constexpr std::uint32_t kIndirect = ~0u;
  std::uint32_t callee = kIndirect;           // index into Program::functions
  std::uint32_t selector = MicroOp::kNoSlot;  // 64-bit slot with the function's address if indirect
  struct Piece {
    std::uint32_t offset, bytes;
  };  // in the caller's frame
  std::vector<Piece> arguments, results;
  std::string builtin;  // "vprintf", "malloc" or one of these: run by the machine, without a callee
};

// Functions of the device runtime, for kernels that launch kernels.
inline constexpr const char* kPrepareChild = "__cudaCDP2GetParameterBufferV2";
inline constexpr const char* kLaunchChild = "__cudaCDP2LaunchDeviceV2";
inline constexpr const char* kLaunchChildPerThread = "__cudaCDP2LaunchDeviceV2_ptsz";
inline constexpr const char* kGetDeviceError = "__cudaCDP2GetLastError";
inline constexpr const char* kPeekDeviceError = "__cudaCDP2PeekAtLastError";
inline bool is_child_launch(std::string_view builtin) {
  return builtin == kLaunchChild || builtin == kLaunchChildPerThread;
}

// Bytes of local memory per thread, as on current GPUs.
inline constexpr std::uint32_t kMaxLocal = 512 * 1024;

struct ProgramFunction {
  const ptx::Function* source = nullptr;
  std::uint32_t entry_block = 0;
  std::uint32_t frame_bytes = 0;  // per thread: .local variables, parameters, call arguments
  // Its registers in the register file. They are saved lane by lane when the function is re-entered
  // (recursion).
  std::vector<std::uint32_t> narrow_slots, wide_slots, predicate_slots;
  std::vector<std::uint32_t> unset_slots;  // those that may be read before they are written
  std::vector<std::uint32_t> parameter_offsets, result_offsets;  // in its frame
  std::vector<std::uint32_t> parameter_sizes, result_sizes;
};

// A special register that a program reads, and its slot.
struct SpecialSlot {
  std::string name;
  std::uint32_t slot;
};

// A kernel parameter, or a part of one, that ld.param reads, and the slot with its value.
struct ParameterSlot {
  std::uint32_t offset, bytes, slot;
  bool wide, is_signed;
};

struct Program {
  // The basic blocks of the same function that may run after a block.
  std::vector<std::uint32_t> successors(std::uint32_t block) const;

  const ptx::Module* module = nullptr;
  std::string name, demangled;
  std::vector<MicroOp> ops;
  std::vector<const OpRow*> rows;  // of the op table, by op
  std::vector<BasicBlock> blocks;
  std::vector<ProgramFunction> functions;               // [0] is the kernel
  std::vector<CallSite> calls;                          // BasicBlock::target is an index into it for calls
  std::vector<std::vector<std::uint32_t>> jump_tables;  // of indexed branches: block numbers
  std::vector<std::uint64_t> function_addresses;        // of functions[i], for indirect calls
  std::vector<bool> address_taken;                      // of functions[i]: an indirect call may reach it
  std::vector<std::byte> register_image;                // constants; the rest is a pattern
  std::vector<SpecialSlot> specials;
  std::vector<ParameterSlot> parameters;
  std::uint32_t register_bytes = 0;  // per warp
  std::uint32_t carry_slot = 0;      // predicate: the carry flag of add.cc
  std::uint32_t frame_slot = 0;      // 32-bit: where the current function's frame begins in local memory
  struct SharedVariable {
    std::string name;
    std::uint32_t offset, size, element_bytes;
  };
  std::vector<SharedVariable> shared;
  std::uint32_t static_shared = 0;  // bytes, including reserved_shared
  // Bytes at the start that the system uses; 0 in kernels that do not read %reserved_smem_offset_*.
  std::uint32_t reserved_shared = 0;
  // Bytes of local memory per thread in which the machine code keeps registers: its frame, less what the
  // functions declare.
  std::uint64_t spilled_bytes = 0;
  // The machine code has no frame, so it keeps all local variables in registers.
  bool locals_in_registers = false;
  bool order_sensitive = false;  // results may depend on the order of blocks, so it runs on one host thread
  bool shows_order = false;      // results and counters may also depend on the order of warps and lanes

  // Whether an indirect call may reach functions[f]: its address is taken, and it has what the call passes.
  bool reaches(const CallSite& site, std::size_t f) const {
    const auto same = [](const std::vector<CallSite::Piece>& passed,
                         const std::vector<std::uint32_t>& sizes) {
      return std::equal(passed.begin(), passed.end(), sizes.begin(), sizes.end(),
                        [](const CallSite::Piece& one, std::uint32_t size) { return one.bytes == size; });
    };
    return address_taken[f] && same(site.arguments, functions[f].parameter_sizes) &&
           same(site.results, functions[f].result_sizes);
  }
};

// Whether control can come from the end of a block to one for which `is_end(number)` holds, without a step
// beyond the block `wall`.
template <typename IsEnd>
bool leads_to(const Program& program, std::uint32_t from, const IsEnd& is_end, std::uint32_t wall = ~0u) {
  std::vector<bool> seen(program.blocks.size(), false);
  for (std::vector<std::uint32_t> open = program.successors(from); !open.empty();) {
    const std::uint32_t b = open.back();
    open.pop_back();
    if (is_end(b)) return true;
    if (seen[b] || b == wall) continue;
    seen[b] = true;
    for (const std::uint32_t next : program.successors(b)) open.push_back(next);
  }
  return false;
}

}  // namespace course::sim
