// SPDX-License-Identifier: MIT
#include "sim/decode/complete.hpp"

#include <algorithm>
#include <string>

#include "base/words.hpp"
#include "sim/decode/decoder.hpp"

namespace course::sim {
namespace {

using Words = std::vector<std::string>;

Words joined(std::initializer_list<Words> lists) {
  Words all;
  for (const Words& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Where a cache keeps a line changes no result, and the caches are modelled without such hints.
const Words kHints = words(
    "ca cg cs lu cv wb wt L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last "
    "L1::no_allocate L2::evict_normal L2::evict_first L2::evict_last L2::64B L2::128B L2::256B");
const Words kScopes = words("cta cluster gpu sys");
const Words kSpaces = words("global shared shared::cta local");
const Words kCompare = words("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz");
const Words kReads = joined({kHints, kScopes, kSpaces,
                             words("weak volatile relaxed acquire const param param::entry param::func nc v2 "
                                   "v4")});
const Words kWrites =
    joined({kHints, kScopes, kSpaces, words("weak volatile relaxed release param param::func v2 v4")});
const Words kUpdates =
    joined({kScopes, kSpaces,
            words("relaxed acquire release acq_rel add min max and or xor exch cas inc dec "
                  "noftz v2 v4 v8")});
const Words kBarrier = words("sync arrive red popc and or aligned cta warp");

}  // namespace

const std::map<std::string_view, std::vector<std::string>>& decoded_words() {
  static const std::map<std::string_view, Words> kWords = {
      {"activemask", {}},
      {"atom", kUpdates},
      {"bar", kBarrier},
      {"barrier", kBarrier},
      {"bra", {"uni"}},
      {"brx", {"idx", "uni"}},
      {"call", {"uni"}},
      {"cp", words("async commit_group wait_group wait_all ca cg shared shared::cta global L2::64B L2::128B "
                   "L2::256B bulk bulk_group mbarrier arrive noinc mbarrier::complete_tx::bytes "
                   "shared::cluster read")},
      {"cvta", joined({kSpaces, {"to", "const", "param", "param::entry"}})},
      {"elect", {"sync"}},
      {"exit", {}},
      {"fence", joined({kScopes, {"acq_rel", "sc"}})},
      // The race checker relies on where a kernel waits, see observation/subset.cpp.
      {"griddepcontrol", {"wait", "launch_dependents"}},
      {"isspacep", joined({kSpaces, {"const", "param", "param::entry"}})},
      {"ld", kReads},
      {"lop3", {"and", "or"}},
      {"mapa", {"shared::cluster"}},
      {"match", {"sync", "any", "all"}},
      {"mbarrier", words("init inval arrive arrive_drop noComplete expect_tx complete_tx test_wait try_wait "
                         "parity pending_count shared shared::cta shared::cluster cta cluster acquire "
                         "release relaxed")},
      {"membar", {"cta", "gl", "sys"}},
      {"mov", {}},
      {"nanosleep", {}},
      {"prefetch", {"global", "L1", "L2"}},
      {"prefetchu", {"L1"}},
      {"red", kUpdates},
      {"redux", {"sync", "add", "min", "max", "and", "or", "xor"}},
      {"ret", {"uni"}},
      {"set", kCompare},
      {"setp", kCompare},
      {"shfl", {"sync", "up", "down", "bfly", "idx"}},
      {"st", joined({kWrites, {"shared::cluster"}})},
      {"trap", {}},
      {"vote", {"sync", "all", "any", "uni", "ballot"}},
  };
  return kWords;
}

std::string_view left_out(const ptx::Instruction& instruction, const OpTable& table) {
  const auto decoded = decoded_words().find(instruction.opcode);
  if (decoded == decoded_words().end()) {
    std::string key(instruction.opcode);
    for (const std::string_view modifier : instruction.modifiers)
      if (modifier != "rn") key += "." + std::string(modifier);
    // Either spelling may be the row's.
    return table.find(key) != nullptr || table.find(instruction.full_opcode()) != nullptr
               ? ""
               : instruction.opcode;
  }
  for (const std::string_view modifier : instruction.modifiers) {
    const bool is_type = std::ranges::any_of(instruction.types,
                                             [&](ptx::Type type) { return ptx::spelling(type) == modifier; });
    if (!is_type && std::ranges::find(decoded->second, modifier) == decoded->second.end()) return modifier;
  }
  return "";
}

}  // namespace course::sim
