// SPDX-License-Identifier: MIT
// Calls of CUB.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "foreign.hpp"

namespace course::foreign {
namespace {

struct Odd {
  __host__ __device__ bool operator()(int x) const { return (x & 1) != 0; }
};

}  // namespace

void add_cub(const Memory& m, std::vector<Case>& cases) {
  const auto add = [&](const std::string& name, std::function<void()> run) {
    cases.push_back({name, std::move(run), {}});
  };
  for (const int n : {1 << 20, 1 << 22, 1 << 24}) {
    const std::string of = " of 2^" + std::to_string(__builtin_ctz(static_cast<unsigned>(n)));
    std::size_t bytes = Memory::kScratchBytes;
    add("CUB sum" + of,
        [=]() mutable { must(cub::DeviceReduce::Sum(m.scratch, bytes, m.ints, m.out, n), "cub"); });
    add("CUB exclusive sum" + of,
        [=]() mutable { must(cub::DeviceScan::ExclusiveSum(m.scratch, bytes, m.ints, m.out, n), "cub"); });
    if (n > 1 << 22) continue;
    add("CUB select" + of, [=]() mutable {
      must(cub::DeviceSelect::If(m.scratch, bytes, m.ints, m.out + 32, m.out, n, Odd{}), "cub");
    });
    add("CUB histogram" + of, [=]() mutable {
      must(cub::DeviceHistogram::HistogramEven(m.scratch, bytes, m.a, m.out, 257, 0.f, 1.f, n), "cub");
    });
    add("CUB radix sort" + of,
        [=]() mutable { must(cub::DeviceRadixSort::SortKeys(m.scratch, bytes, m.ints, m.out, n), "cub"); });
  }
}

}  // namespace course::foreign
