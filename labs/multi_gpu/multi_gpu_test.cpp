// SPDX-License-Identifier: MIT
// The public tests of the lab for several devices. Run them on your kernels with
//   build/labs/multi_gpu_test --gtest_filter='scan.*'
// Each task is a suite, each case a test (public_tests.hpp lists the environment variables). The tests below
// need no kernel: they test the lab's own checks, shards and baselines.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "lab/compare.hpp"
#include "multi_gpu/baseline.hpp"
#include "multi_gpu/lab.hpp"
#include "multi_gpu/points.hpp"
#include "testing/public_tests.hpp"
#include "testing/tried.hpp"

namespace course::multi_gpu {

const lab::Problem& problem();

namespace {

using lab::Case;
using lab::Tried;
using Map = AffineMap<std::uint32_t>;

const lab::Task& task(std::string_view id) {
  return *lab::find_task(kManifest, id);
}

TEST(Cases, DivideTheArrayAmongOneToEightDevices) {
  for (const auto& t : kManifest.tasks) {
    std::set<std::uint32_t> devices;
    bool empty_shard = false;
    for (const Case& c : problem().cases(t)) {
      const lab::Shape shape = problem().shape(t, c);
      EXPECT_EQ(shape.inputs.size(), shape.n_devices) << c.name;
      EXPECT_EQ(shape.outputs.size(), shape.n_devices) << c.name;
      std::uint64_t n = 0;
      for (const auto& input : shape.inputs) {
        n += input.count;
        empty_shard = empty_shard || (input.count == 0 && c.n > 1000);
      }
      EXPECT_EQ(n, c.n) << c.name;
      devices.insert(shape.n_devices);
    }
    EXPECT_EQ(devices, (std::set<std::uint32_t>{1, 2, 3, 4, 8})) << t.id;
    EXPECT_TRUE(empty_shard) << t.id;
  }
}

// The lengths do not decide which items there are.
TEST(Cases, FillTheWholeArrayAlikeForAllDivisions) {
  const auto whole = [](const char* name) {
    const Tried t = lab::tried(problem(), "reduce", name, 5);
    std::vector<std::byte> all;
    for (const auto& input : t.inputs) all.insert(all.end(), input.bytes.begin(), input.bytes.end());
    return all;
  };
  EXPECT_EQ(whole("sum_i32_d2_uneven_n10007_random"), whole("sum_i32_d8_uneven_n10007_random"));
}

TEST(Baselines, GiveTheHandoutsExample) {
  const Tried t = lab::tried(problem(), task("scan"), problem().example(task("scan"), 8));
  const auto shard = [&](std::size_t r) {
    const auto out = t.outputs[r].as<std::int32_t>();
    return std::vector<std::int32_t>(out.begin(), out.end());
  };
  EXPECT_EQ(shard(0), (std::vector<std::int32_t>{0, 3, 4, 11}));
  EXPECT_EQ(shard(1), (std::vector<std::int32_t>{11, 15, 16, 22}));
}

TEST(Check, ExaminesEveryRank) {
  for (const auto& t : kManifest.tasks) {
    Tried tried = lab::tried(problem(), t, problem().example(t, 8));
    tried.output<std::uint32_t>(1)[0] ^= 1;
    const auto mismatch = problem().check(t, tried.c, tried.inputs, tried.outputs);
    ASSERT_TRUE(mismatch) << t.id;
    EXPECT_NE(mismatch->buffer.find("rank 1"), std::string::npos) << mismatch->buffer;
  }
}

TEST(Check, ReportsAScanThatStartsAgainAtARank) {
  Tried t = lab::tried(problem(), "scan", "inclusive_affine_u64_d4_uneven_n20001_random");
  const Affine<std::uint32_t> op;
  for (std::size_t r = 0; r < t.inputs.size(); ++r)
    scan_one_thread(t.input<Map>(r), t.output<Map>(r), Kind::inclusive, op, op.identity());
  EXPECT_TRUE(says(t, "rank 1's scan starts again"));
}

TEST(Check, ReportsCountsThatWereNotAddedUp) {
  const char* name = "b1000_d3_uneven_n65537_random";
  Tried t = lab::tried(problem(), "histogram", name);
  const std::vector<Count> right(t.output<Count>(1).begin(), t.output<Count>(1).end());
  EXPECT_EQ(right.size(), 1002u);
  EXPECT_EQ(std::accumulate(right.begin(), right.end(), Count{0}), 65537u);
  for (std::size_t r = 0; r < 3; ++r) {
    const auto counts = t.output<Count>(r);
    std::fill(counts.begin(), counts.end(), 0);
    count_one_thread(t.input<std::uint32_t>(r), 1000, counts);
  }
  EXPECT_TRUE(says(t, "rank 0 has the counts of its own shard"));
}

TEST(Check, ReportsWhichKeysARankHas) {
  const char* name = "u32_d3_uneven_n5003_random";
  const Tried right = lab::tried(problem(), "sort", name);
  Tried t = right;
  for (std::size_t r = 0; r < 3; ++r) {
    const auto out = t.output<Key>(r);
    std::copy(t.input<Key>(r).begin(), t.input<Key>(r).end(), out.begin());
    std::sort(out.begin(), out.end());
  }
  EXPECT_TRUE(says(t, "rank 0 has its own keys, sorted"));
  t = right;
  t.output<Key>(2)[3] = t.output<Key>(2)[4];
  EXPECT_TRUE(says(t, "all ranks together have other keys"));
}

TEST(Check, WantsWholeNumberFloatsExactly) {
  Tried t = lab::tried(problem(), "scan", "exclusive_sum_f32_d4_uneven_n65537_alternating");
  EXPECT_EQ(t.hint(), "right");
  t.output<float>(3)[7] = std::nextafter(t.output<float>(3)[7], 1e9f);
  EXPECT_NE(t.hint(), "right");
}

}  // namespace
}  // namespace course::multi_gpu

int main(int argc, char** argv) {
  return course::lab::run_public_tests(argc, argv, course::multi_gpu::problem());
}
