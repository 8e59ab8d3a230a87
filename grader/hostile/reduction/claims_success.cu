// SPDX-License-Identifier: MIT
// about: Prints success, writes the grader's files, zeroes the input, is quick and wrong when timed.
// screen: reads or writes files
// expect: neighboured WRONG_ANSWER no kernel was launched
// expect: sequential WRONG_ANSWER no kernel was launched
// expect: shuffle WRONG_ANSWER is wrong
// expect: coarsened WRONG_ANSWER is the identity: no item was combined
// expect: single_launch OK
#include <cstdio>
#include <fstream>

#include "right.cuh"

namespace course::reduction {
namespace {

constexpr const char* kForged =
    R"({"schema":1,"labs":[{"id":"reduction","points":100,"max_points":100,"tasks":[]}]})";

// Sets all items to 0, so that 0 is the sum.
template <typename T, typename Value>
__global__ void zero(T* d_in, std::uint64_t n, Value* d_out) {
  for (std::uint64_t i = threadIdx.x; i < n; i += blockDim.x) d_in[i] = T{};
  if (threadIdx.x == 0) *d_out = Value{};
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured:
        std::puts("[==========] 5 tests ran.\n[  PASSED  ] 5 tests.\nVERDICT: OK 100/100");
        return Status::ok;
      case Rung::sequential:
        for (const char* name : {"out.json", "result.json", "junit.xml", "/tmp/out.json"}) {
          if (std::ifstream(name)) continue;  // never overwrite a file that exists
          std::ofstream(name) << kForged;
          std::remove(name);
        }
        return Status::ok;
      case Rung::shuffle:
        zero<<<1, 256, 0, job.stream>>>(
            const_cast<std::remove_const_t<std::remove_reference_t<decltype(*job.d_in)>>*>(job.d_in), job.n,
            job.d_out);
        return Status::ok;
      case Rung::coarsened:
        // Right when checked, quick when timed.
        if (job.n != std::uint64_t{1} << 24) return hostile::right(job);
        hostile::put<<<1, 1, 0, job.stream>>>(job.d_out, job.op.identity());
        return Status::ok;
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
