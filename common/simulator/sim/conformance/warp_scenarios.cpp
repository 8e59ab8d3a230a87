// SPDX-License-Identifier: MIT
// Exchange between lanes: shuffles, votes, matches, reductions, barriers, each with all lanes and with member
// masks.
#include "sim/conformance/format.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/rng.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;

// One warp instruction with per-lane operands a, b, c, executed by the lanes of `active`, each with a member
// mask.
struct Lane {
  std::uint32_t a, b, c, members;
};
struct Outcome {
  Word value = 0;
  bool predicate = false;
};
using Model = std::function<Outcome(const std::vector<Lane>&, std::uint32_t lane)>;

struct WarpOp {
  std::string row, ptx;  // in ptx: %d, %p, %a, %b, %c, %m; 64-bit: %d2, %a2
  Model model;
  int distinct = 32;       // number of different values of operand a
  bool needs_all = false;  // undefined on a GPU if it reads lanes outside the mask
  bool wide = false;
  int least_sm = 80;
};

Scenario scenario(const WarpOp& op, std::uint32_t active, const char* masks) {
  Scenario s{.name = fmt::format("{} lanes {:#x} {}", op.ptx, active, masks),
             .rows = {op.row},
             .any_order = !(op.needs_all && active != ~0u),
             .least_sm = op.least_sm};
  Rng rng(active + op.ptx.size());
  std::vector<Lane> lanes(32);
  const std::string how = masks;
  for (std::uint32_t i = 0; i < 32; ++i) {
    Lane& lane = lanes[i];
    lane.a = static_cast<std::uint32_t>(
        op.distinct >= 32 ? rng() : rng.below(static_cast<std::uint64_t>(op.distinct)));
    lane.b = static_cast<std::uint32_t>(rng.below(40));
    constexpr std::uint32_t kClamps[] = {0x1f, 0, 0x101f, 0x181f, 0x1c1f, 0x1e1f, 0x1000, 0x1800, 0x0f};
    lane.c = kClamps[rng.below(std::size(kClamps))];
    // All active lanes, or those of the lane's own half warp.
    lane.members = how == "together" ? active : active & (i < 16 ? 0x0000ffffu : 0xffff0000u);
    for (const std::uint32_t v : {lane.a, lane.b, lane.c, lane.members}) s.in.push_back(v);
  }
  std::string body =
      "  ld.global.u32 %a, [%in];\n  ld.global.u32 %b, [%in+8];\n  ld.global.u32 %c, [%in+16];\n  "
      "ld.global.u32 %m, [%in+24];\n"
      "  mul.wide.u32 %a2, %a, 0x10001;\n  and.b32 %t, %a, 1;\n  setp.eq.u32 %q, %t, 1;\n"
      "  mov.u32 %d, 77;\n  mov.u64 %d2, 77;\n  setp.ne.u32 %p, %t, %t;\n";
  body += fmt::format(
      "  mov.u32 %t, 0x{:x};\n  shr.u32 %t, %t, %lane;\n  and.b32 %t, %t, 1;\n  setp.eq.u32 %off, %t, 0;\n"
      "  @%off bra after;\n  {};\nafter:\n",
      active, op.ptx);
  body += "  selp.u32 %t, 1, 0, %p;\n  st.global.u32 [%out], %d;\n  st.global.u32 [%out+8], %t;\n";
  s.ptx = scenario_kernel(
      "  .reg .b32 %a, %b, %c, %d, %m, %t;\n  .reg .b64 %a2, %d2;\n  .reg .pred %p, %q, %off;\n", body, 4, 2);
  for (std::uint32_t i = 0; i < 32; ++i) {
    Outcome o{77, false};
    if ((active >> i & 1) != 0) {
      o = op.model(lanes, i);
      if (op.ptx.find("%d") == std::string::npos) o.value = 77;
    }
    s.out.push_back(o.value);
    s.out.push_back(o.predicate ? 1 : 0);
  }
  return s;
}

Outcome shuffled(const std::vector<Lane>& lanes, std::uint32_t lane, char mode) {
  const int i = static_cast<int>(lane), b = static_cast<int>(lanes[lane].b & 31);
  const int clamp = static_cast<int>(lanes[lane].c & 31), segment = static_cast<int>(lanes[lane].c >> 8 & 31);
  const int most = (i & segment) | (clamp & ~segment), least = i & segment;
  int j = 0;
  bool valid = false;
  switch (mode) {
    case 'u': j = i - b, valid = j >= most; break;
    case 'd': j = i + b, valid = j <= most; break;
    case 'b': j = i ^ b, valid = j <= most; break;
    default: j = least | (b & ~segment), valid = j <= most; break;
  }
  if (!valid) j = i;
  return {lanes[static_cast<std::size_t>(j)].a, valid};
}

// Reduces with `f` over the members of a lane's mask.
Word over_members(const std::vector<Lane>& lanes, std::uint32_t lane, Word start,
                  const std::function<Word(Word, const Lane&, std::uint32_t)>& f) {
  for (std::uint32_t k = 0; k < 32; ++k)
    if ((lanes[lane].members >> k & 1) != 0) start = f(start, lanes[k], k);
  return start;
}

void add_shuffles(std::vector<WarpOp>& all) {
  for (const auto& [mode, name] :
       {std::pair('u', "up"), std::pair('d', "down"), std::pair('b', "bfly"), std::pair('i', "idx")}) {
    const auto model = [m = mode](const std::vector<Lane>& l, std::uint32_t i) { return shuffled(l, i, m); };
    all.push_back({fmt::format("shfl.{}", name), fmt::format("shfl.sync.{}.b32 %d|%p, %a, %b, %c, %m", name),
                   model, 32, true});
    all.push_back({fmt::format("shfl.{}", name), fmt::format("shfl.sync.{}.b32 %d, %a, %b, %c, %m", name),
                   [=](const std::vector<Lane>& l, std::uint32_t i) {
                     return Outcome{model(l, i).value, false};
                   },
                   32, true});
  }
}

void add_votes_and_matches(std::vector<WarpOp>& all) {
  const auto set = [](const std::vector<Lane>& l, std::uint32_t i) {  // members with odd a
    return over_members(l, i, 0, [](Word w, const Lane& lane, std::uint32_t k) {
      return w | static_cast<Word>(lane.a & 1) << k;
    });
  };
  // With 1 value all predicates are false; with 2 they differ.
  for (const int distinct : {1, 2}) {
    const auto vote = [&](const std::string& mode, const char* predicate, auto holds) {
      all.push_back({"vote." + mode, fmt::format("vote.sync.{}.pred %p, {}, %m", mode, predicate),
                     [=](const std::vector<Lane>& l, std::uint32_t i) {
                       return Outcome{0, holds(set(l, i), l[i].members)};
                     },
                     distinct});
    };
    vote("all", "%q", [](Word odd, Word members) { return odd == members; });
    vote("all", "!%q", [](Word odd, Word) { return odd == 0; });
    vote("any", "%q", [](Word odd, Word) { return odd != 0; });
    vote("uni", "%q", [](Word odd, Word members) { return odd == 0 || odd == members; });
    all.push_back({"vote.ballot", "vote.sync.ballot.b32 %d, %q, %m",
                   [=](const std::vector<Lane>& l, std::uint32_t i) {
                     return Outcome{set(l, i), false};
                   },
                   distinct});
    for (const bool wide : {false, true}) {
      const auto equal = [](const std::vector<Lane>& l, std::uint32_t i) {
        return over_members(l, i, 0, [&](Word w, const Lane& lane, std::uint32_t k) {
          return w | static_cast<Word>(lane.a == l[i].a) << k;
        });
      };
      const char* bits = wide ? "64" : "32";
      const char* a = wide ? "%a2" : "%a";
      all.push_back({fmt::format("match.any.b{}", bits),
                     fmt::format("match.any.sync.b{} %d, {}, %m", bits, a),
                     [=](const std::vector<Lane>& l, std::uint32_t i) {
                       return Outcome{equal(l, i), false};
                     },
                     distinct * 3 - 2});
      all.push_back({fmt::format("match.all.b{}", bits),
                     fmt::format("match.all.sync.b{} %d|%p, {}, %m", bits, a),
                     [=](const std::vector<Lane>& l, std::uint32_t i) {
                       const bool same = equal(l, i) == l[i].members;
                       return Outcome{same ? l[i].members : 0, same};
                     },
                     distinct});
    }
  }
}

void add_reductions(std::vector<WarpOp>& all) {
  const auto reduce = [&](const char* op, const char* type, Word start,
                          const std::function<Word(Word, Word)>& f) {
    all.push_back({fmt::format("redux.{}.{}", op, type), fmt::format("redux.sync.{}.{} %d, %a, %m", op, type),
                   [=](const std::vector<Lane>& l, std::uint32_t i) {
                     return Outcome{over_members(l, i, start,
                                                 [&](Word w, const Lane& lane, std::uint32_t) {
                                                   return f(w, lane.a) & 0xffffffff;
                                                 }),
                                    false};
                   }});
  };
  const auto number = [](Word w) { return static_cast<std::int32_t>(w); };
  reduce("add", "u32", 0, [](Word x, Word y) { return x + y; });
  reduce("add", "s32", 0, [](Word x, Word y) { return x + y; });
  reduce("min", "u32", 0xffffffff, [](Word x, Word y) { return std::min(x, y); });
  reduce("max", "u32", 0, [](Word x, Word y) { return std::max(x, y); });
  reduce("min", "s32", 0x7fffffff, [=](Word x, Word y) { return number(x) < number(y) ? x : y; });
  reduce("max", "s32", 0x80000000, [=](Word x, Word y) { return number(x) < number(y) ? y : x; });
  reduce("and", "b32", 0xffffffff, [](Word x, Word y) { return x & y; });
  reduce("or", "b32", 0, [](Word x, Word y) { return x | y; });
  reduce("xor", "b32", 0, [](Word x, Word y) { return x ^ y; });
}

std::vector<WarpOp> operations() {
  std::vector<WarpOp> all;
  add_shuffles(all);
  add_votes_and_matches(all);
  add_reductions(all);
  all.push_back({"elect", "elect.sync %d|%p, %m",
                 [](const std::vector<Lane>& l, std::uint32_t i) {
                   const auto leader = static_cast<std::uint32_t>(std::countr_zero(l[i].members));
                   return Outcome{leader, leader == i};
                 },
                 32, false, false, 90});
  return all;
}

Scenario active_lanes() {
  Scenario s{.name = "activemask", .rows = {"activemask"}};
  s.ptx = scenario_kernel(
      "  .reg .b32 %d, %t;\n  .reg .pred %p;\n",
      "  activemask.b32 %d;\n  st.global.u32 [%out], %d;\n  and.b32 %t, %lane, 3;\n  setp.eq.u32 %p, %t, 0;\n"
      "  mov.u32 %d, 0;\n  @!%p bra after;\n  activemask.b32 %d;\nafter:\n  st.global.u32 [%out+8], %d;\n",
      0, 2);
  s.threads = 40;
  s.in = {0};
  for (std::uint32_t i = 0; i < 40; ++i) {
    s.out.push_back(i < 32 ? 0xffffffff : 0xff);
    s.out.push_back(i % 4 != 0 ? 0 : i < 32 ? 0x11111111 : 0x11);
  }
  s.any_order = false;  // a GPU may execute the lanes of an arm one after the other
  return s;
}

// Votes of all threads of two warps; named barriers; a warp barrier and fences between stores and loads of
// shared memory.
Scenario barriers() {
  Scenario s{
      .name = "barriers",
      .rows = {"barrier", "barrier.red.and", "barrier.red.or", "barrier.red.popc", "warp_barrier", "fence"},
      .threads = 64};
  std::string body =
      "  ld.global.u32 %a, [%in];\n  setp.ne.u32 %p, %a, 0;\n"
      "  barrier.cta.red.popc.u32 %d, 0, %p;\n  st.global.u32 [%out], %d;\n"
      "  bar.red.and.pred %q, 1, !%p;\n  selp.u32 %d, 1, 0, %q;\n  st.global.u32 [%out+8], %d;\n"
      "  bar.red.or.pred %q, 2, 64, %p;\n  selp.u32 %d, 1, 0, %q;\n  st.global.u32 [%out+16], %d;\n"
      "  mov.u64 %s, cells;\n  mul.wide.u32 %t, %i, 4;\n  add.u64 %s, %s, %t;\n  st.shared.u32 [%s], %a;\n"
      "  fence.acq_rel.cta;\n  membar.cta;\n  bar.warp.sync 0xffffffff;\n"
      "  mov.u64 %s, cells;\n  xor.b32 %b, %i, 1;\n  mul.wide.u32 %t, %b, 4;\n  add.u64 %s, %s, %t;\n  "
      "ld.shared.u32 %d, [%s];\n"
      "  st.global.u32 [%out+24], %d;\n"
      "  barrier.cta.sync 3, 64;\n  mov.u64 %s, cells;\n  sub.u32 %b, 63, %i;\n  mul.wide.u32 %t, %b, 4;\n  "
      "add.u64 %s, %s, %t;\n"
      "  ld.shared.u32 %d, [%s];\n  st.global.u32 [%out+32], %d;\n  setp.lt.u32 %p, %a, 64;\n"
      "  bar.red.and.pred %q, 1, %p;\n  selp.u32 %d, 1, 0, %q;\n  st.global.u32 [%out+40], %d;\n"
      "  bar.red.or.pred %q, 1, !%p;\n  selp.u32 %d, 1, 0, %q;\n  st.global.u32 [%out+48], %d;\n";
  s.ptx = scenario_kernel(
      "  .reg .b32 %a, %b, %d;\n  .reg .b64 %s, %t;\n  .reg .pred %p, %q;\n  .shared .align 4 .b8 "
      "cells[256];\n",
      body, 1, 7);
  for (std::uint32_t i = 0; i < 64; ++i) s.in.push_back(i % 5 == 0 ? i : 0);  // thread 0 also has 0
  for (std::uint32_t i = 0; i < 64; ++i)
    for (const Word w : {Word{12}, Word{0}, Word{1}, s.in[i ^ 1], s.in[63 - i], Word{1}, Word{0}})
      s.out.push_back(w);
  return s;
}

}  // namespace

std::vector<Scenario> warp_scenarios() {
  std::vector<Scenario> all;
  for (const WarpOp& op : operations())
    for (const std::uint32_t active : {~0u, 0x0f35a0c1u})
      for (const char* masks : {"together", "by halves"}) all.push_back(scenario(op, active, masks));
  all.push_back(active_lanes());
  all.push_back(barriers());
  return all;
}

}  // namespace course::sim
