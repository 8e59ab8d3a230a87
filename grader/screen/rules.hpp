// SPDX-License-Identifier: MIT
// The tables for screening: which names a lab's code may import, which it may define, and why others are
// refused.
#pragma once

#include <string_view>

namespace course::grader::screen {

// Why a name is refused (a clause), and the section of handouts/rules.md that explains it.
struct Reason {
  const char* why;
  const char* anchor;
};
inline constexpr Reason kAlgorithm{"is a finished algorithm of a library; the lab is to write it",
                                   "libraries"};
inline constexpr Reason kSection{"is a section that the compiler does not make by itself", "definitions"};
inline constexpr Reason kTooMuch{"is more than a lab's file can have", "definitions"};
inline constexpr Reason kBeforeMain{
    "runs before main or after it: a global object with a constructor, #include <iostream>, or an attribute",
    "definitions"};
// For a name that is in no table.
inline constexpr Reason kUnknown{"is not among what a lab's host code may call", "host"};

// nullptr if the name may be imported. Labs for several devices may also choose the device, copy between host
// and device, and call NCCL, but may not make communicators.
const Reason* reason_against_import(std::string_view name, bool several_devices = false);
// nullptr if the file of this lab may define the name so that other objects see it.
const Reason* reason_against_definition(std::string_view name, bool weak, std::string_view lab);
// Whether a mangled name, or a source path, belongs to CUB or Thrust.
bool names_a_finished_algorithm(std::string_view symbol);
bool is_a_source_of_finished_algorithms(std::string_view path);
// Whether compilers emit a section of this name.
bool is_usual_section(std::string_view name);
// Whether the constructor is the one that nvcc generates to register kernels.
bool is_registration(std::string_view constructor);

}  // namespace course::grader::screen
