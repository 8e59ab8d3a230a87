// SPDX-License-Identifier: MIT
// What an observer does not follow completely. Each observer has functions that return it for a row of the
// op table, for a launch, and so on; observation/subset.hpp asks all of them.
#pragma once

#include "sim/machine/program.hpp"

namespace course::sim {

// The kinds of op that every observer follows, apart from rows that it names. Each decides about the others.
// Exhaustive, so that the compiler asks about a new kind.
constexpr bool is_plain(OpKind kind) {
  switch (kind) {
    case OpKind::move:
    case OpKind::combine:
    case OpKind::divide:
    case OpKind::load:
    case OpKind::store:
    case OpKind::atomic:
    case OpKind::shuffle:
    case OpKind::vote:
    case OpKind::reduce:
    case OpKind::sync:
    case OpKind::fence:
    case OpKind::control: return true;
    case OpKind::copy:
    case OpKind::mbarrier:
    case OpKind::other: break;
  }
  return false;
}

// A clause: "the carry flag is not followed". nullptr: everything is followed.
using Gap = const char*;

}  // namespace course::sim
