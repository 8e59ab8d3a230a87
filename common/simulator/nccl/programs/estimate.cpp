// SPDX-License-Identifier: MIT
// For handouts/scripts/scaling.py: what operation/model.hpp says of collectives. For each line
// "all_reduce 1048576 8" of the input (operation, bytes of each rank as the call counts them, ranks) prints the
// microseconds, the algorithm, and the messages and bytes of the rank that sends most.
//
//     nccl_estimate nvlink < queries          nccl_estimate nvlink          # without queries: the link's constants
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>

#include "nccl/operation/model.hpp"

namespace course::nccl {
namespace {

const std::map<std::string, Kind> kKinds = {
    {"all_reduce", Kind::all_reduce},         {"all_gather", Kind::all_gather},
    {"reduce_scatter", Kind::reduce_scatter}, {"all_to_all", Kind::all_to_all},
    {"broadcast", Kind::broadcast},           {"reduce", Kind::reduce},
};
constexpr const char* kAlgorithms[] = {"direct", "ring", "pairs"};  // in the order of Algorithm

int run(const char* name) {
  const Link& link = link_of("", name);
  if (link.name != name) {
    std::fprintf(stderr, "nccl_estimate: there is no link %s\n", name);
    return 2;
  }
  std::printf("launch_us %g step_us %g pairs_us %g gb_per_s %g direct_gb_per_s %g\n", link.launch_us,
              link.step_us, link.pairs_us, link.gb_per_s, link.direct_gb_per_s);
  std::string kind;
  std::uint64_t n_bytes = 0;
  for (int n_ranks = 0; std::cin >> kind >> n_bytes >> n_ranks;) {
    const auto found = kKinds.find(kind);
    if (found == kKinds.end() || n_ranks < 1) {
      std::fprintf(stderr, "nccl_estimate: what is %s of %d ranks?\n", kind.c_str(), n_ranks);
      return 2;
    }
    std::vector<Call> calls;
    for (int rank = 0; rank < n_ranks; ++rank) {
      Call call;
      call.kind = found->second;
      call.count = n_bytes;
      call.rank = rank;
      call.n_ranks = n_ranks;
      calls.push_back(call);
    }
    std::vector<const Call*> pointers;
    for (const Call& call : calls) pointers.push_back(&call);
    const Estimate estimate = estimate_of(pointers, link);
    Sent most;
    for (const Call& call : calls) {
      const Sent sent = sent_by(call, estimate.algorithm);
      most = {std::max(most.n_messages, sent.n_messages), std::max(most.n_bytes, sent.n_bytes)};
    }
    std::printf("%.6g %s %llu %llu\n", estimate.us, kAlgorithms[static_cast<int>(estimate.algorithm)],
                static_cast<unsigned long long>(most.n_messages),
                static_cast<unsigned long long>(most.n_bytes));
  }
  return 0;
}

}  // namespace
}  // namespace course::nccl

int main(int argc, char** argv) {
  return course::nccl::run(argc > 1 ? argv[1] : "nvlink");
}
