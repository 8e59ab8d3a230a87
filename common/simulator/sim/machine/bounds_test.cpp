// SPDX-License-Identifier: MIT
// Kernels whose addresses, sizes, operands or shapes do not fit: each must end with a fault or be refused.
// The build with AddressSanitizer checks that nothing outside is accessed meanwhile.

#include "sim/memory/memory.hpp"
#include "sim/memory/texture.hpp"
#include "sim/testing/test_device.hpp"

namespace course::sim {
namespace {

// A kernel `k` with the parameters `out`, an address, and `n`, a 32-bit number.
std::string kernel(const std::string& body, const std::string& before = "") {
  return before + R"(
  .extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<4>; ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [n]; mov.u32 %r1, dynamic;
)" + body +
         "  ret;\n}\n";
}

struct Bench {
  explicit Bench(const std::string& ptx, std::uint32_t mode = kCounters) : test(ptx) {
    test.device.set_mode(mode);
    out = test.array<std::uint32_t>(64, 7u);
  }
  LaunchResult operator()(std::uint32_t n = 0, std::uint64_t shared = 24, std::uint32_t threads = 1) {
    return test.try_launch("k", {{1, 1, 1}, {threads, 1, 1}, shared}, out, n);
  }
  const Finding& finding() const { return test.device.findings().at(0); }

  TestDevice test;
  DeviceArray<std::uint32_t> out;
};

void expect_refused(const std::string& ptx, const std::string& why) {
  const LaunchResult result = Bench(ptx)();
  EXPECT_NE(result.fault, Fault::none) << ptx;
  EXPECT_NE(result.text.find(why), std::string::npos) << result.text;
}

// --- copies ------------------------------------------------------------------------------------------------

TEST(MemorySafety, CopiesAndTheirBarriersStayInTheBlock) {
  const auto bulk = [](const std::string& to, const std::string& barrier) {
    return kernel("  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to +
                  "], [%rd0], 16, [" + barrier + "];\n");
  };
  for (const char* beyond : {"%r1+32", "%r1+16777216", "%r1+4294967280"}) {
    EXPECT_EQ(Bench(bulk(beyond, "%r1"))(0, 32).fault, Fault::illegal_address) << beyond;
    EXPECT_EQ(Bench(bulk("%r1", beyond))(0, 32).fault, Fault::illegal_address) << beyond;
  }
}

TEST(MemorySafety, PartialCopiesMustBeAligned) {
  Bench run(kernel("  cp.async.ca.shared.global [%r1], [%rd0+3], 4, 3;\n  cp.async.wait_all;\n"), kAllChecks);
  EXPECT_EQ(run().fault, Fault::misaligned_address);
}

TEST(MemorySafety, CopyFaultsIfItsMemoryWasFreed) {
  Bench run(
      kernel("  mov.u64 %rd1, 64;\n"
             "  { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd1; call (b), malloc, (a);\n"
             "    ld.param.b64 %rd2, [b]; }\n"
             "  st.u32 [%rd2], %r0;\n  cvta.to.global.u64 %rd3, %rd2;\n"
             "  cp.async.ca.shared.global [%r1], [%rd3], 4;\n"
             "  { .param .b64 a; st.param.b64 [a], %rd2; call free, (a); }\n  cp.async.wait_all;\n",
             ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"));
  const LaunchResult result = run();
  EXPECT_EQ(result.fault, Fault::illegal_address);
  EXPECT_NE(result.text.find("has been freed"), std::string::npos) << result.text;
}

TEST(MemorySafety, MisalignedAccessesNameTheirByte) {
  for (const auto& [access, where] : {std::pair{"st.shared.v2.u32 [%r1+4], {%r0, %r0};", "dynamic[1]"},
                                      {"cp.async.ca.shared.global [%r1+4], [%rd0], 8;", "dynamic at byte 4"},
                                      {"cp.async.ca.shared.global [%r1], [%rd0+4], 8;", "byte 4 of 256"}}) {
    Bench run(kernel(std::string("  ") + access + "\n"), kAllChecks);
    EXPECT_EQ(run().fault, Fault::misaligned_address) << access;
    EXPECT_NE(run.finding().message.find(where), std::string::npos) << run.finding().message;
  }
}

// --- local memory, parameters, frames ----------------------------------------------------------------------

TEST(MemorySafety, MisalignedLocalVectorIsAFault) {
  Bench run(
      kernel("  .local .align 16 .b8 own[1024];\n  mov.u32 %r2, own;\n  mov.u32 %r3, %tid.x;\n"
             "  mad.lo.u32 %r2, %r3, 20, %r2;\n  st.local.v4.u32 [%r2+1], {%r0, %r0, %r0, %r0};\n"));
  EXPECT_EQ(run(0, 24, 32).fault, Fault::misaligned_address);
}

TEST(MemorySafety, ParametersEndWhereTheyEnd) {
  for (const char* at : {"out+4294967292", "out-4", "n+4", "n-9", "out+9"})
    expect_refused(kernel("  ld.param.u64 %rd1, [" + std::string(at) + "];\n"), "bytes of parameters");
}

TEST(MemorySafety, DataBeyondTheLimitsIsRefused) {
  expect_refused(kernel("  st.shared.u32 [big], %r0;\n", ".shared .align 4 .b8 big[4294967200];\n"),
                 "too much shared data");
  expect_refused(kernel("  st.shared.u32 [big], %r0;\n", ".shared .align 4 .b8 big[300000];\n"),
                 "bytes of shared memory (300000 of __shared__ arrays and");
  const std::string huge =
      ".func f(.param .align 4 .b8 a[2147483648], .param .align 4 .b8 b[2147483648])\n{\n  ret;\n}\n";
  expect_refused(
      kernel("  { .param .align 4 .b8 x[16]; .param .align 4 .b8 y[16]; call f, (x, y); }\n", huge),
      "too much local data");
}

TEST(MemorySafety, RecursionWithoutFramesEnds) {
  const std::string endless = ".func f()\n{\n  call f;\n  ret;\n}\n";
  const LaunchResult result = Bench(kernel("  call f;\n", endless))();
  EXPECT_EQ(result.fault, Fault::illegal_address);
  EXPECT_NE(result.text.find("call stack"), std::string::npos) << result.text;
}

// --- operands ----------------------------------------------------------------------------------------------

TEST(MemorySafety, MissingOperandsAreRefused) {
  expect_refused(kernel("  red.global.add.L2::cache_hint.u32 [%rd0], %rd1;\n"), "number of operands");
  expect_refused(kernel("  atom.global.cas.b32 %r2, [%rd0], %r0;\n"), "number of operands");
  for (const char* i : {"init.shared.b64 [%r1]", "expect_tx.relaxed.cta.shared::cta.b64 [%r1]",
                        "complete_tx.relaxed.cta.shared::cta.b64 [%r1]"})
    expect_refused(kernel("  mbarrier." + std::string(i) + ";\n"), "operand is missing");
}

TEST(MemorySafety, MasksWithoutTheOwnLaneReduceNothing) {
  Bench run(
      kernel("  redux.sync.add.s32 %r2, %r0, -2;\n  st.global.u32 [%rd0], %r2;\n"
             "  elect.sync %r3|%p0, 2;\n  redux.sync.add.s32 %r2, %r0, 2;\n"));
  EXPECT_EQ(run(5).fault, Fault::none);
}

// A block of instructions without any op has no position of its own.
TEST(MemorySafety, LoopsOfNothingAreReported) {
  DeviceOptions options = TestDevice::one_thread();
  options.patience = 1000;
  for (const char* body : {"L: bra L;", "bar.sync 0; L: bra L;"}) {
    TestDevice test(".visible .entry k()\n{\n  " + std::string(body) + "\n}\n", options);
    const LaunchResult result = test.try_launch("k", 1, 64);
    EXPECT_EQ(result.fault, Fault::launch_timeout) << result.text;
  }
}

// --- launches ----------------------------------------------------------------------------------------------

TEST(MemorySafety, ImpossibleShapesAreRefused) {
  Bench run(kernel(""));
  const auto id = run.test.device.find_kernel(run.test.module, "k");
  ASSERT_TRUE(id);
  const std::uint64_t arguments[2] = {run.out.address, 0};
  LaunchRequest launch;
  launch.kernel = *id;
  launch.parameters = std::as_bytes(std::span(arguments)).first(12);
  for (const Dim3 cluster : {Dim3{17, 1, 1}, Dim3{4, 4, 2}, Dim3{0xffffffff, 0xffffffff, 0xffffffff}}) {
    launch.grid = cluster;
    launch.cluster = cluster;
    EXPECT_NE(run.test.device.launch(launch).fault, Fault::none);
  }
  launch.grid = launch.cluster = {};
  for (const int registers : {1 << 27, 0x7fffffff, -1, 1}) {  // per thread, from the machine code
    const Fault right = registers > 255 ? Fault::out_of_resources : Fault::none;
    const auto module = run.test.device.load_module(
        ".version 9.0\n.target sm_90\n.address_size 64\n" + kernel(""), ResourceTable{{"k", {registers}}});
    ASSERT_TRUE(module);
    launch.kernel = *run.test.device.find_kernel(*module, "k");
    EXPECT_EQ(run.test.device.launch(launch).fault, right) << registers;
  }
}

// A position that is read only if there is a table is not said to come from the null pointer.
TEST(MemorySafety, NullPointerThatIsComparedIsNoSource) {
  TestDevice test(R"(
.visible .entry k(.param .u64 out, .param .u64 table)
{
  .reg .b64 %rd<8>; .reg .pred %p<2>; ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [table];
  mov.u64 %rd2, 1048576; setp.ne.u64 %p0, %rd1, 0; @%p0 ld.global.u64 %rd2, [%rd1];
  add.u64 %rd3, %rd0, %rd2; st.global.u64 [%rd3], %rd2; ret;
}
)");
  const auto out = test.array<std::uint64_t>(4, 0u);
  EXPECT_EQ(test.try_launch("k", {{1, 1, 1}, {1, 1, 1}, 0}, out, std::uint64_t{0}).fault,
            Fault::illegal_address);
  const std::string message = test.device.findings().at(0).message;
  EXPECT_EQ(message.find("null"), std::string::npos) << message;
}

TEST(MemorySafety, LaunchBoundsMayBeAnyNumbers) {
  std::string ptx = kernel("");
  ptx.insert(ptx.find("\n{"), " .maxntid 65536, 65536, 64 .minnctapersm 4294967295");
  EXPECT_EQ(Bench(ptx)().fault, Fault::none);
}

// --- textures ----------------------------------------------------------------------------------------------

struct TextureRun {
  TextureRun(const std::string& instruction, std::uint64_t mark, std::uint32_t width)
      : run(kernel("  mov.u32 %r2, 0;\n  mov.f32 %f0, 0f3F800000;\n  mov.f32 %f1, 0fC0000000;\n  " +
                   instruction + ";\n")) {
    TextureDescriptor d{.mark = mark, .base = run.out.address, .width = width};
    d.row_bytes = d.slice_bytes = 128;
    auto handle = run.test.device.allocate(sizeof d, MemoryKind::texture);
    std::memcpy(reinterpret_cast<void*>(*handle), &d, sizeof d);
    result = run.test.try_launch("k", TestDevice::Shape{}, *handle, 0u);
  }
  Bench run;
  LaunchResult result;
};

TEST(MemorySafety, SurfaceRowsMayBeShorterThanAnAccess) {
  for (const char* how : {"clamp", "zero", "trap"}) {
    const TextureRun t("sust.b.2d.v4.b32." + std::string(how) + " [%rd0, {%r2, %r2}], {%r0, %r0, %r0, %r0}",
                       TextureDescriptor::kSurfaceMark, 1);
    EXPECT_EQ(t.result.fault, Fault::illegal_address) << how;
    EXPECT_EQ(t.run.out[0], 7u);
  }
}

// --- printf ------------------------------------------------------------------------------------------------

TEST(MemorySafety, PrintedFieldsAreBounded) {
  for (const char* format : {"%999999999d|", "%2147483647d|", "%.999999999d|", "%0999999999d|"}) {
    std::string text = ".global .align 1 .b8 format[] = {";
    for (const char* c = format; *c != '\0'; ++c) text += std::to_string(static_cast<int>(*c)) + ", ";
    Bench run(
        kernel("  .local .align 8 .b8 own[8];\n  st.local.u32 [own], %r0;\n  mov.u64 %rd1, format;\n"
               "  mov.u64 %rd2, own;\n  cvta.local.u64 %rd2, %rd2;\n"
               "  { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd1;\n"
               "    st.param.b64 [b], %rd2; call (c), vprintf, (a, b); }\n",
               text + "0};\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"));
    testing::internal::CaptureStdout();
    EXPECT_EQ(run(3).fault, Fault::none);
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_EQ(printed.size(), 65537u) << format;
    EXPECT_TRUE(printed.ends_with("3|"));
  }
}

}  // namespace
}  // namespace course::sim
