// SPDX-License-Identifier: MIT
// Values that an H100 computed with its approximate instructions.

#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

struct Measured {
  const char* instruction;
  std::uint32_t operand, result;
};
constexpr Measured kMeasured[] = {
    {"rcp.approx.ftz.f32", 0x42ffffff, 0x3c000001},   {"rcp.approx.ftz.f32", 0x7e800001, 0x00000000},
    {"rcp.approx.f32", 0x7e800001, 0x007fffff},       {"rcp.approx.f32", 0x007fffff, 0x7e800001},
    {"rsqrt.approx.ftz.f32", 0x7effffff, 0x1fb504f4}, {"rsqrt.approx.f32", 0x00000001, 0x64b504f2},
    {"sqrt.approx.ftz.f32", 0x7f000001, 0x5f3504f4},  {"sqrt.approx.f32", 0x007fffff, 0x1fffffff},
    {"ex2.approx.ftz.f32", 0x42ffffff, 0x7f7fffa8},   {"ex2.approx.ftz.f32", 0xc2fbffff, 0x0080002c},
    {"ex2.approx.f32", 0xc2fe0000, 0x003fffff},       {"ex2.approx.f32", 0xc2fc0001, 0x007fffd3},
    {"lg2.approx.ftz.f32", 0x00800000, 0xc2fbffff},   {"lg2.approx.f32", 0x007fffff, 0xc2fc0000},
    {"lg2.approx.f32", 0x3f800000, 0x00000000},       {"lg2.approx.f32", 0x00c0090b, 0xc2fad45c},
    {"lg2.approx.f32", 0x3f7ffa74, 0xb8fff21a},       {"lg2.approx.f32", 0x3f7ffa7d, 0xb8fe5184},

    {"sin.approx.f32", 0x3f800000, 0x3f576aa3},       {"sin.approx.f32", 0x4b000001, 0x80000000},
    {"sin.approx.f32", 0xc3160000, 0x3f3702b2},       {"cos.approx.f32", 0x3f800000, 0x3f0a5141},
    {"cos.approx.f32", 0x4b800000, 0x00000000},       {"cos.approx.f32", 0x7f800000, 0x7fffffff},
};

TEST(Interpolator, ComputesWhatAnH100Computes) {
  for (const Measured& m : kMeasured) {
    TestDevice t(std::string(".visible .entry k(.param .u64 p) { .reg .b64 %p; .reg .f32 %x;\n"
                             "ld.param.u64 %p, [p]; ld.global.f32 %x, [%p];\n") +
                 m.instruction + " %x, %x; st.global.f32 [%p], %x; ret; }");
    auto data = t.array<std::uint32_t>(1, m.operand);
    t.launch("k", 1, 1, data);
    EXPECT_EQ(data[0], m.result) << m.instruction << " of " << std::hex << m.operand;
  }
}

}  // namespace
}  // namespace course::sim
