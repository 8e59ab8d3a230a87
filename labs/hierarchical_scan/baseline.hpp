// SPDX-License-Identifier: MIT
// Scans on the CPU: the baseline for speedups, which other labs use, too.
#pragma once

#include "hierarchical_scan/lab.hpp"
#include "lab/baselines.hpp"

namespace course::hierarchical_scan {

using lab::scan_one_thread;

}  // namespace course::hierarchical_scan
