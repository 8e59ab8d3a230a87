// SPDX-License-Identifier: MIT
// about: Calls functions whose names would be gigabytes long in the source's form.
// screen: f: is not among what a lab
// expect: neighboured OK
#include "right.cuh"

#define LEVELS "1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI1PI"
#define AGAIN                                                                                                \
  "xSU_ESV_ESW_ESX_ESY_ESZ_ES10_ES11_ES12_ES13_ES14_ES15_ES16_ES17_ES18_ES19_ES1A_ES1B_ES1C_ES1D_ES1E_ES1F_" \
  "E"                                                                                                        \
  "S1G_ES1H_ES1I_ES1J_ES1K_ES1L_ES1M_ES1N_ES1O_E"
__attribute__((weak)) void far() asm("_Z1f" LEVELS AGAIN);
__attribute__((weak)) void farther() asm("_Z1g" LEVELS AGAIN);

namespace course::reduction {
Status run(const lab::Request& request) {
  if (&far != nullptr) far();
  if (&farther != nullptr) farther();
  return dispatch(request, [](const auto& job) { return hostile::right(job); });
}
}  // namespace course::reduction
