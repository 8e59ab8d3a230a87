// SPDX-License-Identifier: MIT
// Helpers of the PTX tests: parsing that must succeed or fail, and access to parts of the result.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "ptx/parser/parser.hpp"

namespace course::ptx::testing {

// Three lines, so that a test's own text starts on line 4.
inline constexpr std::string_view kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

// Register declarations for bodies, on the kernel's first line.
inline constexpr std::string_view kRegisters =
    ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 "
    "%fd<8>;";

inline Module parse_module(std::string_view text) {
  Result<Module> module = parse(std::string(kHeader) + std::string(text));
  if (!module) {
    ADD_FAILURE() << module.error().text << "\nin\n" << text;
    return {};
  }
  return std::move(*module);
}

// The text of a kernel with this body, which starts on line 7 if `before` has no line breaks.
inline std::string kernel_text(std::string_view body, std::string_view before = "") {
  std::string text(kHeader);
  text += before;
  text += "\n.visible .entry k(.param .u64 a, .param .u32 b)\n{ ";
  text += kRegisters;
  text += '\n';
  text += body;
  text += "\n}\n";
  return text;
}

// A module whose last function is a kernel `k(.param .u64 a, .param .u32 b)` with this body.
inline Module parse_kernel(std::string_view body, std::string_view before = "") {
  const std::string text = kernel_text(body, before);
  Result<Module> module = parse(text);
  if (!module) {
    ADD_FAILURE() << module.error().text << "\nin\n" << text;
    Module empty;
    empty.functions.resize(1);
    return empty;
  }
  return std::move(*module);
}

// Its kernel. The modules are kept, as functions refer to them.
inline const Function& kernel_of(std::string_view body, std::string_view before = "") {
  static std::deque<Module> modules;
  return modules.emplace_back(parse_kernel(body, before)).functions.back();
}

// The text of the error; "" and a test failure if the text parses.
inline std::string error_of(std::string_view text) {
  const Result<Module> module = parse(text);
  if (module) {
    ADD_FAILURE() << "no error in\n" << text;
    return {};
  }
  return module.error().text;
}

// The error in a module's text after kHeader, or in a kernel's body.
inline std::string module_error(std::string_view text) {
  return error_of(std::string(kHeader) + std::string(text));
}
inline std::string body_error(std::string_view body) {
  return error_of(kernel_text(body));
}

// A file of common/simulator/ptx/testdata.
inline std::string read_test_data(const std::string& name) {
  const char* folder = std::getenv("PTX_TESTDATA");
  std::ifstream file(std::string(folder == nullptr ? "common/simulator/ptx/testdata" : folder) + "/" + name,
                     std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name << ": set PTX_TESTDATA to common/simulator/ptx/testdata";
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline const Operand& operand(const Function& function, std::size_t instruction, std::size_t number) {
  return function.instructions.at(instruction).operands.at(number);
}

inline std::string register_name(const Function& function, std::int32_t index) {
  return function.registers.at(static_cast<std::size_t>(index)).name;
}

}  // namespace course::ptx::testing
