// SPDX-License-Identifier: MIT
// Likely causes of wrong sums and the like, for problem.cpp: one rule for each mistake that explains a result
// (lab/diagnosis.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "reduction/baseline.hpp"
#include "reduction/lab.hpp"

namespace course::reduction {

using namespace lab;  // NOLINT: this file is written in that library's terms

template <typename T>
ExactSum exact_sum(std::span<const T> items) {
  ExactSum sum;
  for (const T item : items) sum.add(static_cast<long double>(item));
  return sum;
}

// --- Likely causes of a wrong result: one rule for each mistake.

template <typename T, typename Op>
struct Facts {
  using Value = typename Op::Value;
  const Case& c;
  std::span<const T> items;
  Op op;
  Value got;
  Expected expected;

  OpId id() const { return static_cast<OpId>(c.op); }
  bool is_sum() const { return id() == OpId::sum || id() == OpId::mean; }
  // Number of items before the first whole vector of 16 bytes.
  std::size_t n_head() const {
    return std::min<std::size_t>(items.size(), (16 - c.misalign % 16) % 16 / sizeof(T));
  }
  // Whether `got` is this value: for floats up to rounding, for integers exactly.
  bool is(long double value) const {
    const auto difference = std::abs(static_cast<long double>(got) - value);
    if constexpr (std::is_integral_v<Value>) return difference == 0;
    return difference <= 1e-6L * std::abs(value);
  }
  // Whether `value` differs from the right result. If it does not, it explains nothing.
  bool tells(long double value) const {
    return std::abs(value - expected.value) > 1e-4L * (std::abs(value) + std::abs(expected.value));
  }
  // Whether the integers differ so much that a wrong result hardly ever matches a rule by chance.
  bool has_telling_integers() const {
    return std::is_integral_v<Value> && c.pattern == Pattern::random &&
           (id() == OpId::sum || id() == OpId::product);
  }
};

std::string no_item(const auto& f) {
  // Of no items, the identity is right, except for op.finish.
  return text_if(f.c.n > 0 && f.got == f.op.identity(),
                 "{} is the identity: no item was combined into the result", f.got);
}

template <typename F>
std::string zero_for_identity(const F& f) {
  using Value = typename F::Value;
  return text_if(f.got == Value{0} && f.op.identity() != Value{0} && f.expected.value != 0,
                 "0 is not the identity of {0}: fill the places that have no item with op.identity()",
                 name_of(f.id()));
}

std::string finish_forgotten(const auto& f) {
  if (f.id() != OpId::mean) return "";
  const bool total = f.c.n == 0 ? f.got == f.op.identity()
                                : f.c.n > 1 && f.is(f.expected.value * static_cast<long double>(f.c.n));
  return text_if(total, "this is the total: op.finish was not applied to it");
}

std::string finished_twice(const auto& f) {
  return text_if(f.id() == OpId::mean && f.c.n > 1 && f.expected.value != 0 &&
                     f.is(f.expected.value / static_cast<long double>(f.c.n)),
                 "op.finish was applied twice: only the last launch's result gets it");
}

template <typename T, typename Op>
std::string sum_in_32_bits(const Facts<T, Op>& f) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    const auto wrapped = static_cast<double>(fold_one_thread(f.items, Sum<T>{})) / static_cast<double>(f.c.n);
    if (f.id() == OpId::mean && f.c.n > 1 && static_cast<double>(f.got) == wrapped)
      return "the sum overflowed 32 bits: keep it in Op::Value";
  }
  return "";
}

// --- Mistakes in the tree over a block. These rules compute what a kernel with the mistake gives.

// Whether a result that equals another value by chance is unlikely.
template <typename F>
bool has_telling_items(const F& f) {
  if (f.c.n == 0 || f.c.n > (1 << 16) || f.c.pattern != Pattern::random) return false;
  return f.has_telling_integers() || (std::is_floating_point_v<typename F::Value> && f.is_sum());
}

template <typename F>
bool explains(const F& f, typename F::Value value) {
  if constexpr (std::is_integral_v<typename F::Value>)
    return f.got == value && static_cast<long double>(value) != f.expected.value;
  return f.is(static_cast<long double>(value)) && f.tells(static_cast<long double>(value));
}

template <typename T, typename Op>
std::string added_instead_of_op(const Facts<T, Op>& f) {
  using Value = typename Op::Value;
  if (f.is_sum()) return "";
  // If the block size is a power of two, its last positions hold identities, level by level, and these are
  // combined, too.
  for (std::uint64_t block = 16; block <= 4096; block *= 2) {
    std::uint64_t n_identities = 0;
    for (std::uint64_t n = f.c.n, n_blocks = 0; block > 16 && n_blocks != 1; n = n_blocks) {
      n_blocks = std::max<std::uint64_t>((n + block - 1) / block, 1);
      n_identities += n_blocks * block - n;
    }
    Value sum;
    if constexpr (std::is_integral_v<Value>) {
      const auto identities = n_identities * static_cast<std::uint64_t>(f.op.identity());
      sum = lab::wrapping_add(fold_one_thread(f.items, Sum<T>{}), static_cast<Value>(identities));
    } else {
      sum = static_cast<Value>(exact_sum(f.items).value());
      if (n_identities > 0) sum += static_cast<Value>(n_identities) * f.op.identity();
    }
    if (explains(f, sum))
      return fmt::format(
          "this is the sum of the items, and their {} was asked for: combine with op(a, b), not +",
          name_of(f.id()));
  }
  return "";
}

// Reduces blocks of `block` items with reduce_block(items of a block, filled up with identities; index of the
// first one), then their results, until one is left.
template <typename F, typename ReduceBlock>
typename F::Value by_blocks(const F& f, std::size_t block, ReduceBlock reduce_block) {
  using Value = typename F::Value;
  std::vector<Value> values;
  for (const auto item : f.items) values.push_back(static_cast<Value>(item));
  if (values.empty()) values.push_back(f.op.identity());
  std::vector<Value> of_block;
  do {
    std::vector<Value> next;
    for (std::size_t first = 0; first < values.size(); first += block) {
      of_block.assign(block, f.op.identity());
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), std::min(block, values.size() - first),
                  of_block.begin());
      next.push_back(reduce_block(of_block, first));
    }
    values = std::move(next);
  } while (values.size() > 1);
  return f.op.finish(values[0]);
}

// Whether `got` is what blocks of some size, from `least` to `most` items, give with reduce_block, as
// by_blocks calls it. Gives that size, or 0.
template <typename F, typename ReduceBlock>
std::size_t block_that_gives(const F& f, std::size_t least, std::size_t most, ReduceBlock reduce_block) {
  for (std::size_t block = least; has_telling_items(f) && block <= most; block *= 2)
    if (explains(f, by_blocks(f, block, reduce_block))) return block;
  return 0;
}

// Reduces values by the rounds of a tree, down to the stride `last`. round(a, b, stride) combines a value
// with its partner's.
template <typename Value, typename Round>
Value tree(std::vector<Value>& values, std::size_t last, Round round) {
  for (std::size_t stride = values.size() / 2; stride >= last; stride /= 2)
    for (std::size_t i = 0; i < stride; ++i) values[i] = round(values[i], values[i + stride], stride);
  return values[0];
}

// x += op(x, y) or x = op(x, op(x, y)) in every round, with partners first 1 apart or first half a block
// apart.
template <typename F>
std::string one_side_twice(const F& f) {
  using Value = typename F::Value;
  for (std::size_t way = 0; way < 24 && f.c.n <= (1 << 16); ++way) {
    const std::size_t block = std::size_t{32} << way / 4;
    const bool is_near = way % 4 < 2, adds = way % 2 == 0;
    const Value value = by_blocks(f, block, [&](auto& values, std::size_t) {
      for (std::size_t k = 1; k < block; k *= 2) {
        const std::size_t stride = is_near ? k : block / 2 / k, step = is_near ? 2 * k : 1;
        for (std::size_t i = 0; i < (is_near ? block : stride); i += step) {
          const Value own = values[i], result = f.op(own, values[i + stride]);
          values[i] = adds ? Sum<Value>{}(own, result) : f.op(own, result);
        }
      }
      return values[0];
    });
    if ((f.is_sum() ? has_telling_items(f) : value != Value{}) && explains(f, value))
      return "in every round of the tree, the thread's own value is combined twice, as in x += op(x, y): a "
             "round is x = op(x, y)";
  }
  return "";
}

// What is left over at the end of the array, such as fewer items than a vector or a block has, is in the
// share of every thread.
template <typename F>
std::string end_in_every_share(const F& f) {
  using Value = typename F::Value;
  if (!f.has_telling_integers() && !(f.is_sum() && f.c.pattern == Pattern::random)) return "";
  // Of floats, with their tolerance, only few.
  constexpr std::size_t kMost = std::is_integral_v<Value> ? 31 : 3,
                        kThreads = std::is_integral_v<Value> ? 1 << 16 : 1 << 10;
  Value end = f.op.identity();
  for (std::size_t left = 1; left <= std::min<std::size_t>(kMost, f.c.n); ++left) {
    end = f.op(static_cast<Value>(f.items[f.c.n - left]), end);
    const Value rest = fold_one_thread(f.items.first(f.c.n - left), f.op);
    Value of_warp = end;
    for (int k = 0; k < 5; ++k) of_warp = f.op(of_warp, of_warp);
    Value all = of_warp;
    for (std::size_t threads = 32; threads <= kThreads; threads += 32, all = f.op(all, of_warp))
      if ((std::is_integral_v<Value> || std::has_single_bit(threads)) &&
          explains(f, f.op.finish(f.op(rest, all))))
        return fmt::format(
            "the last {} combined {} times, as by every thread: each item must be in the share of one thread",
            left == 1 ? "item was" : fmt::format("{} items were each", left), threads);
  }
  return "";
}

std::string round_left_out(const auto& f) {
  for (std::size_t missing = 1; missing < 1024; missing *= 2) {
    // What is missing is the end of the array: more likely rest_left_out.
    if (missing > 32 && f.c.n <= 2 * missing) continue;
    const auto round = [&](auto a, auto b, std::size_t stride) { return stride == missing ? a : f.op(a, b); };
    const auto reduce_block = [&](auto& values, std::size_t) { return tree(values, 1, round); };
    const auto block = block_that_gives(f, std::max<std::size_t>(64, 2 * missing), 1024, reduce_block);
    const bool is_end = missing == 1 || missing == 32 || 2 * missing == block;
    if (block != 0)
      return fmt::format(
          "the round in which values {} apart are combined is missing{}: of each {} items the second half "
          "was left out",
          missing, is_end ? " (the loop over the strides ends too early, or begins too late)" : "",
          2 * missing);
  }
  return "";
}

// Shuffles that give lane 0 its own value: __shfl_up_sync. Before them, a block's values are reduced to 32.
std::string lane_0_combined_itself(const auto& f) {
  const auto block = block_that_gives(f, 32, 1024, [&](auto& values, std::size_t) {
    auto of_lane = tree(values, 32, [&](auto a, auto b, std::size_t) { return f.op(a, b); });
    for (int k = 0; k < 5; ++k) of_lane = f.op(of_lane, of_lane);
    return of_lane;
  });
  return text_if(
      block != 0,
      "lane 0 has combined its own value with itself five times: it must get the values of the lanes "
      "above it, with __shfl_down_sync and offsets 16, 8, 4, 2 and 1");
}

// The index lacks blockIdx: every block of a launch has the result of the first one.
std::string first_block_repeated(const auto& f) {
  auto of_first = f.op.identity();
  const auto block =
      block_that_gives(f, 32, std::min<std::size_t>(f.c.n - 1, 4096), [&](auto& values, std::size_t first) {
        if (first == 0) of_first = tree(values, 1, [&](auto a, auto b, std::size_t) { return f.op(a, b); });
        return of_first;
      });
  return text_if(
      block != 0,
      "every block reduced the first {} items: the index of a thread's item must contain blockIdx.x", block);
}

// The loop over the array advances by less than the whole grid: every block also reads what the blocks after
// it read. Groups are the items that a block loads at once, in words of 16 bytes or alone.
template <typename F>
std::string stride_of_a_block(const F& f) {
  using Value = typename F::Value;
  if (!has_telling_items(f)) return "";
  const std::size_t n = f.c.n, n_pack = 16 / sizeof(f.items[0]);
  for (const bool packed : {true, false}) {
    const std::size_t head = packed ? f.n_head() : 0;
    const std::size_t tail = packed ? head + (n - head) / n_pack * n_pack : n;
    for (std::size_t block = 64; block <= 1024; block *= 2) {
      const std::size_t group = packed ? block * n_pack : block;
      Value once = f.op.identity();  // of the items that only one thread reads
      for (std::size_t i = 0; i < head; ++i) once = f.op(once, static_cast<Value>(f.items[i]));
      for (std::size_t i = tail; i < n; ++i) once = f.op(once, static_cast<Value>(f.items[i]));
      // With one more block, the items from its first group on are combined once more.
      std::vector<Value> from((tail - head + group - 1) / group, f.op.identity());  // group k: from there on
      for (std::size_t i = tail; i-- > head;) {
        Value& sum = from[(i - head) / group];
        sum = f.op(static_cast<Value>(f.items[i]), sum);
        if ((i - head) % group == 0 && i > head) from[(i - head) / group - 1] = sum;
      }
      Value total = once;
      for (std::size_t blocks = 1; blocks <= from.size(); ++blocks) {
        total = f.op(total, from[blocks - 1]);
        if (blocks > 1 && explains(f, f.op.finish(total)))
          return fmt::format(
              "each of {} blocks has also combined what the blocks after it read: the loop must advance by "
              "all threads of the grid, gridDim.x * blockDim.x, not by those of a block",
              blocks);
      }
    }
  }
  return "";
}

// Whether `got` is the result of the items from `first` to `last` alone.
bool is_of_items(const auto& f, std::size_t first, std::size_t last) {
  if (f.c.n > 1 && !f.has_telling_integers() && !(f.is_sum() && f.c.pattern == Pattern::random)) return false;
  return explains(f, f.op.finish(fold_one_thread(f.items.subspan(first, last - first), f.op)));
}

// A guard such as gid + 1 < n. (Of one item, that leaves the identity.)
std::string last_item_lost(const auto& f) {
  return text_if(f.c.n > 0 && is_of_items(f, 0, f.c.n - 1), "the last item, d_in[{}], was left out",
                 f.c.n - 1);
}

std::string head_left_out(const auto& f) {
  const std::size_t head = f.n_head();
  return text_if(
      head != 0 && is_of_items(f, head, f.c.n),
      "no thread has read the first {}: d_in is not at a multiple of 16 bytes here, and what comes before "
      "the first whole vector must be combined, too",
      head == 1 ? "item" : fmt::format("{} items", head));
}

// `got` is the result of the first items only.
template <typename T, typename Op>
std::string rest_left_out(const Facts<T, Op>& f) {
  if (!f.has_telling_integers() || f.id() != OpId::sum) return "";
  typename Op::Value total = f.op.identity();
  for (std::size_t i = 0; i + 1 < f.items.size(); ++i) {
    total = f.op(total, static_cast<typename Op::Value>(f.items[i]));
    const bool is_tile = (i + 1) % 32 == 0 || i + 2 < f.items.size();  // else last_item_lost says so
    if (total == f.got && is_tile)
      return i == 0 ? "this is the first item alone: no other one was combined with it"
                    : fmt::format("this is the {} of the first {} of the {} items: the rest was left out",
                                  name_of(f.id()), i + 1, f.c.n);
  }
  return "";
}

// `got` lacks items that follow each other, or has them twice: one item, or more of them. (If the last ones
// are missing, rest_left_out says so.)
template <typename T, typename Op>
std::string items_off(const Facts<T, Op>& f) {
  using Value = typename Op::Value;
  if constexpr (std::is_integral_v<Value>) {
    // In a long array only few at once, so that hardly any other items match by chance.
    constexpr std::size_t kMax = 2048, kMaxOfLong = 16384, kFew = 32;
    const std::size_t n = f.items.size();
    if (f.id() != OpId::sum || !f.has_telling_integers() || n < 2 || n > kMaxOfLong) return "";
    using U = std::make_unsigned_t<Value>;
    const U right = static_cast<U>(fold_one_thread(f.items, f.op)), got = static_cast<U>(f.got);
    U up_to = 0;  // the sum of the items before i
    std::map<U, std::size_t> ends_at{{U{0}, 0}};
    const auto from = [&](U sum) {
      const auto found = ends_at.find(sum);
      return found == ends_at.end() ? n : found->second;
    };
    for (std::size_t i = 0; i < n; ++i) {
      up_to += static_cast<U>(static_cast<Value>(f.items[i]));
      for (const bool twice : {false, true}) {
        const std::size_t begin = from(static_cast<U>(up_to - (twice ? got - right : right - got)));
        if (begin > i || (i + 1 == n && !twice)) continue;
        if (begin == 0 && i + 1 == f.n_head() && !twice) continue;  // head_left_out says so
        if (n > kMax && i - begin >= kFew) continue;
        const char* what = twice ? "combined twice" : "left out";
        return begin == i ? fmt::format("d_in[{}] was {}", i, what)
                          : fmt::format("the items from {} to {} were {}", begin, i, what);
      }
      ends_at.try_emplace(up_to, i + 1);
    }
  }
  return "";
}

// The error is about that of a serial sum of the same items, and in the same direction.
template <typename T, typename Op>
std::string one_by_one(const Facts<T, Op>& f) {
  using Value = typename Op::Value;
  if constexpr (std::is_floating_point_v<Value>) {
    if (!f.is_sum()) return "";
    const Value serial = f.op.finish(fold_one_thread(f.items, f.op));
    const auto error = static_cast<long double>(f.got) - f.expected.value;
    const auto serial_error = static_cast<long double>(serial) - f.expected.value;
    if (is_error_of_a_chain(error, serial_error))
      return "the error is as large as that of adding the items one by one in this type: a long sum loses "
             "digits. A tree, or many short sums, loses far fewer";
  }
  return "";
}

template <typename T, typename Op>
constexpr Rule<Facts<T, Op>> kRules[] = {
    {"no_item", no_item<Facts<T, Op>>, false, "this is the identity: no item was combined into the result"},
    {"zero_for_identity", zero_for_identity<Facts<T, Op>>},
    {"finish_forgotten", finish_forgotten<Facts<T, Op>>},
    {"finished_twice", finished_twice<Facts<T, Op>>},
    {"sum_in_32_bits", sum_in_32_bits<T, Op>},
    {"added_instead_of_op", added_instead_of_op<T, Op>},
    {"lane_0_combined_itself", lane_0_combined_itself<Facts<T, Op>>},
    {"one_side_twice", one_side_twice<Facts<T, Op>>},
    {"end_in_every_share", end_in_every_share<Facts<T, Op>>},
    {"round_left_out", round_left_out<Facts<T, Op>>},
    {"first_block_repeated", first_block_repeated<Facts<T, Op>>},
    {"stride_of_a_block", stride_of_a_block<Facts<T, Op>>},
    {"last_item_lost", last_item_lost<Facts<T, Op>>},
    {"head_left_out", head_left_out<Facts<T, Op>>},
    {"items_off", items_off<T, Op>},
    {"rest_left_out", rest_left_out<T, Op>},
    {"one_by_one", one_by_one<T, Op>},
};

}  // namespace course::reduction
