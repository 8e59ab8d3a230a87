// SPDX-License-Identifier: MIT
// What the PTX memory model says of single ops (NVIDIA, "PTX ISA" 9.0, chapter 8).
#pragma once

#include "sim/machine/warp.hpp"

namespace course::sim {

inline bool is_strong(const MicroOp& op) {
  return op.kind == OpKind::atomic || (op.order & kOrderMask) != kWeak;
}

// Whether the scope of a strong access includes other blocks.
inline bool reaches_device(const MicroOp& op) {
  return (op.order & kOrderMask) == kVolatile || (op.order & kScopeMask) >= kScopeDevice;
}

// Accesses that overlap only partly are not morally strong (8.7.2). Within a block, flags of one byte each
// that are read as a word are right on every GPU, but an atomic may miss writes of another size.
inline bool overlap_partly(const MicroOp& one, const MicroOp& two, bool same_block) {
  const auto is = [&](OpKind kind) { return one.kind == kind || two.kind == kind; };
  if (one.width == two.width || is(OpKind::mbarrier)) return false;
  return !same_block || (is(OpKind::atomic) && !is(OpKind::load));
}

inline bool releases(const MicroOp& op) {
  const int order = op.order & kOrderMask;
  return order == kRelease || order == kAcquireRelease || order == kSequential;
}
inline bool acquires(const MicroOp& op) {
  const int order = op.order & kOrderMask;
  return order == kAcquire || order == kAcquireRelease || order == kSequential;
}

}  // namespace course::sim
