// SPDX-License-Identifier: MIT
// See special_registers.hpp.
#include "ptx/special_registers.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/words.hpp"

namespace course::ptx::detail {
namespace {

constexpr std::array<std::string_view, 8> kVectors = {
    "%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
};

constexpr std::string_view kScalars =
    "%laneid %warpid %nwarpid %smid %nsmid %gridid %is_explicit_cluster %cluster_ctarank "
    "%cluster_nctarank %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi "
    "%clock64 %globaltimer %globaltimer_lo %globaltimer_hi %reserved_smem_offset_begin "
    "%reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1 "
    "%total_smem_size %aggr_smem_size %dynamic_smem_size %current_graph_exec";

// A family of special registers such as "%envreg17": the prefix, a number below `count`, then `suffix`.
struct Family {
  std::string_view prefix;
  int count;
  std::string_view suffix;
};
constexpr std::array<Family, 3> kFamilies = {
    Family{"%envreg", 32, ""},
    Family{"%pm", 8, ""},
    Family{"%pm", 8, "_64"},
};

bool is_member(std::string_view name, const Family& family) {
  if (!name.starts_with(family.prefix) || !name.ends_with(family.suffix)) return false;
  name.remove_prefix(family.prefix.size());
  if (name.size() <= family.suffix.size()) return false;
  name.remove_suffix(family.suffix.size());
  if (name.size() > 2 || (name.size() == 2 && name.front() == '0')) return false;
  int number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + (c - '0');
  }
  return number < family.count;
}

}  // namespace

bool is_special_register(std::string_view name) {
  static const std::vector<std::string> kNames = words(kScalars);
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  std::string_view base = name;
  if (base.size() > 2 && base[base.size() - 2] == '.') {
    if (std::string_view("xyzwrgba").find(base.back()) == std::string_view::npos) return false;
    base.remove_suffix(2);
  }
  if (std::find(kVectors.begin(), kVectors.end(), base) != kVectors.end()) return true;
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](const Family& family) { return is_member(name, family); });
}

}  // namespace course::ptx::detail
