// SPDX-License-Identifier: MIT
// about: Claims success without work: prints it, writes the grader's files, zeroes the input, answers from memory.
// expect: neighboured WRONG_ANSWER no kernel was launched
// expect: sequential WRONG_ANSWER no kernel was launched
// expect: shuffle WRONG_ANSWER is wrong
// expect: coarsened WRONG_ANSWER
// expect: single_launch OK
#include <cstdio>
#include <fstream>
#include <map>
#include <tuple>

#include "right.cuh"

namespace course::reduction {
namespace {

constexpr const char* kForged = R"({"schema":1,"labs":[{"id":"reduction","points":100,"max_points":100,"tasks":[]}]})";

// Zeroes everything, so that 0 is the sum.
template <typename T, typename Value>
__global__ void zero(T* d_in, std::uint64_t n, Value* d_out) {
  for (std::uint64_t i = threadIdx.x; i < n; i += blockDim.x) d_in[i] = T{};
  if (threadIdx.x == 0) *d_out = Value{};
}

template <typename Value>
__global__ void put(Value* d_out, Value value) {
  *d_out = value;
}

}  // namespace

Status run(const lab::Request& request) {
  return dispatch(request, [&](const auto& job) {
    using Value = std::remove_reference_t<decltype(*job.d_out)>;
    switch (static_cast<Rung>(request.task)) {
      case Rung::neighboured:
        std::puts("[==========] 5 tests ran.\n[  PASSED  ] 5 tests.\nVERDICT: OK 100/100");
        return Status::ok;
      case Rung::sequential:
        for (const char* name : {"out.json", "result.json", "junit.xml", "/tmp/out.json"}) {
          if (std::ifstream(name)) continue;  // nobody's file is to suffer from this test
          std::ofstream(name) << kForged;
          std::remove(name);
        }
        return Status::ok;
      case Rung::shuffle:
        zero<<<1, 256, 0, job.stream>>>(const_cast<std::remove_const_t<std::remove_reference_t<decltype(*job.d_in)>>*>(job.d_in),
                                        job.n, job.d_out);
        return Status::ok;
      case Rung::coarsened: {
        // Right once; then the same answer to whatever looks like the same question.
        static std::map<std::tuple<std::uint32_t, std::uint64_t>, Value> known;
        const std::tuple key{request.op, job.n};
        if (const auto found = known.find(key); found != known.end()) {
          put<<<1, 1, 0, job.stream>>>(job.d_out, found->second);
          return Status::ok;
        }
        const Status status = hostile::right(job);
        cudaStreamSynchronize(job.stream);
        cudaMemcpy(&known[key], job.d_out, sizeof(Value), cudaMemcpyDefault);
        return status;
      }
      default: return hostile::right(job);
    }
  });
}
}  // namespace course::reduction
