// SPDX-License-Identifier: MIT
// What depends on the outcome of a branch: the basic blocks between it and the first point that all paths
// from it pass (its post-dominators), and what they write.
// Source: for this notion of dependence, Ferrante, Ottenstein, Warren, "The program dependence graph and its
// use in optimization", ACM TOPLAS 9(3), 1987; doi:10.1145/24039.24041.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/machine/program.hpp"

namespace course::sim {

struct Region {
  struct Slot {
    std::uint32_t offset;
    bool wide, predicate;
  };
  std::uint32_t branch = 0;    // the basic block that ends with the branch
  std::uint32_t function = 0;  // that contains it
  std::vector<bool> blocks;    // by basic block
  std::vector<Slot> written;   // and read after the region
  // A store or an atomic, and the ops between the branch and it that compute its address.
  struct Access {
    const MicroOp* op;
    std::vector<const MicroOp*> address;
  };
  std::vector<Access> accesses;  // whose addresses follow from registers at the branch
  // Where the others are, also those of functions that are called: bits 1 << MemorySpace.
  std::uint32_t elsewhere = 0;
};

// The regions of a program's branches, each computed when it is first asked for.
class Regions {
 public:
  void of_program(const Program& program);
  const Region& of(const BasicBlock& branch);
  std::uint32_t block_of(const MicroOp& op) const { return block_of_[op.index]; }

 private:
  std::vector<bool> between(std::uint32_t branch) const;
  std::optional<std::vector<const MicroOp*>> way_to(const MicroOp& op, const Region& region,
                                                    std::uint32_t without) const;
  std::optional<std::vector<const MicroOp*>> address_of(const MicroOp& op, const Region& region,
                                                        const std::map<std::uint32_t, int>& n_writers) const;
  bool is_in_frame(const MicroOp& op) const;
  bool read_after(const Region& region, std::uint32_t slot) const;
  std::uint32_t written_by_calls(const BasicBlock& caller) const;
  void fill(Region& region) const;

  const Program* program_ = nullptr;
  std::vector<std::uint32_t> block_of_;  // by op
  std::unordered_map<std::uint32_t, std::unique_ptr<Region>> known_;
};

}  // namespace course::sim
