// SPDX-License-Identifier: MIT
#include "sim/grid/signal_waits.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/grid/signal_times.hpp"

namespace course::sim {
namespace {

template <typename Each>
void for_lanes(const Warp& w, const Each& each) {
  for (const int lane : EachLane{w.mask}) each(lane);
}

// Calls `each(lane, word)` for the words of 4 bytes that the op accesses, and for the position of an access
// of fewer bytes.
template <typename Each>
void for_words(const Warp& w, const MicroOp& op, const std::uint64_t* at, const Each& each) {
  const std::uint64_t bytes = std::uint64_t{op.width} * op.count;
  constexpr std::uint64_t kNarrow = std::uint64_t{1} << 63;
  for_lanes(w, [&](int lane) {
    if (bytes < 4) each(lane, at[lane] | kNarrow);
    for (std::uint64_t word = at[lane] / 4 * 4; word < at[lane] + bytes; word += 4) each(lane, word);
  });
}

// Whether the warp polls the same addresses again, in a loop that does nothing else. Then everything since
// the last time was waiting and takes no time of its own.
bool looks_again(Warp& w, const MicroOp& op, const std::uint64_t* at) {
  Warp::Look look{op.index, w.mask, {}};
  for_lanes(w, [&](int lane) { look.at[static_cast<std::size_t>(lane)] = at[lane]; });
  if (w.polled == look) {
    w.time = w.polled_time;
    return true;
  }
  w.polled = look;
  w.polled_time = w.time;
  return false;
}

// What kind of write a lane's access is. Increments, and additions of one sign, give the same result in any
// order; their results are taken for tickets. Accesses of other kinds (kOther) come after what another block
// wrote. kNothing leaves memory as it is, whatever stands there: a look, by which programs poll.
enum WriteKind : std::uint8_t { kOther, kNothing, kIncrement, kDecrement, kAddition, kSubtraction };
auto kinds_of(Warp& w, const MicroOp& op) {
  const ptx::Instruction& i = w.program->functions[op.function].source->instructions[op.ptx_index];
  const bool adds = i.has("add") && !i.has("f32") && !i.has("f64"), masks = i.has("and");
  const bool swaps = i.has("cas") && op.width <= 8;  // operands of 16 bytes are two slots each
  const bool can_do_nothing = adds || masks || i.has("or") || i.has("xor");
  const WriteKind kind = i.has("inc") ? kIncrement : i.has("dec") ? kDecrement : kOther;
  return [&w, &op, adds, swaps, masks, can_do_nothing, kind](int lane) {
    const auto operand = [&w, &op, lane](std::size_t k) -> std::int64_t {
      return op.width == 8 ? w.slot<std::int64_t>(op.src[k])[lane] : w.slot<std::int32_t>(op.src[k])[lane];
    };
    if (swaps) return operand(1) == operand(2) ? kNothing : kOther;
    if (can_do_nothing && operand(1) == (masks ? -1 : 0)) return kNothing;
    return !adds ? kind : operand(1) > 0 ? kAddition : kSubtraction;
  };
}

}  // namespace

bool await_signal(Warp& w, const MicroOp& op, const std::uint64_t* at) {
  SignalTimes& signals = *w.worker->signals;
  const std::uint64_t bytes = std::uint64_t{op.width} * op.count;
  std::array<std::byte, sizeof(w.polled_values)> values{};
  for_lanes(w, [&](int lane) {
    std::memcpy(values.data() + bytes * static_cast<std::size_t>(lane), reinterpret_cast<void*>(at[lane]),
                bytes);
  });
  const bool nothing_new = looks_again(w, op, at) && values == w.polled_values;
  w.polled_values = values;
  std::uint64_t seen[kLanes * 4];
  int n_seen = 0;
  bool two_stages = false;
  std::uint64_t until = 0;
  for_words(w, op, at, [&](int, std::uint64_t word) {
    const SignalTimes::Signal* s = signals.find(word);
    if (s == nullptr || s->block == w.block->linear) return;
    until = std::max(until, signals.available(*s));
    two_stages = two_stages || s->first != s->last;
    if (std::find(seen, seen + n_seen, s->block) == seen + n_seen) seen[n_seen++] = s->block;
  });
  w.time = std::max(w.time, until);
  if (!two_stages) return nothing_new;
  signals.looks += 1;
  signals.blocks_seen += static_cast<std::uint64_t>(n_seen);
  return nothing_new;
}

void raise_signal(Warp& w, const MicroOp& op, const std::uint64_t* at) {
  const std::uint64_t visible_from = w.time + w.worker->publish_clocks;
  const auto kind_of = kinds_of(w, op);
  for_words(w, op, at, [&](int lane, std::uint64_t word) {
    if (const WriteKind kind = kind_of(lane); kind != kNothing)
      w.worker->signals->raise(word, visible_from, w.block->linear, kind);
  });
}

bool atomic_signal(Warp& w, const MicroOp& op, const std::uint64_t* at) {
  const auto kind_of = kinds_of(w, op);
  bool looks = op.dst[0] != MicroOp::kNoSlot;
  for_lanes(w, [&](int lane) { looks = looks && kind_of(lane) == kNothing; });
  if (looks) return await_signal(w, op, at);
  if (op.dst[0] != MicroOp::kNoSlot) {
    const bool waits = looks_again(w, op, at) || w.only_polls;
    std::uint64_t until = 0;
    for_words(w, op, at, [&](int lane, std::uint64_t word) {
      const SignalTimes::Signal* s = w.worker->signals->find(word);
      if (s == nullptr) return;
      // A lock is only free once the block before has released it, even if nothing has to be tried again
      // here, where blocks run one after the other.
      const WriteKind kind = kind_of(lane);
      if (waits || kind == kOther || s->kind != kind)
        until = std::max(until, kind == kNothing ? s->first : s->last);
    });
    w.time = std::max(w.time, until);
  }
  raise_signal(w, op, at);
  return false;
}

}  // namespace course::sim
