#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the best instruction set of this machine that the simulator knows: avx512, avx2 or portable. Sourced (by `lab`), it
# only defines host_isa. The simulator itself looks once more when it starts (common/simulator/sim/engine.cpp).
# shellcheck shell=bash
host_isa() {
  local flags
  flags=" $(grep -m 1 '^flags' "${CPUINFO-/proc/cpuinfo}" 2>/dev/null) "
  has() {
    local flag
    for flag; do [[ $flags = *" $flag "* ]] || return 1; done
  }
  if ! has avx2 fma bmi1 bmi2 abm popcnt f16c; then
    printf 'portable\n'
  elif has avx512f avx512dq avx512vl avx512bw avx512cd; then
    printf 'avx512\n'
  else
    printf 'avx2\n'
  fi
}
[[ ${BASH_SOURCE[0]} != "$0" ]] || host_isa
