// SPDX-License-Identifier: MIT
// Tests that every row of the op table does what the PTX ISA says. Each arithmetic instruction is run on edge
// cases and random operands, with all lanes and with some, and compared bit by bit with an independent
// computation (operation.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ptx/parser/parser.hpp"
#include "sim/conformance/operation.hpp"
#include "sim/conformance/scenario.hpp"
#include "sim/decode/decode.hpp"
#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

constexpr std::size_t kTuples = 1500;  // not a multiple of 32: the last warp is partial
constexpr std::uint32_t kThreads = 250;

bool uses_row(const std::string& ptx, const OpRow& row) {
  const auto module = ptx::parse(ptx);
  if (!module) return false;
  ModuleImage image;
  image.module = &*module;
  const auto program = decode(image, module->functions[0], *engine().table);
  if (!program) return false;
  return std::any_of(program->ops.begin(), program->ops.end(),
                     [&](const MicroOp& op) { return op.fn == row.fn; });
}

// Runs one operation and reports the first few errors.
void check(const Operation& o, TestDevice& device_with_module, const std::string& kernel) {
  const auto operands = operands_for(o, kTuples);
  const std::size_t k = o.sources.size();
  TestDevice& t = device_with_module;
  auto in = t.array<Bits>(operands);
  auto out = t.array<Bits>(3 * kTuples, 0);
  t.launch(kernel, static_cast<std::uint32_t>(kTuples / kThreads), kThreads, in, out);
  int n_reported = 0;
  for (std::size_t i = 0; i < kTuples && n_reported < 3; ++i) {
    const Operands x = &operands[i * k];
    const Outcome want = expected_outcome(o, x, i % 2 == 1);
    for (const bool guarded : {false, true}) {
      const Bits got = out[3 * i + (guarded ? 1 : 0)], wanted = guarded ? want.guarded : want.plain;
      const bool ran = !guarded || i % 2 == 1;
      if (got == wanted || (ran && o.accepts && o.accepts(x, got))) continue;
      std::string text;
      for (std::size_t s = 0; s < k; ++s) text += fmt::format(" {:#x}", x[s]);
      ADD_FAILURE() << o.ptx << (guarded ? " under a guard" : "") << " of" << text << ": got "
                    << fmt::format("{:#x}", got) << ", expected " << fmt::format("{:#x}", wanted);
      ++n_reported;
    }
  }
  static_cast<void>(t.device.release(in.address));
  static_cast<void>(t.device.release(out.address));
}

void check_family(const std::vector<Operation>& family) {
  // Several kernels per module, because loading a module takes longer than running a kernel.
  constexpr std::size_t kBatch = 40;
  for (std::size_t first = 0; first < family.size(); first += kBatch) {
    const std::size_t last = std::min(first + kBatch, family.size());
    std::string text;
    for (std::size_t k = first; k < last; ++k) text += kernel_for(family[k], fmt::format("op{}", k));
    TestDevice device(text);
    for (std::size_t k = first; k < last; ++k) check(family[k], device, fmt::format("op{}", k));
  }
}
void check_scenarios(const std::vector<Scenario>& all) {
  for (const Scenario& s : all) {
    TestDevice t(s.ptx);
    auto in = t.array<Bits>(s.in, s.in_kind);
    auto out = t.array<Bits>(s.out.size(), 0);
    const auto result = t.try_launch("k", s.blocks, s.threads, in, out);
    if (result.fault != Fault::none) {
      ADD_FAILURE() << s.name << ": " << result.text;
      continue;
    }
    const std::size_t a_thread = s.out.size() / s.threads;
    int n_reported = 0;
    for (std::size_t k = 0; k < s.out.size() && n_reported < 3; ++k) {
      if (out[k] == s.out[k]) continue;
      ++n_reported;
      ADD_FAILURE() << s.name << ": word " << k % std::max<std::size_t>(a_thread, 1) << " of thread "
                    << k / std::max<std::size_t>(a_thread, 1) << ": got " << fmt::format("{:#x}", out[k])
                    << ", expected " << fmt::format("{:#x}", s.out[k]);
    }
  }
}

// A family of instructions or of scenarios.
struct Family {
  const char* name;
  void (*check)();
};
class Conform : public testing::TestWithParam<Family> {};
TEST_P(Conform, AsTheIsaSays) {
  GetParam().check();
}
INSTANTIATE_TEST_SUITE_P(
    Families, Conform,
    testing::Values(Family{"Integers", [] { check_family(integer_operations()); }},
                    Family{"Bits", [] { check_family(bit_operations()); }},
                    Family{"Floats", [] { check_family(float_operations()); }},
                    Family{"Halves", [] { check_family(half_operations()); }},
                    Family{"Comparisons", [] { check_family(compare_operations()); }},
                    Family{"Moves", [] { check_family(move_operations()); }},
                    Family{"Conversions", [] { check_family(convert_operations()); }},
                    Family{"LoadsAndStores", [] { check_scenarios(memory_scenarios()); }},
                    Family{"Atomics", [] { check_scenarios(atomic_scenarios()); }},
                    Family{"WarpInstructions", [] { check_scenarios(warp_scenarios()); }},
                    Family{"Carries", [] { check_scenarios(carry_scenarios()); }},
                    Family{"Forms", [] { check_scenarios(form_scenarios()); }},
                    Family{"AsynchronousCopiesAndMbarriers", [] { check_scenarios(async_scenarios()); }},
                    Family{"Matrices", [] { check_scenarios(mma_scenarios()); }},
                    Family{"WmmaMatrices", [] { check_scenarios(wmma_scenarios()); }},
                    Family{"LdmatrixAndStmatrix", [] { check_scenarios(ldmatrix_scenarios()); }},
                    Family{"Textures", [] { check_scenarios(texture_scenarios()); }},
                    Family{"Clusters", [] { check_scenarios(cluster_scenarios()); }}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Conformance, EveryScenarioRunsItsRows) {
  for (const Scenario& s : all_scenarios()) {
    const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + s.ptx;
    for (const std::string& key : s.rows) {
      const OpRow* row = engine().table->find(key);
      if (row == nullptr)
        ADD_FAILURE() << s.name << ": no row " << key;
      else
        EXPECT_TRUE(uses_row(text, *row)) << s.name << " does not run the row " << key;
    }
  }
}

TEST(Conformance, EveryOperationRunsItsRow) {
  for (const Operation& o : all_operations()) {
    const OpRow* row = engine().table->find(o.row);
    if (row == nullptr) {
      ADD_FAILURE() << "no row " << o.row;
      continue;
    }
    const std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + kernel_for(o, "op");
    EXPECT_TRUE(uses_row(text, *row)) << o.ptx << " does not run the row " << o.row;
  }
}

TEST(Conformance, KnownDeviationsAreRealAndRare) {
  for (const Operation& o : all_operations()) {
    if (!o.on_sm90) continue;
    const auto operands = operands_for(o, kTuples);
    std::size_t n = 0;
    for (std::size_t i = 0; i < kTuples; ++i) {
      const Operands x = &operands[i * o.sources.size()];
      if (o.on_sm90(x) != o.expected(x)) ++n;
    }
    EXPECT_GT(n, 0u) << o.ptx << " has no operands that sm_90 treats otherwise";
    EXPECT_LT(n, kTuples) << o.ptx;
  }
}

TEST(Conformance, EveryOpTableRowHasATest) {
  std::set<std::string> tested;
  for (const Operation& o : all_operations()) tested.insert(o.row);
  for (const Scenario& s : all_scenarios()) tested.insert(s.rows.begin(), s.rows.end());
  std::set<std::string> missing;
  for (const auto& [key, row] : engine().table->rows())
    if (!tested.contains(key)) missing.insert(key);
  const std::size_t n = engine().table->rows().size();
  fmt::print("op table: {} rows, {} tested\n", n, n - missing.size());
  for (const auto& key : missing) ADD_FAILURE() << "the row " << key << " has no test";
}

}  // namespace
}  // namespace course::sim
