// SPDX-License-Identifier: MIT
// The tables behind the screening: which names a lab's code may refer to, which it may define, and why others
// not.
#pragma once

#include <string_view>

namespace course::grader::screen {

// Why a name is refused, and where handouts/rules.md says so.
struct Reason {
  const char* why;
  const char* anchor;
};

// Nothing when the name may be imported.
const Reason* reason_against_import(std::string_view name);
// Nothing when the name may be defined, visible to other objects, in the file of this lab.
const Reason* reason_against_definition(std::string_view name, bool weak, std::string_view lab);
// Of NVIDIA's libraries of finished algorithms; names of any kind, paths of sources.
bool names_a_finished_algorithm(std::string_view symbol);
bool is_a_source_of_finished_algorithms(std::string_view path);
const Reason& finished_algorithm();
// Sections that compilers make.
bool is_usual_section(std::string_view name);
const Reason& unusual_section();
const Reason& runs_by_itself();
// Against a name that is merely not known.
const Reason& unknown_name();
// nvcc's own registration of kernels.
bool is_registration(std::string_view constructor);

}  // namespace course::grader::screen
