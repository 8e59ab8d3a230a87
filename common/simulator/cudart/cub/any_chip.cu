// SPDX-License-Identifier: MIT
// One call each of a reduction, scans, a selection and a sort, built for nvcc's default architecture: on most
// simulated chips there is then no machine code, and the registers of each kernel are an estimate, which must
// allow what its launch bounds do.
#include <thrust/execution_policy.h>
#include <thrust/scan.h>

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <numeric>

#include "cub.hpp"

struct IsOdd {
  __host__ __device__ bool operator()(std::uint32_t v) const { return v % 2 != 0; }
};

int main() {
  const int n = 54321;
  const auto values = random_bits<std::uint32_t>(n, 1);
  const Array<std::uint32_t> d_in(values), d_out(values.size());
  const Array<int> d_count(1);

  std::vector<std::uint32_t> sums(values.size()), odd, sorted = values;
  std::inclusive_scan(values.begin(), values.end(), sums.begin());
  std::copy_if(values.begin(), values.end(), std::back_inserter(odd), IsOdd{});
  std::sort(sorted.begin(), sorted.end());

  CUB(DeviceReduce::Sum, d_in.get(), d_out.get(), n);
  EXPECT(d_out.front() == sums.back());
  CUB(DeviceScan::InclusiveSum, d_in.get(), d_out.get(), n);
  EXPECT(d_out.values() == sums);
  CUB(DeviceSelect::If, d_in.get(), d_out.get(), d_count.get(), n, IsOdd{});
  EXPECT(d_count.front() == static_cast<int>(odd.size()));
  EXPECT(d_out.first(odd.size()) == odd);
  CUB(DeviceRadixSort::SortKeys, d_in.get(), d_out.get(), n);
  EXPECT(d_out.values() == sorted);
  thrust::inclusive_scan(thrust::device, d_in.get(), d_in.get() + n, d_out.get());
  EXPECT(d_out.values() == sums);
}
