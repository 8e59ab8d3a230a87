// SPDX-License-Identifier: MIT
// The trusted side of the scan lab: its cases, their inputs, and the right answers. Never linked into a
// runner.
// Reading order: CaseList has what is tried and why, fill() makes the items, check() decides what is
// accepted. Each result of a float sum is compared with the exact sum of its prefix. The error bound is that
// of two sweeps over a tree and, if the task adds several items per thread first, of a chunk. Everything else
// must be exact.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/rng.hpp"
#include "lab/compare.hpp"
#include "lab/diagnosis.hpp"
#include "lab/items.hpp"
#include "scan/baseline.hpp"
#include "scan/causes.hpp"
#include "scan/lab.hpp"
#include "scan/points.hpp"

namespace course::scan {
namespace {

using namespace lab;  // NOLINT: this file is written in that library's terms

Rung rung_of(const Task& task) {
  return static_cast<Rung>(lab::index_of(kManifest, task));
}
std::string shape_word(std::uint64_t n, std::uint64_t row_length) {
  return fmt::format("n{}_row{}", n, row_length);
}
bool has_heads(const Task& task) {
  return rung_of(task) == Rung::segmented;
}

// Calls f(op) with the operator of the case.
template <typename F>
decltype(auto) with_op(const Case& c, F f) {
  return scan::with_op(static_cast<OpId>(c.op), c.dtype, f);
}

// --- Items.

// Odd scales: no product of them is ever 0, so the start of a prefix affects all results that follow. Of the
// extremes, some are 0, and others are even, so that they have no inverse. The example has small numbers.
Map map_item(Pattern pattern, std::uint64_t i, Rng& rng) {
  if (pattern == Pattern::example) return {i % 2 == 0 ? 3u : 1u, lab::example_item<std::uint32_t>(i)};
  const auto scale = static_cast<std::uint32_t>(rng()), shift = static_cast<std::uint32_t>(rng());
  return {pattern == Pattern::extremes ? scale << rng.below(32) : scale | 1u, shift};
}

std::uint8_t head_item(Pattern pattern, std::uint64_t i, std::uint64_t n, Rng& rng) {
  switch (pattern) {
    case Pattern::extremes:
    case Pattern::all_equal: return 0;    // no heads
    case Pattern::alternating: return 1;  // every item is a segment
    case Pattern::ascending: return i + 1 == n;
    case Pattern::skewed: return rng.below(1000) == 0;
    case Pattern::example: return i % 8 == 0 || i % 8 == 3 || i % 8 == 6;
    default: return rng.below(16) == 0;
  }
}

// --- The right answers.

// The exact value of every result and its allowed error: the error bound for the items of its own prefix.
template <typename T>
std::vector<Expected> expected_sums(const Case& c, std::span<const HostBuffer> inputs) {
  const auto in = inputs[0].as<T>();
  const auto* heads =
      inputs.size() > 1 ? reinterpret_cast<const std::uint8_t*>(inputs[1].bytes.data()) : nullptr;
  std::vector<Expected> all(c.n);
  rows_one_thread(c.n, row_length_of(c), [&](std::size_t first, std::size_t length) {
    ExactSum sum;
    for (std::size_t i = first; i < first + length; ++i) {
      if (heads != nullptr && heads[i] != 0) sum = {};
      if (kind_of(c) == Kind::exclusive) all[i] = sum.expected(c.dtype);
      sum.add(static_cast<long double>(in[i]));
      if (kind_of(c) == Kind::inclusive) all[i] = sum.expected(c.dtype);
    }
  });
  return all;
}

// The sweeps compute the exclusive scan directly, the networks the inclusive one.
Kind natural_kind(Rung rung) {
  return is_blelloch(rung) ? Kind::exclusive : Kind::inclusive;
}

constexpr Kind kKinds[] = {Kind::exclusive, Kind::inclusive};

class CaseList {
 public:
  explicit CaseList(Rung rung) : rung_(rung) {
    add_sizes_of_one_row();
    add_many_rows();
    add_items_and_operators();
    if (max_row_length(rung) == kAnyRow) add_long_rows();
    add_measured();
  }

  std::vector<Case> all;

 private:
  void add(Kind kind, OpId op, DType dtype, std::uint64_t n, std::uint64_t row_length,
           Pattern pattern = Pattern::random, std::uint32_t purpose = kCorrectness,
           std::uint32_t misalign = 0) {
    const auto variant = fmt::format("{}_{}_{}", name_of(kind), name_of(op), lab::name_of(dtype));
    Case c = make_case({variant, shape_word(n, row_length)}, op, dtype, n, pattern, purpose, misalign);
    c.params[kRowLengthParam] = static_cast<std::int64_t>(row_length);
    c.params[kKindParam] = static_cast<std::int64_t>(kind);
    for (const Case& other : all) {
      if (other.name == c.name) return;  // for short longest rows, two of the calls below make the same case
    }
    all.push_back(std::move(c));
  }

  void add_sizes_of_one_row() {
    // One row: 0 and 1 items, sizes around powers of two and warps, up to the longest row; and rows that are
    // longer than the array.
    for (const std::uint64_t n :
         {0u, 1u, 2u, 3u, 7u, 8u, 9u, 31u, 32u, 33u, 255u, 256u, 257u, 1000u, 1024u, 2048u}) {
      if (n <= longest_) add(kKinds[n % 2], OpId::sum, DType::i32, n, std::max<std::uint64_t>(n, 1));
    }
    for (const Kind kind : kKinds) {
      add(kind, OpId::sum, DType::i32, longest_, longest_);
      add(kind, OpId::sum, DType::i32, longest_ - 1, longest_ - 1);
      add(kind, OpId::sum, DType::i32, longest_ / 2 + 1, longest_ / 2 + 1);
      add(kind, OpId::sum, DType::i32, longest_ / 3, longest_);
      add(kind, OpId::sum, DType::i32, 1, longest_);
    }
    add(Kind::exclusive, OpId::sum, DType::i32, 0, longest_);
  }

  void add_many_rows() {
    // Many rows; the last one is full, or has one or some of its items. All checkers are on: several warps
    // and rows, and a row that does not fill its warps.
    for (const Kind kind : kKinds) {
      add(kind, OpId::sum, DType::i32, 2 * longest_ + longest_ / 3, longest_, Pattern::random, kBoth);
      add(kind, OpId::affine, DType::u64, 2 * longest_ + 1, longest_, Pattern::random, kBoth);
    }
    add(Kind::inclusive, OpId::sum, DType::i32, 3 * (longest_ - 2) + 5, longest_ - 2, Pattern::random, kBoth);
    add(Kind::exclusive, OpId::sum, DType::i32, 100, 8, Pattern::random, kBoth);
    add(Kind::inclusive, OpId::sum, DType::i32, 5, 1, Pattern::random, kBoth);
    for (const std::uint64_t row_length : {1u, 2u, 3u, 7u, 8u, 20u, 32u, 33u, 100u, 257u, 1000u}) {
      if (row_length > longest_) continue;
      add(kKinds[row_length / 2 % 2], OpId::sum, DType::i32, 5003, row_length);
      add(kKinds[row_length / 2 % 2], OpId::affine, DType::u64, 4001, row_length);
    }
    // More rows than a 16-bit number can count.
    add(Kind::inclusive, OpId::sum, DType::i32, 132007, 2);
    // Arrays and rows that do not start at a multiple of 16 bytes.
    add(Kind::inclusive, OpId::sum, DType::i32, 20003, longest_, Pattern::random, kCorrectness, 4);
    add(Kind::exclusive, OpId::sum, DType::i32, 20003, longest_ - 3, Pattern::random, kCorrectness, 12);
    add(Kind::inclusive, OpId::affine, DType::u64, 9001, longest_, Pattern::random, kCorrectness, 8);
    add(Kind::exclusive, OpId::sum, DType::i64, 9001, longest_, Pattern::random, kCorrectness, 8);
    add(Kind::inclusive, OpId::sum, DType::f32, 9001, longest_, Pattern::random, kCorrectness, 4);
    add(Kind::exclusive, OpId::sum, DType::f64, 9001, longest_, Pattern::random, kCorrectness, 8);
  }

  void add_items_and_operators() {
    // Other patterns of int32 items, and the other operators and types. The item that determines the result
    // is anywhere, all items have the same sign, and none is 0, so a wrong identity changes the result.
    for (const Pattern pattern :
         {Pattern::high_bits, Pattern::alternating, Pattern::all_equal, Pattern::skewed})
      add(kKinds[static_cast<int>(pattern) % 2], OpId::sum, DType::i32, 9000, longest_, pattern);
    for (const Kind kind : kKinds) {
      add(kind, OpId::sum, DType::i64, 9001, longest_);
      add(kind, OpId::sum, DType::f32, 20003, longest_);
      add(kind, OpId::sum, DType::f32, 9000, longest_, Pattern::alternating);
      add(kind, OpId::sum, DType::f64, 9001, longest_);
      add(kind, OpId::affine, DType::u64, 20003, longest_);
      add(kind, OpId::affine, DType::u64, 9000, longest_, Pattern::skewed);
      add(kind, OpId::affine, DType::u64, 30011, longest_, Pattern::extremes);
      add(kind, OpId::sum, DType::f32, 3001, longest_, Pattern::skewed);
      for (const DType dtype : {DType::i32, DType::f32}) {
        for (const OpId op : {OpId::min, OpId::max}) {
          add(kind, op, dtype, 9001, longest_);
          add(kind, op, dtype, 3001, longest_, Pattern::all_equal);
          add(kind, op, dtype, 3001, longest_, Pattern::ascending);
          add(kind, op, dtype, longest_, longest_, Pattern::extremes);  // one row: its first item is no NaN
        }
      }
    }
    add(Kind::inclusive, OpId::sum, DType::f32, 9000, longest_, Pattern::all_equal);
    for (const DType dtype : {DType::f32, DType::f64})
      for (const std::uint64_t n : {3001u, 5000u})
        add(Kind::inclusive, OpId::sum, dtype, n, longest_, Pattern::high_bits);
    add(Kind::exclusive, OpId::sum, DType::i64, 0, longest_);
    add(Kind::inclusive, OpId::sum, DType::i64, 20, 20);
    add(Kind::exclusive, OpId::sum, DType::f64, 100, std::min<std::uint64_t>(100, longest_));
    add(Kind::exclusive, OpId::affine, DType::u64, 0, longest_);
  }

  // For rungs that are not limited to one block: rows that need many blocks, and the largest row length.
  void add_long_rows() {
    add(Kind::inclusive, OpId::sum, DType::i32, is_network_ ? 300007 : 30007, is_network_ ? 300007 : 30007);
    add(Kind::exclusive, OpId::affine, DType::u64, 30007, is_network_ ? 65536 : 16384);
    add(Kind::exclusive, OpId::sum, DType::i32, 10, kAnyRow);
  }

  // The measured cases: with 2^18 items, counting work and steps is quick; 2^22 items fill the device. Both
  // are also correctness cases, with another seed, so an answer that was stored in one is wrong in the other.
  void add_measured() {
    const Kind natural = natural_kind(rung_);
    const std::uint64_t measured = std::bit_floor(std::min<std::uint64_t>(max_row_length(rung_), 1024u * 4));
    const std::uint64_t row =
        rung_ == Rung::brute_force || rung_ == Rung::global_rounds ? kThreadRow : measured;
    add(natural, OpId::sum, DType::i32, 1 << 18, row, Pattern::random, kCounted);
    if (is_network_) add(natural, OpId::sum, DType::i32, 1 << 22, row, Pattern::random, kTimed);
  }

  Rung rung_;
  // The longest row; for rungs without a limit, a row that needs several blocks.
  std::uint64_t longest_ = std::min<std::uint64_t>(max_row_length(rung_), 5000);
  bool is_network_ = rung_ != Rung::brute_force;  // brute force takes quadratic time for long rows
};

class ScanProblem : public Problem {
 public:
  const Manifest& manifest() const override { return kManifest; }

  std::string print(const Case& c, DType dtype, const std::byte* element) const override {
    const bool is_map = static_cast<OpId>(c.op) == OpId::affine && dtype == DType::u64;
    return is_map ? print_map(element) : Problem::print(c, dtype, element);
  }

  std::vector<Case> cases(const Task& task) const override { return CaseList(rung_of(task)).all; }

  Shape shape(const Task& task, const Case& c) const override {
    Shape shape{{{"d_in", c.dtype, c.n}}, {{"d_out", c.dtype, c.n}}, workspace_of(c.n, c.dtype)};
    if (has_heads(task)) shape.inputs.push_back({"d_heads", DType::u8, c.n});
    return shape;
  }

  void fill(const Task&, const Case& c, std::uint64_t seed, std::span<HostBuffer> inputs) const override {
    with_op(c, [&]<typename Op>(Op) {
      using Value = typename Op::Value;
      const auto items = inputs[0].as<Value>();
      if constexpr (kIsMap<Value>) {
        Rng rng(seed);
        std::uint64_t i = 0;
        for (Value& item : items) item = map_item(c.pattern, i++, rng);
      } else {
        lab::fill_items(items, c.pattern, seed);
        // Of max -infinity: a finite number in place of the identity is larger.
        if (c.pattern == Pattern::all_equal && static_cast<OpId>(c.op) != OpId::sum)
          std::ranges::fill(items, Op{}.identity());
      }
    });
    if (inputs.size() > 1) {
      Rng rng(seed_for(seed, "heads"));
      std::uint64_t i = 0;
      for (std::uint8_t& head : inputs[1].as<std::uint8_t>()) head = head_item(c.pattern, i++, c.n, rng);
    }
  }

  std::optional<Mismatch> check(const Task& task, const Case& c, std::span<const HostBuffer> inputs,
                                std::span<const HostBuffer> outputs) const override {
    return with_op(c, [&]<typename Op>(Op op) -> std::optional<Mismatch> {
      using Value = typename Op::Value;
      const auto& out = outputs[0];
      const auto got = out.as<Value>();
      std::optional<Mismatch> mismatch;
      if constexpr (std::is_same_v<Op, Sum<float>> || std::is_same_v<Op, Sum<double>>) {
        mismatch = compare_floats(out.spec, expected_sums<Value>(c, inputs), out.bytes);
      } else if constexpr (std::is_floating_point_v<Value>) {
        std::vector<Value> right(c.n);
        scan_all(c, inputs, op, Baseline::one_thread, right.data());
        std::vector<Expected> expected;
        for (const Value value : right) expected.push_back({static_cast<long double>(value), 0});
        mismatch = compare_floats(out.spec, expected, out.bytes);
      } else {
        std::vector<Value> right(c.n);
        scan_all(c, inputs, op, Baseline::one_thread, right.data());
        constexpr auto compare = kIsMap<Value> ? lab::compare_maps : lab::compare_integers;
        mismatch = compare(out.spec, std::as_bytes(std::span(right)), out.bytes);
      }
      if (mismatch) {
        Facts<Op> facts{c, inputs, op, got, *mismatch, rung_of(task)};
        facts.right = facts.scanned(c, inputs, op);
        if (facts.row_length() > 1)
          mismatch->position = fmt::format("position {} of row {}, rows of {}", facts.position(), facts.row(),
                                           facts.row_length());
        diagnose<Facts<Op>>(*mismatch, kRules<Op>, facts);
      }
      return mismatch;
    });
  }

  void baseline(const Task&, const Case& c, std::span<const HostBuffer> inputs, std::span<HostBuffer> outputs,
                Baseline which) const override {
    with_op(c, [&]<typename Op>(Op op) {
      const auto out = outputs[0].as<typename Op::Value>().data();
      // A float sum is computed in double, as a CPU program would do it.
      if constexpr (std::is_same_v<Op, Sum<float>>) {
        scan_all(c, inputs, Sum<double>{}, which, out);
      } else {
        scan_all(c, inputs, op, which, out);
      }
    });
  }

  // A row of length items: length - 1 operations, as many as the loop's; ⌈log2 length⌉ steps, the fewest
  // possible; every item is read once and every result is written once.
  Ideal ideal(const Task& task, const Case& c) const override {
    const auto n = static_cast<double>(c.n), row_length = static_cast<double>(row_length_of(c));
    const double n_rows = std::ceil(n / row_length), longest = std::min(n, row_length);
    const double bytes = n * (2 * static_cast<double>(bytes_of(c.dtype)) + (has_heads(task) ? 1 : 0));
    return {.items = n,
            .units = n_rows,
            .work = std::max(n - n_rows, 0.0),
            .steps = longest > 1 ? std::ceil(std::log2(longest)) : 0,
            .bytes = bytes};
  }

  // One row of n items, or several if n exceeds the task's limit; the kind that the task's network computes
  // directly.
  Case example(const Task& task, std::uint64_t n) const override {
    const Rung rung = rung_of(task);
    Case c = make_case({"sum_i32"}, OpId::sum, DType::i32, n, Pattern::example);
    c.params[kRowLengthParam] =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(n, 1, max_row_length(rung)));
    c.params[kKindParam] = static_cast<std::int64_t>(natural_kind(rung));
    return c;
  }

  // One row stays one row; of several rows, two.
  std::optional<Case> with_items(const Task& task, const Case& like, std::uint64_t n,
                                 Pattern pattern) const override {
    const std::uint64_t old_row = row_length_of(like);
    const std::uint64_t row =
        std::clamp<std::uint64_t>(old_row >= like.n ? n : (n + 1) / 2, 1, max_row_length(rung_of(task)));
    std::optional<Case> c = Problem::with_items(task, like, n, pattern);
    c->params[kRowLengthParam] = static_cast<std::int64_t>(row);
    c->words.shape = shape_word(n, row);
    return with_name(*c);
  }
};

}  // namespace

const Problem& problem() {
  static const ScanProblem kProblem;
  return kProblem;
}

}  // namespace course::scan
