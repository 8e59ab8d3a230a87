#include <gtest/gtest.h>
#include <cstdio>
#include "lab/testing/counted.hpp"
#include "compaction/lab.hpp"
namespace course::compaction {
const lab::Problem& problem();
TEST(X, Y) {
  lab::Counter counter(problem());
  for (std::uint64_t n : {65536u, 262144u, 1048576u})
  for (const char* rung : {"three_kernels", "fused", "warp_aggregated", "single_pass", "state_of_the_art"}) {
    lab::Case c; c.name = std::to_string(n); c.op = 0; c.n = n; 
    const auto& k = counter(rung, c); const double n_ = double(n);
    std::printf("%-16s n %8lu us %.1f bytes/n %.3f ratio %.3f barriers/1000 %.2f launches %g lanes %.3f conf %.3f work/n %.3f steps %g stores sect/req %.2f lanes/n %.1f\n", rung, n, k.modelled_us, k.bytes()/n_, k.bytes()/n_/6, k["barriers"]*1000/n_, k["launches"], k.active_lanes(), k.conflicts(), k["work"]/n_, k["steps"], k["global_store_sectors"]/k["global_store_requests"], k["lane_instructions"]/n_);
    for (auto& l : k.launches) std::printf("     %s %.1f\n", l.at("kernel").get<std::string>().substr(0,60).c_str(), l.at("modelled_us").get<double>());
  }
}
}
