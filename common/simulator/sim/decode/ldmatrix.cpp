// SPDX-License-Identifier: MIT
// Rows of 8 × 8 matrices: ldmatrix and stmatrix, decoded as ordinary loads and stores of shared memory, so
// that observers of memory see these; movmatrix, which transposes a matrix in registers.
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.15.5.
#include <fmt/format.h>

#include <utility>

#include "sim/decode/matrix.hpp"
#include "sim/memory/memory.hpp"

namespace course::sim {
namespace {

int matrices(const Instruction& i) {
  return i.has("x4") ? 4 : i.has("x2") ? 2 : i.has("x1") ? 1 : 0;
}

}  // namespace

// A lane's address in shared memory, as a 32-bit slot.
std::uint32_t Decoder::row_address(const Operand& operand) {
  const bool was_helper = std::exchange(helper_, true);
  const bool generic = !current_->has("shared") && !current_->has("shared::cta");
  const std::uint32_t at = generic_address(operand, generic ? Space::generic : Space::shared);
  const std::uint32_t offset = temporary(SlotKind::wide), narrow = temporary(SlotKind::narrow);
  simple("sub.u64", offset, {at, constant(SlotKind::wide, kSharedWindow)});
  simple("cvt.u32.u64", narrow, {offset});
  helper_ = was_helper;
  return narrow;
}

// ldmatrix.sync.aligned.m8n8.num[.trans][.shared].b16 {r, …}, [p] · stmatrix.… [p], {r, …}
// Lane 8 k + j provides the address of row j of matrix k. Register k of a lane gets two neighbouring elements
// of row (lane ÷ 4), or of that column with .trans.
void Decoder::access_matrix(const Instruction& i) {
  const int n = matrices(i);
  if (!i.has("m8n8") || !i.has("b16") || n == 0) unsupported("not supported: shape or type");
  const bool store = i.opcode == "stmatrix", across = i.has("trans");
  const std::vector<Operand> registers = parts_of(i.operands.at(store ? 1 : 0));
  if (registers.size() != static_cast<std::size_t>(n)) unsupported(".num and the number of registers differ");
  const std::uint32_t rows = row_address(i.operands.at(store ? 0 : 1));
  const std::uint32_t lane = special("%laneid", SlotKind::narrow);
  const bool was_helper = std::exchange(helper_, true);
  const auto number = [&](std::uint32_t v) { return constant(SlotKind::narrow, v); };
  const auto calculate = [&](const char* key, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t out = temporary(SlotKind::narrow);
    simple(key, out, {a, b});
    return out;
  };
  const std::uint32_t group = calculate("shr.u32", lane, number(2)),
                      turn = calculate("and.b32", lane, number(3));
  // The row of the matrix that a lane accesses, and the position in it: two elements at once, or one in each
  // of two rows.
  const std::uint32_t row = across ? calculate("shl.b32", turn, number(1)) : group;
  const std::uint32_t place =
      across ? calculate("shl.b32", group, number(1)) : calculate("shl.b32", turn, number(2));
  std::vector<std::uint32_t> values;
  if (store)
    for (const Operand& r : registers) values.push_back(source(r, SlotKind::narrow, Type::b32));
  std::vector<std::uint32_t> from;
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < (across ? 2 : 1); ++j)
      from.push_back(calculate("add.u32", row, number(static_cast<std::uint32_t>(8 * k + j))));
  open_sync_block();
  std::vector<std::uint32_t> at;
  for (const std::uint32_t f : from) {
    helper_ = !at.empty();
    MicroOp& op = emit("shfl.idx");
    op.imm = static_cast<std::int64_t>(ShuffleMode::index);
    op.src[0] = rows, op.src[1] = f, op.src[2] = number(31), op.src[3] = number(kAllLanes);
    const std::uint32_t address = op.dst[0] = temporary(SlotKind::narrow);
    op.n_src = 3;
    op.n_dst = 1;
    helper_ = true;
    at.push_back(calculate("add.u32", address, place));
  }
  const auto access = [&](std::uint32_t address, std::uint32_t value, int bytes) {
    MicroOp& op =
        plain_access(fmt::format("{}.shared.u{}", store ? "st" : "ld", 8 * bytes), address, false, 0, bytes);
    op.space = MemorySpace::shared;
    (store ? op.src[1] : op.dst[0]) = value;
  };
  for (std::size_t k = 0; k < static_cast<std::size_t>(n); ++k) {
    if (store) {
      if (!across) access(at[k], values[k], 4);
      if (across) {
        access(at[2 * k], values[k], 2);
        access(at[2 * k + 1], calculate("shr.u32", values[k], number(16)), 2);
      }
      continue;
    }
    const Result out = result(registers[k], SlotKind::narrow, false);
    if (across) {
      const std::uint32_t low = temporary(SlotKind::narrow), high = temporary(SlotKind::narrow);
      access(at[2 * k], low, 2);
      access(at[2 * k + 1], high, 2);
      simple("or.b32", out.slot, {low, calculate("shl.b32", high, number(16))});
    } else {
      access(at[k], out.slot, 4);
    }
    finish(out);
  }
  helper_ = was_helper;
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void Decoder::move_matrix(const Instruction& i) {
  if (!i.has("m8n8") || !i.has("trans") || !i.has("b16")) unsupported("not supported: shape or type");
  const std::uint32_t a = source(i.operands.at(1), SlotKind::narrow, Type::b32);
  open_sync_block();
  const Result out = result(i.operands.at(0), SlotKind::narrow, false);
  MicroOp& op = emit("movmatrix");
  op.src[0] = a;
  op.src[3] = constant(SlotKind::narrow, kAllLanes);
  op.dst[0] = out.slot;
  finish(out);
}

}  // namespace course::sim
