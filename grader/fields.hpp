// SPDX-License-Identifier: MIT
// Readers of fields of the simulator's report. Texts are made safe to show (tame_line).
#pragma once

#include <string>

#include "text.hpp"
#include "verifier/report_fields.hpp"

namespace course::grader::fields {

using namespace lab::fields;  // NOLINT(google-build-using-namespace): these and one more

inline std::string string(const Json& object, const char* key) {
  return tame_line(lab::fields::text(object, key));
}

}  // namespace course::grader::fields
