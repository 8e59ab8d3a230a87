// SPDX-License-Identifier: MIT
// Scheduling ranks of basic blocks. Groups of a diverged warp run in the order of these ranks, so the ranks
// determine where the groups reconverge: all blocks of a loop must rank before those after the loop, and both
// arms of a branch before its join. A reverse post-order of the control flow graph has this property if the
// depth-first search visits the exits of a loop first.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "sim/decode/decode.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {

std::vector<std::uint32_t> Program::successors(std::uint32_t number) const {
  const BasicBlock& b = blocks[number];
  switch (b.exit) {
    case Exit::fall:
    case Exit::call:
    case Exit::call_indirect: return {b.next};
    case Exit::jump: return {b.target};
    case Exit::branch: return {b.next, b.target};
    case Exit::indexed: return jump_tables[b.target];
    default: return {};
  }
}

namespace {

// How many of an op's dst are written. The last one of a store, and of an atomic of 128 bits, is a source.
int n_results(const MicroOp& op) {
  return op.kind == OpKind::store ? 0 : op.kind == OpKind::atomic && op.width == 16 ? 3 : 4;
}
bool writes(const MicroOp& op, std::uint32_t slot) {
  return std::find(op.dst, op.dst + n_results(op), slot) != op.dst + n_results(op);
}
bool reads(const MicroOp& op, std::uint32_t slot) {
  return std::find(op.src, op.src + 4, slot) != op.src + 4 ||
         std::find(op.dst + n_results(op), op.dst + 4, slot) != op.dst + 4 || op.guard == slot;
}

// Whether a register is read from the begin of one of these blocks on, before it is written.
bool may_read(const Program& program, std::vector<std::uint32_t> open, std::uint32_t slot) {
  std::vector<bool> seen(program.blocks.size(), false);
  while (!open.empty()) {
    const std::uint32_t number = open.back();
    open.pop_back();
    if (seen[number]) continue;
    seen[number] = true;
    const BasicBlock& b = program.blocks[number];
    bool written = false;
    for (std::uint32_t i = b.first; i < b.last && !written; ++i) {
      const MicroOp& op = program.ops[i];
      if (reads(op, slot)) return true;
      written = op.guard == MicroOp::kNoSlot && writes(op, slot);
    }
    if (written) continue;
    if (b.predicate == slot) return true;
    if (b.exit == Exit::call_indirect && program.calls[b.target].selector == slot) return true;
    const std::vector<std::uint32_t> next = program.successors(number);
    open.insert(open.end(), next.begin(), next.end());
  }
  return false;
}

}  // namespace

void find_unset_slots(Program& program) {
  for (ProgramFunction& f : program.functions)
    for (const auto* slots : {&f.narrow_slots, &f.wide_slots, &f.predicate_slots})
      for (const std::uint32_t slot : *slots)
        if (may_read(program, {f.entry_block}, slot)) f.unset_slots.push_back(slot);
}

namespace {

using Blocks = std::vector<std::uint32_t>;

class Ranker {
 public:
  explicit Ranker(Program& program) : program_(program), n_(program.blocks.size()) {
    for (std::uint32_t b = 0; b < n_; ++b) {
      next_.push_back(program.successors(b));
      std::sort(next_.back().begin(), next_.back().end());
      next_.back().erase(std::unique(next_.back().begin(), next_.back().end()), next_.back().end());
    }
    before_.resize(n_);
    for (std::uint32_t b = 0; b < n_; ++b)
      for (const std::uint32_t s : next_[b]) before_[s].push_back(b);
    // A thread that branches on the old value of an atomic knows from it what other threads have done before.
    for (MicroOp& op : program_.ops)
      if (is_look(op) && only_decides(op)) op.order |= op.kind == OpKind::atomic ? kWaits : kOnlyDecides;
  }

  void run() {
    depth_.assign(n_, 0);
    for (BasicBlock& b : program_.blocks) b.cost = b.counted;
    find_loops();
    // Exits first: successors in fewer loops are visited before the others.
    for (auto& list : next_)
      std::ranges::stable_sort(list, [&](std::uint32_t a, std::uint32_t b) { return depth_[a] < depth_[b]; });
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
    std::ranges::sort(edges);
    for (std::size_t k = 0; k < edges.size();) {
      const std::uint32_t header = edges[k].first;
      const std::size_t first = k;
      std::vector<char> inside(n_, 0);
      inside[header] = 1;
      Blocks work;
      for (; k < edges.size() && edges[k].first == header; ++k) work.push_back(edges[k].second);
      while (!work.empty()) {
        const std::uint32_t b = work.back();
        work.pop_back();
        if (std::exchange(inside[b], 1) == 0) work.insert(work.end(), before_[b].begin(), before_[b].end());
      }
      mark_waits({header, inside});
      for (std::uint32_t b = 0; b < n_; ++b) depth_[b] += static_cast<std::uint32_t>(inside[b]);
      const Polling kind = polls(inside);
      if (!kind.looks || kind.length > kPollLength) continue;
      for (std::size_t j = first; j < k; ++j) program_.blocks[edges[j].second].cost += kPollCost;
      for (std::uint32_t b = 0; b < n_; ++b) {
        if (inside[b] == 0) continue;
        program_.blocks[b].polling = true;
        if (kind.only) program_.blocks[b].only_polling = true;
      }
    }
    for_ops(std::vector<char>(n_, 1), [&](const MicroOp& op, std::uint32_t b) {
      if (is_look(op) || is_strong_change(op)) program_.blocks[b].may_pause = true;
    });
  }

  struct Loop {
    std::uint32_t header;
    std::vector<char> inside;
  };

  // `looks`: a loop contains a strong load, an atomic whose old value is used or a test of an mbarrier, so it
  // may wait for another thread. `only`: it accesses no other memory.
  struct Polling {
    bool looks = false, only = true, writes = false;
    std::uint32_t length = 0;
    void add(const MicroOp& op) {
      const bool look = is_look(op);
      looks = looks || look;
      only = only && (look || op.space == MemorySpace::none);
      writes = writes ||
               (op.space != MemorySpace::none && op.space != MemorySpace::local && op.kind != OpKind::load);
    }
  };

  // Calls `each(op, block)` for the ops of some basic blocks.
  template <typename Each>
  void for_ops(const std::vector<char>& blocks, const Each& each) const {
    for (std::uint32_t b = 0; b < n_; ++b)
      for (std::uint32_t i = program_.blocks[b].first; blocks[b] != 0 && i < program_.blocks[b].last; ++i)
        each(program_.ops[i], b);
  }

  Polling polls(const std::vector<char>& blocks) const {
    Polling kind;
    for (std::uint32_t b = 0; b < n_; ++b)
      if (blocks[b] != 0) kind.length += program_.blocks[b].counted;
    for_ops(blocks, [&](const MicroOp& op, std::uint32_t) { kind.add(op); });
    return kind;
  }

  // Whether a loop cannot go round without the block.
  bool is_in_each_round(const Loop& loop, std::uint32_t block) const {
    std::vector<char> seen = loop.inside;  // 2: seen
    Blocks open;
    if (block != loop.header) open.push_back(loop.header);
    while (!open.empty()) {
      const std::uint32_t b = open.back();
      open.pop_back();
      for (const std::uint32_t s : next_[b]) {
        if (s == loop.header) return false;
        if (s == block || seen[s] != 1) continue;
        seen[s] = 2;
        open.push_back(s);
      }
    }
    return true;
  }

  // Whether the value of a look reaches no other access, so that it decides at most which way is taken.
  bool only_decides(const MicroOp& look) const {
    std::set<std::uint32_t> reached(look.dst, look.dst + look.n_dst);
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const MicroOp& op : program_.ops)
        if (std::ranges::any_of(reached, [&](std::uint32_t slot) { return reads(op, slot); })) {
          if (op.space != MemorySpace::none) return false;
          reached.insert(op.dst, op.dst + op.n_dst);
        }
    }
    return true;
  }

  // Marks the looks that decide whether the loop is left as kWaits. Of a loop that writes to memory as well,
  // which may do other work until a flag ends it, only looks whose values have no other use.
  void mark_waits(const Loop& loop) {
    const Polling all = polls(loop.inside);
    if (!all.looks) return;
    std::set<std::uint32_t> needed;
    const auto need_way_to = [&](std::uint32_t block) {
      if (is_in_each_round(loop, block)) return;
      for (std::uint32_t b = 0; b < n_; ++b)
        if (loop.inside[b] != 0) needed.insert(program_.blocks[b].predicate);
    };
    for (std::uint32_t b = 0; b < n_; ++b) {
      if (loop.inside[b] == 0 ||
          std::ranges::all_of(next_[b], [&](std::uint32_t s) { return loop.inside[s] != 0; }))
        continue;
      needed.insert(program_.blocks[b].predicate);
      need_way_to(b);
    }
    for (std::size_t before = 0; before != needed.size();) {
      before = needed.size();
      for_ops(loop.inside, [&](const MicroOp& op, std::uint32_t b) {
        if (std::none_of(op.dst, op.dst + op.n_dst,
                         [&](std::uint32_t slot) { return needed.contains(slot); }))
          return;
        std::uint8_t& order = program_.ops[op.index].order;
        if (is_look(op) && (op.kind == OpKind::atomic || (order & kOnlyDecides) != 0 || !all.writes))
          order |= kWaits;
        for_ops(loop.inside, [&](const MicroOp& other, std::uint32_t) {
          if (op.src[0] != MicroOp::kNoSlot && writes(other, op.src[0])) order &= kOnlyDecides - 1;
        });
        needed.insert(std::begin(op.src), std::end(op.src));
        needed.insert(op.guard);
        need_way_to(b);
      });
      needed.erase(MicroOp::kNoSlot);
    }
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
