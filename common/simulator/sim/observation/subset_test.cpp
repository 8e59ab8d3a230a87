// SPDX-License-Identifier: MIT
#include "sim/observation/subset.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/parser/parser.hpp"
#include "sim/decode/complete.hpp"
#include "sim/machine/op_table.hpp"

namespace course::sim {
namespace {

const OpTable& table() {
  return *engine().table;
}

// What a module with this text uses outside of the subset.
std::vector<std::string> outside(const std::string& text) {
  const auto module = ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n" + text);
  EXPECT_TRUE(module) << (module ? "" : module.error().text);
  std::vector<std::string> found;
  if (module)
    for (const Outside& one : outside_of(*module, table())) found.push_back(describe(one));
  return found;
}
std::vector<std::string> outside_of_kernel(const std::string& body, const std::string& attributes = "") {
  return outside(".shared .align 16 .b8 s[64];\n.visible .entry k()" + attributes +
                 "\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n" + body + "\nret;\n}\n");
}

TEST(Subset, AllowsWhatEveryObserverFollows) {
  for (const char* body :
       {"add.u32 %r1, %r2, %r3;", "ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];", "bar.sync 0;",
        "ld.acquire.gpu.global.u32 %r1, [%rd1];", "st.shared.v2.b32 [%rd1], {%r1, %r2};",
        "atom.global.relaxed.gpu.add.u32 %r1, [%rd1], %r2;", "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
        "vote.sync.ballot.b32 %r1, %p1, -1;", "cp.async.cg.shared.global [%r1], [%rd1], 16;",
        "mov.u32 %r1, %tid.x;", "fence.acq_rel.gpu;", "membar.gl;", "nanosleep.u32 20;", "trap;",
        "mov.u64 %rd1, %globaltimer;", "add.cc.u32 %r1, %r2, %r3;",
        "ld.global.L1::evict_last.L2::128B.u32 %r1, [%rd1];", "redux.sync.add.u32 %r1, %r2, -1;"})
    EXPECT_EQ(outside_of_kernel(body), std::vector<std::string>{}) << body;
}

TEST(Subset, NamesWhatIsNotFollowed) {
  const struct {
    const char* body;
    const char* words;
  } cases[] = {
      {"mov.u64 %rd1, %clock64;", "timing model: clocks"},
      {"mov.u32 %r1, %smid;", "%smid"},
      {"mov.u32 %r1, %cluster_ctarank;", "clusters"},
      {"mapa.shared::cluster.u32 %r1, %r2, 1;", "other blocks"},
      {"mbarrier.init.shared.b64 [%r1], 3;", "mbarrier"},
      {"barrier.cluster.arrive.aligned;", ".cluster"},
      {"ld.shared::cluster.u32 %r1, [%r2];", ".shared::cluster"},
      {"ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];", ".mmio"},
      {"fence.proxy.async;", ".proxy"},
      {"discard.global.L2 [%rd1], 128;", "discard"},
      {"setmaxnreg.inc.sync.aligned.u32 64;", "setmaxnreg"},
      {"createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;", "createpolicy"},
      {"cp.async.bulk.commit_group;", "bulk copy"},
      {"wgmma.fence.sync.aligned;", "wgmma"},
      {"tanh.approx.f32 %r1, %r2;", "exact results: they are rounded correctly"},
      {"vadd2.u32.u32.u32 %r1, %r2, %r3, %r4;", "vadd2"},
  };
  for (const auto& [body, words] : cases) {
    const auto found = outside_of_kernel(body);
    const bool said = std::any_of(found.begin(), found.end(), [&](const std::string& one) {
      return one.find(words) != std::string::npos;
    });
    EXPECT_TRUE(said) << body << " " << (found.empty() ? "nothing" : found.front());
  }
}

TEST(Subset, RefusesClustersAndManagedVariables) {
  const auto clusters = outside_of_kernel("", " .reqnctapercluster 2, 1, 1");
  ASSERT_EQ(clusters.size(), 1u);
  EXPECT_TRUE(clusters[0].starts_with("__cluster_dims__: memory checks, race checks")) << clusters[0];
  EXPECT_EQ(outside_of_kernel("", " .reqnctapercluster 1, 1, 1").size(), 0u);
  EXPECT_EQ(outside(".visible .global .attribute(.managed) .align 4 .u32 m;\n").size(), 1u);
}

TEST(Subset, AllowsRecursion) {
  EXPECT_EQ(outside(".func f()\n{\ncall.uni f;\nret;\n}\n.visible .entry k()\n{\ncall.uni f;\nret;\n}\n"),
            std::vector<std::string>{});
}

TEST(Subset, RefusesKernelsThatLaunchKernels) {
  const auto found = outside(
      ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);\n"
      ".visible .entry k()\n{\n{\n.param .b64 a, b;\n.param .b32 r;\ncall.uni (r), __cudaCDP2LaunchDeviceV2, "
      "(a, b);\n}\n"
      "ret;\n}\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("a kernel launched by a kernel")) << found[0];
}

TEST(Subset, RefusesKernelsWithALibrarysName) {
  const auto named = [](const std::string& name) {
    return outside(".visible .entry " + name + "()\n{\nret;\n}\n");
  };
  for (const char* name : {"_ZN3cub4foldEv", "_ZNK3cub4foldEPKi", "_ZN6thrust4foldIiEEvv"}) {
    ASSERT_EQ(named(name).size(), 1u) << name;
    EXPECT_TRUE(named(name)[0].starts_with("the kernel ")) << named(name)[0];
  }
  EXPECT_EQ(named("_ZN4mine3cub4foldEv"), std::vector<std::string>{});
}

// A launch that overlaps with the one before it is as observed only after griddepcontrol.wait.
TEST(Subset, OverlappingLaunchesMustWaitFirst) {
  const auto overlap = [](const std::string& body) {
    const auto module = ptx::parse(
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 "
        "e);\n"
        ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.visible .entry k()\n{\n"
        ".reg .pred %p<2>;\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n" +
        body + "\nret;\n}\n");
    EXPECT_TRUE(module) << (module ? "" : module.error().text);
    ModuleImage image;
    image.module = &*module;
    const auto program = decode(image, module->functions.back(), table());
    EXPECT_TRUE(program) << (program ? "" : program.error().text);
    LaunchRequest launch;
    launch.overlaps = true;
    return outside_of(*program, launch).size();
  };
  const std::string load = "ld.global.u32 %r1, [%rd1];", wait = "griddepcontrol.wait;";
  EXPECT_EQ(overlap(""), 1u) << "the launch after it waits for this kernel alone";
  EXPECT_EQ(overlap(wait), 0u);
  EXPECT_EQ(overlap("@%p1 ret;" + wait), 1u);
  EXPECT_EQ(overlap("st.shared.u32 [%r1], %r2;" + wait + load), 0u);
  EXPECT_EQ(overlap(load + wait), 1u);
  EXPECT_EQ(overlap("griddepcontrol.launch_dependents;" + load), 1u);
  EXPECT_EQ(overlap("@%p1 bra L;" + wait + "\nL:" + load), 1u);
  EXPECT_EQ(overlap("@%p1 " + wait + load), 1u);
  const std::string parameters =
      "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; ";
  const std::string fails = parameters + "call.uni __assertfail, (a, b, c, d, e); }";
  EXPECT_EQ(overlap("@%p1 bra L;" + fails + "\nL:" + wait + load), 0u)
      << "a failed assertion ends the kernel";
  EXPECT_EQ(overlap(fails + load + wait), 1u);
  EXPECT_EQ(overlap("{ .param .b64 r; .param .b64 a; call.uni (r), malloc, (a); }" + wait), 1u);
}

// A new row needs a decision of each observer.
TEST(Subset, ShowsEveryRowOnce) {
  std::size_t n = 0;
  const std::string text = subset_as_markdown(table());
  for (std::size_t line = 0, k = 0; (line = text.find("\n| ", line)) != std::string::npos; ++line, ++k) {
    const std::size_t bar = text.find(" | ", line + 3);
    n += std::stoul(text.substr(bar + 3));
  }
  EXPECT_EQ(n, table().rows().size());
}

// No function decodes an opcode of which the list of words does not say what is taken into account.
TEST(Subset, EveryDecodedWordBelongsToAnInstruction) {
  for (const auto& [opcode, words] : decoded_words())
    for (const std::string_view word : words)
      EXPECT_EQ(std::count(words.begin(), words.end(), word), 1) << opcode << "." << word;
}

}  // namespace
}  // namespace course::sim
