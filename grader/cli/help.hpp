// SPDX-License-Identifier: MIT
// The layout of --help: descriptions of options are wrapped at 80 columns.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "text.hpp"

namespace course::grader::cli {

constexpr std::size_t kHelpColumns = 80;

class HelpInColumns : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrap(CLI::Formatter::make_option_desc(option), kHelpColumns - get_column_width());
  }
};

}  // namespace course::grader::cli
