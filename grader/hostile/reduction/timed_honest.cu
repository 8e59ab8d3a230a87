// SPDX-License-Identifier: MIT
// about: A right reduction, with which the others are compared.
// task: coarsened
// verdict: OK
#include "runs_right.cuh"
