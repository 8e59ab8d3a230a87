// SPDX-License-Identifier: MIT
// Which products are contracted: short sequences and what ptxas 13.0 makes of them.
#include "sim/decode/contract.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ptx/parser/parser.hpp"

namespace course::sim {
namespace {

// A kernel with values %a to %e, a predicate %p, and %x, %y, %z for results.
std::string kernel_of(const std::string& body, const std::string& options = "") {
  return ".version 9.0\n.target sm_90" + options +
         "\n.address_size 64\n.visible .entry k(.param .u64 i) {\n"
         "  .reg .f32 %a, %b, %c, %d, %e, %m, %n, %x, %y, %z;\n  .reg .pred %p;\n  .reg .b64 %i;\n  .reg "
         ".b32 %t;\n"
         "  ld.param.u64 %i, [i];\n  ld.global.v4.f32 {%a, %b, %c, %d}, [%i];\n  ld.global.f32 %e, [%i+16];\n"
         "  setp.gt.f32 %p, %a, %b;\n" +
         body + "\n  ret;\n}\n";
}

// For each sum, in order: "1" or "2" for the operand that a product replaces, "-" if there is none; then the
// number of products that remain.
std::string outcome(const std::string& body, const std::string& options = "") {
  const auto module = ptx::parse(kernel_of(body, options));
  EXPECT_TRUE(module) << body;
  const ptx::Function& f = *module->find_function("k");
  const Contractions all = contractions_of(*module, f);
  std::string text;
  int remaining = 0;
  for (std::size_t k = 0; k < f.instructions.size(); ++k) {
    const auto& opcode = f.instructions[k].opcode;
    if (opcode == "add" || opcode == "sub")
      text += all.into[k].product < 0 ? "-" : std::to_string(all.into[k].operand);
    if (opcode == "mul" && !all.vanishes[k]) ++remaining;
  }
  return text + " " + std::to_string(remaining);
}

const std::string kStoreX = "st.global.f32 [%i], %x;";
const std::string kStoreXy = kStoreX + "st.global.f32 [%i], %y;";

TEST(Contraction, OneRoundingForEachPlainProductAndSum) {
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; add.f32 %x, %m, %c;" + kStoreX), "1 0");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; sub.f32 %x, %c, %m;" + kStoreX), "2 0");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; neg.f32 %n, %m; add.f32 %x, %n, %c;" + kStoreX), "1 0");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; mov.b32 %n, %m; add.sat.f32 %x, %n, %c;" + kStoreX), "1 0");
}

TEST(Contraction, RoundingModifiersPreventIt) {
  EXPECT_EQ(outcome("mul.rn.f32 %m, %a, %b; add.f32 %x, %m, %c;" + kStoreX), "- 1");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; add.rn.f32 %x, %m, %c;" + kStoreX), "- 1");
  EXPECT_EQ(outcome("mul.sat.f32 %m, %a, %b; add.f32 %x, %m, %c;" + kStoreX), "- 1");
  EXPECT_EQ(outcome("mul.ftz.f32 %m, %a, %b; add.f32 %x, %m, %c;" + kStoreX), "- 1");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; abs.f32 %n, %m; add.f32 %x, %n, %c;" + kStoreX), "- 1");
}

TEST(Contraction, NothingIsContractedForDebugging) {
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; add.f32 %x, %m, %c;" + kStoreX, ", debug"), "- 1");
}

TEST(Contraction, FirstOfTwoProductsIsTaken) {
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; mul.f32 %n, %c, %d; sub.f32 %x, %m, %n;" + kStoreX), "1 1");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; mul.f32 %n, %c, %d; sub.f32 %x, %n, %m;" + kStoreX), "1 1");
}

TEST(Contraction, FactorsOfOneAreNoProducts) {
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; mul.f32 %n, %m, 0fBF800000; add.f32 %x, %n, %c;" + kStoreX), "1 1");
  EXPECT_EQ(outcome("mul.f32 %m, %a, 0f3F800000; mul.f32 %n, %c, %d; add.f32 %x, %m, %n;" + kStoreX), "2 1");
  EXPECT_EQ(outcome("mul.f32 %m, %a, 0f40000000; mul.f32 %n, %c, %d; add.f32 %x, %m, %n;" + kStoreX), "1 1");
}

TEST(Contraction, AllUsesMustBeSums) {
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; add.f32 %x, %m, %c; sub.f32 %y, %d, %m;" + kStoreXy), "12 0");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; add.f32 %x, %m, %c; mul.f32 %y, %m, %d;" + kStoreXy), "- 2");
  EXPECT_EQ(outcome("mul.f32 %x, %a, %b; add.f32 %y, %x, %c;" + kStoreXy), "- 1");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; add.f32 %x, %m, %m;" + kStoreX), "- 1");
}

TEST(Contraction, ProductsWithOneUseComeFirst) {
  const std::string products = "mul.f32 %m, %a, %b; mul.f32 %n, %c, %d;";
  EXPECT_EQ(outcome(products + "add.f32 %x, %m, %n; add.f32 %y, %m, %e;" + kStoreXy), "2- 1");
  EXPECT_EQ(outcome(products + "add.f32 %y, %m, %e; add.f32 %x, %m, %n;" + kStoreXy), "-2 1");
}

TEST(Contraction, ProductMayBeContractedAndRemain) {
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; mul.f32 %n, %c, %d; sub.f32 %x, %e, %m; sub.f32 %y, %n, %m;"
                    "sub.f32 %z, %y, %n; st.global.f32 [%i], %z;" +
                    kStoreX),
            "212 1");
}

TEST(Contraction, BranchesSeparateProductAndSum) {
  const std::string product = "mul.f32 %m, %a, %b;", sum = "add.f32 %x, %m, %c;" + kStoreX;
  EXPECT_EQ(outcome(product + "@%p bra L; st.global.f32 [%i], %a; L: " + sum), "- 1");
  EXPECT_EQ(outcome(product + "L: " + sum), "1 0");
  EXPECT_EQ(outcome(product + "bar.sync 0;" + sum), "1 0");
  EXPECT_EQ(outcome(product + "membar.gl;" + sum), "- 1");
  EXPECT_EQ(outcome(product + "div.rn.f32 %y, %a, %b;" + sum), "- 1");
  EXPECT_EQ(outcome(product + "div.full.f32 %y, %a, %b;" + sum), "1 0");
  EXPECT_EQ(outcome(product + "@%p st.global.f32 [%i], %a;" + sum), "- 1");
}

TEST(Contraction, GuardedSumsTakeUnguardedProducts) {
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; mov.f32 %x, %d; @%p add.f32 %x, %m, %c;" + kStoreX), "1 0");
  EXPECT_EQ(outcome("mov.f32 %m, %d; @%p mul.f32 %m, %a, %b; add.f32 %x, %m, %c;" + kStoreX), "- 1");
  EXPECT_EQ(outcome("mul.f32 %m, %a, %b; @%p add.f32 %m, %m, %c; mov.f32 %x, %m;" + kStoreX), "- 1");
}

TEST(Contraction, RegistersMayBeWrittenAgain) {
  EXPECT_EQ(
      outcome("mul.f32 %x, %a, %b; add.f32 %x, %x, %c; mul.f32 %x, %x, %d; add.f32 %x, %x, %e;" + kStoreX),
      "11 0");
  EXPECT_EQ(
      outcome(
          "mul.f32 %m, %a, %b; add.f32 %x, %m, %c; mul.f32 %m, %c, %d; add.f32 %y, %m, %e; mov.f32 %m, %e;" +
          kStoreXy),
      "11 0");
}

TEST(Contraction, ProductsForTheNextIterationRemain) {
  EXPECT_EQ(
      outcome(
          "mov.f32 %x, %c; L: add.f32 %m, %x, %a; mul.f32 %x, %m, %b; setp.gt.f32 %p, %x, %d; @%p bra L;" +
          kStoreX),
      "- 1");
}

}  // namespace
}  // namespace course::sim
