// SPDX-License-Identifier: MIT
// Emits rows of the op table with given slots.
#include <algorithm>

#include "sim/decode/decoder.hpp"

namespace course::sim {

const OpRow& Decoder::row(std::string_view key) const {
  const OpRow* found = table_.find(key);
  if (found == nullptr) unsupported();
  return *found;
}

MicroOp& Decoder::emit(const OpRow& r) {
  MicroOp op;
  op.fn = r.fn;
  op.kind = r.kind;
  op.imm = r.imm;
  op.guard = guard_;
  op.guard_negated = guard_negated_;
  op.index = static_cast<std::uint32_t>(program_.ops.size());
  op.function = static_cast<std::uint16_t>(number_);
  op.ptx_index = static_cast<std::uint32_t>(current_ - source_->instructions.data());
  op.counted = !helper_;
  op.n_src = static_cast<std::uint8_t>(r.sources.size());
  op.n_dst = static_cast<std::uint8_t>(r.results.size());
  for (std::size_t k = 0; k < r.sources.size(); ++k) {
    if (r.sources[k] == SlotKind::wide) op.wide_src |= static_cast<std::uint8_t>(1u << k);
    if (r.sources[k] == SlotKind::predicate) op.pred_src |= static_cast<std::uint8_t>(1u << k);
  }
  for (std::size_t k = 0; k < r.results.size(); ++k) {
    if (r.results[k] == SlotKind::wide) op.wide_dst |= static_cast<std::uint8_t>(1u << k);
    if (r.results[k] == SlotKind::predicate) op.pred_dst |= static_cast<std::uint8_t>(1u << k);
  }
  program_.ops.push_back(op);
  program_.rows.push_back(&r);
  block().last = static_cast<std::uint32_t>(program_.ops.size());
  return program_.ops.back();
}

void Decoder::simple(std::string_view key, std::uint32_t dst, std::initializer_list<std::uint32_t> sources) {
  MicroOp& op = emit(key);
  op.dst[0] = dst;
  std::copy(sources.begin(), sources.end(), op.src);
}

}  // namespace course::sim
