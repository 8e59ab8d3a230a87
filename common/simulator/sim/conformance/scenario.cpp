// SPDX-License-Identifier: MIT
#include "sim/conformance/scenario.hpp"

#include "sim/conformance/format.hpp"

namespace course::sim {

std::string scenario_kernel(const std::string& declarations, const std::string& body, int in_words,
                            int out_words) {
  return fmt::format(
      "{}.visible .entry k(.param .u64 in, .param .u64 out)\n{{\n"
      "  .reg .b32 %i, %lane, %i0, %i1;\n  .reg .b64 %in, %out, %base, %w0;\n{}"
      "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.b64 %base, %in;\n"
      "  mov.u32 %i, %tid.x;\n  mov.u32 %i0, %ctaid.x;\n  mov.u32 %i1, %ntid.x;\n  mad.lo.u32 %i, %i0, %i1, "
      "%i;\n"
      "  mov.u32 %lane, %laneid;\n"
      "  mul.wide.u32 %w0, %i, {};\n  add.u64 %in, %in, %w0;\n  mul.wide.u32 %w0, %i, {};\n  add.u64 %out, "
      "%out, %w0;\n"
      "{}  ret;\n}}\n",
      declarations.starts_with(".") ? declarations.substr(0, declarations.find("---")) : "",
      declarations.starts_with(".") ? declarations.substr(declarations.find("---") + 3) : declarations,
      8 * in_words, 8 * out_words, body);
}

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  for (auto& family : {memory_scenarios(), atomic_scenarios(), warp_scenarios(), carry_scenarios(),
                       form_scenarios(), async_scenarios(), mma_scenarios(), wmma_scenarios(),
                       ldmatrix_scenarios(), texture_scenarios(), cluster_scenarios()})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace course::sim
