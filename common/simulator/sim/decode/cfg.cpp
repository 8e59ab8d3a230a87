// SPDX-License-Identifier: MIT
// Scheduling ranks of basic blocks. Groups of a diverged warp run in the order of these ranks, so the ranks
// determine where the groups reconverge: all blocks of a loop must rank before those after the loop, and both
// arms of a branch before its join. A reverse post-order of the control flow graph has this property if the
// depth-first search visits the exits of a loop first.
#include <algorithm>
#include <utility>

#include "sim/decode/decode.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

std::vector<std::uint32_t> successors(const Program& program, std::uint32_t number) {
  const BasicBlock& b = program.blocks[number];
  switch (b.exit) {
    case Exit::fall:
    case Exit::call:
    case Exit::call_indirect: return {b.next};
    case Exit::jump: return {b.target};
    case Exit::branch: return {b.next, b.target};
    case Exit::indexed: return program.jump_tables[b.target];
    default: return {};
  }
}

namespace {

using Blocks = std::vector<std::uint32_t>;

class Ranker {
 public:
  explicit Ranker(Program& program) : program_(program), n_(program.blocks.size()) {
    for (std::uint32_t b = 0; b < n_; ++b) {
      next_.push_back(successors(program, b));
      std::sort(next_.back().begin(), next_.back().end());
      next_.back().erase(std::unique(next_.back().begin(), next_.back().end()), next_.back().end());
    }
    before_.resize(n_);
    for (std::uint32_t b = 0; b < n_; ++b)
      for (const std::uint32_t s : next_[b]) before_[s].push_back(b);
  }

  void run() {
    depth_.assign(n_, 0);
    for (BasicBlock& b : program_.blocks) b.cost = b.counted;
    find_loops();
    // Exits first: successors in fewer loops are visited before the others.
    for (auto& list : next_)
      std::stable_sort(list.begin(), list.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return depth_[a] < depth_[b]; });
    Blocks post;
    std::vector<char> seen(n_, 0);
    for (const auto& f : program_.functions)
      search(
          f.entry_block, seen, [](std::uint32_t, std::uint32_t) {}, post);
    for (std::uint32_t b = 0; b < n_; ++b)
      search(
          b, seen, [](std::uint32_t, std::uint32_t) {}, post);  // unreachable blocks
    for (std::size_t k = 0; k < post.size(); ++k)
      program_.blocks[post[k]].order = static_cast<std::uint32_t>(post.size() - 1 - k);
  }

 private:
  // Depth-first search without recursion; calls `back(from, to)` for each edge to a block that is still open.
  template <typename Back>
  void search(std::uint32_t root, std::vector<char>& seen, const Back& back, Blocks& post) const {
    if (seen[root] != 0) return;
    std::vector<std::pair<std::uint32_t, std::size_t>> open{{root, 0}};
    seen[root] = 1;
    while (!open.empty()) {
      const std::uint32_t block = open.back().first;
      if (open.back().second == next_[block].size()) {
        seen[block] = 2;
        post.push_back(block);
        open.pop_back();
        continue;
      }
      const std::uint32_t to = next_[block][open.back().second++];
      if (seen[to] == 0) {
        seen[to] = 1;
        open.emplace_back(to, 0);
      } else if (seen[to] == 1) {
        back(block, to);
      }
    }
  }

  // The loop depth of each block: the number of natural loops that contain it (Aho, Lam, Sethi, Ullman,
  // "Compilers", 2nd ed., 2006, section 9.6).
  void find_loops() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    std::vector<char> seen(n_, 0);
    Blocks post;
    for (const auto& f : program_.functions)
      search(
          f.entry_block, seen, [&](std::uint32_t from, std::uint32_t to) { edges.emplace_back(to, from); },
          post);
    std::sort(edges.begin(), edges.end());
    for (std::size_t k = 0; k < edges.size();) {
      const std::uint32_t header = edges[k].first;
      const std::size_t first = k;
      std::vector<char> inside(n_, 0);
      inside[header] = 1;
      Blocks work;
      for (; k < edges.size() && edges[k].first == header; ++k) {
        if (inside[edges[k].second] == 0) {
          inside[edges[k].second] = 1;
          work.push_back(edges[k].second);
        }
      }
      while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        for (const std::uint32_t p : before_[b]) {
          if (inside[p] != 0) continue;
          inside[p] = 1;
          work.push_back(p);
        }
      }
      for (std::uint32_t b = 0; b < n_; ++b) depth_[b] += static_cast<std::uint32_t>(inside[b]);
      const Polling kind = polls(inside);
      if (!kind.looks) continue;
      for (std::size_t j = first; j < k; ++j) program_.blocks[edges[j].second].cost += kPollCost;
      for (std::uint32_t b = 0; b < n_; ++b) {
        if (inside[b] == 0) continue;
        program_.blocks[b].polling = true;
        if (kind.only) program_.blocks[b].only_polling = true;
        if (kind.in_block) program_.blocks[b].waits_in_block = true;
      }
    }
  }

  // `looks`: a loop is short and contains a strong load or an atomic whose old value is used, so it may wait
  // for another thread. `only`: it accesses no other memory. `in_block`: its words may be in shared memory.
  struct Polling {
    bool looks = false, only = true, in_block = false;
  };

  Polling polls(const std::vector<char>& inside) const {
    std::uint32_t length = 0;
    Polling kind;
    for (std::uint32_t k = 0; k < n_; ++k) {
      if (inside[k] == 0) continue;
      const BasicBlock& b = program_.blocks[k];
      length += b.counted;
      for (std::uint32_t i = b.first; i < b.last; ++i) {
        const MicroOp& op = program_.ops[i];
        const bool look = op.space != MemorySpace::local && op.dst[0] != MicroOp::kNoSlot &&
                          (op.kind == OpKind::atomic || op.kind == OpKind::mbarrier ||
                           (op.kind == OpKind::load && (op.order & kOrderMask) != kWeak));
        kind.looks = kind.looks || look;
        kind.in_block =
            kind.in_block || (look && op.kind != OpKind::mbarrier && op.space != MemorySpace::global);
        kind.only = kind.only && (look || op.space == MemorySpace::none);
      }
    }
    return length > kPollLength ? Polling{} : kind;
  }

  static constexpr std::uint32_t kPollCost = 256, kPollLength = 64;  // warp instructions

  Program& program_;
  std::size_t n_;
  std::vector<Blocks> next_, before_;
  std::vector<std::uint32_t> depth_;
};

}  // namespace

void rank_blocks(Program& program) {
  Ranker(program).run();
}

}  // namespace course::sim
