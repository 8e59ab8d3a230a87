// SPDX-License-Identifier: MIT
#include "nccl/operation/move.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <type_traits>

#include "nccl/operation/arithmetic.hpp"

namespace course::nccl {
namespace {

constexpr std::size_t kTile = 1024;  // elements that are combined at once

// The n-th block of a buffer.
std::byte* block_of(void* buffer, const Call& call, int n) {
  return static_cast<std::byte*>(buffer) + static_cast<std::size_t>(n) * call.count * size_of(call.type);
}
const std::byte* block_of(const void* buffer, const Call& call, int n) {
  return block_of(const_cast<void*>(buffer), call, n);
}

void copy(std::byte* to, const std::byte* from, const Call& call) {
  if (call.count > 0 && to != from) std::memmove(to, from, call.count * size_of(call.type));
}

// Combines the tile that begins at element `first` of each source, in the order of the sources.
template <typename Type>
class Reduction {
 public:
  using Stored = typename Type::Stored;
  using Computed = typename Type::Computed;

  explicit Reduction(const std::vector<Call>& calls) : op_(calls.front().reduction) {
    if (op_ != ncclAvg) return;
    const auto n = static_cast<Computed>(calls.size());
    if constexpr (std::is_integral_v<Computed>)
      divisor_ = n;
    else
      factor_ = Type::load(Type::store(Computed{1} / n));
  }

  void combine(std::span<const std::byte* const> sources, std::size_t first, std::span<Stored> out) const {
    for (std::size_t r = 0; r < sources.size(); ++r) {
      const std::byte* const from = sources[r] + first * sizeof(Stored);
      for (std::size_t i = 0; i < out.size(); ++i) {
        Stored stored;
        std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
        if (factor_ != Computed{1}) stored = Type::store(multiply(Type::load(stored), factor_));
        out[i] = r == 0 ? stored : Type::store(apply(Type::load(out[i]), Type::load(stored)));
      }
    }
    if constexpr (std::is_integral_v<Computed>)
      if (divisor_ > 1)
        for (Stored& value : out) value = static_cast<Stored>(value / divisor_);
  }

 private:
  Computed apply(Computed a, Computed b) const {
    switch (op_) {
      case ncclProd: return multiply(a, b);
      case ncclMax: return larger(a, b);
      case ncclMin: return smaller(a, b);
      default: return add(a, b);
    }
  }

  ncclRedOp_t op_;
  Computed divisor_{1}, factor_{1};  // of averages: of integers, of floats
};

// Writes the reduction of the sources to every target. A target may be one of the sources.
template <typename Type>
void reduce_to(const std::vector<Call>& calls, std::span<const std::byte* const> sources,
               std::span<std::byte* const> targets) {
  using Stored = typename Type::Stored;
  const Reduction<Type> reduction(calls);
  std::array<Stored, kTile> tile;
  const std::size_t count = calls.front().count;
  for (std::size_t first = 0; first < count; first += kTile) {
    const std::span<Stored> out(tile.data(), std::min(kTile, count - first));
    reduction.combine(sources, first, out);
    for (std::byte* target : targets)
      std::memcpy(target + first * sizeof(Stored), out.data(), out.size_bytes());
  }
}

using Reduce = void (*)(const std::vector<Call>&, std::span<const std::byte* const>,
                        std::span<std::byte* const>);
Reduce reduce_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8: return reduce_to<Plain<std::int8_t>>;
    case ncclUint8: return reduce_to<Plain<std::uint8_t>>;
    case ncclInt32: return reduce_to<Plain<std::int32_t>>;
    case ncclUint32: return reduce_to<Plain<std::uint32_t>>;
    case ncclInt64: return reduce_to<Plain<std::int64_t>>;
    case ncclUint64: return reduce_to<Plain<std::uint64_t>>;
    case ncclFloat16: return reduce_to<Float16>;
    case ncclFloat32: return reduce_to<Plain<float>>;
    case ncclFloat64: return reduce_to<Plain<double>>;
    case ncclBfloat16: return reduce_to<BFloat16>;
    case ncclFloat8e4m3: return reduce_to<Float8E4M3>;
    case ncclFloat8e5m2: return reduce_to<Float8E5M2>;
    default: return nullptr;  // refused by the call
  }
}

void move_reduction(const std::vector<Call>& calls) {
  const Call& first = calls.front();
  const Reduce reduce = reduce_of(first.type);
  const int n = first.n_ranks;
  if (first.kind == Kind::reduce_scatter) {
    for (const Call& call : calls) {
      std::vector<const std::byte*> sources;
      for (const Call& from : calls) sources.push_back(block_of(from.send, from, call.rank));
      std::byte* const target = block_of(call.receive, call, 0);
      reduce(calls, sources, {&target, 1});
    }
    return;
  }
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  for (const Call& call : calls) sources.push_back(block_of(call.send, call, 0));
  for (int r = 0; r < n; ++r)
    if (first.kind == Kind::all_reduce || r == first.peer)
      targets.push_back(block_of(calls[static_cast<std::size_t>(r)].receive, first, 0));
  reduce(calls, sources, targets);
}

}  // namespace

void move_collective(const std::vector<Call>& calls) {
  const Call& first = calls.front();
  if (reduces(first.kind)) {
    move_reduction(calls);
    return;
  }
  const Call& root = calls[has_root(first.kind) ? static_cast<std::size_t>(first.peer) : 0];
  for (const Call& call : calls) {
    switch (first.kind) {
      case Kind::broadcast: copy(block_of(call.receive, call, 0), block_of(root.send, root, 0), call); break;
      case Kind::gather:
        copy(block_of(root.receive, root, call.rank), block_of(call.send, call, 0), call);
        break;
      case Kind::scatter:
        copy(block_of(call.receive, call, 0), block_of(root.send, root, call.rank), call);
        break;
      default:  // an all-gather or all-to-all: block `from.rank` of the receive buffer
        for (const Call& from : calls)
          copy(block_of(call.receive, call, from.rank),
               block_of(from.send, from, first.kind == Kind::all_to_all ? call.rank : 0), call);
    }
  }
}

void move_message(const Call& send, const Call& receive) {
  copy(block_of(receive.receive, receive, 0), block_of(send.send, send, 0), send);
}

}  // namespace course::nccl
