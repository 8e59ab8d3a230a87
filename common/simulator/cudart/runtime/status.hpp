// SPDX-License-Identifier: MIT
// Status: what a CUDA call returns, with a message for the person who made the call. status.cpp looks up the
// names and texts of errors, and has the only function that writes to stderr.
// Invariant: every line that this library prints on stderr starts with "simulator: ", and SIM_QUIET=1
// suppresses all of them, except the reason why no device can be created.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "cudart/cuda_abi.h"

namespace course::cudart {

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(cudaError_t code) : code_(code) {}
  Status(cudaError_t code, std::string text) : code_(code), text_(std::move(text)) {}

  bool ok() const { return code_ == cudaSuccess; }
  cudaError_t code() const { return code_; }
  const std::string& text() const { return text_; }
  // The kind of the finding that the host's checker makes of it.
  const char* kind() const { return kind_; }
  Status as(const char* kind) && {
    kind_ = kind;
    return std::move(*this);
  }
  // The demangled name of the kernel that was not launched, or "".
  const std::string& kernel() const { return kernel_; }
  Status of_kernel(std::string name) && {
    kernel_ = std::move(name);
    return std::move(*this);
  }

 private:
  cudaError_t code_ = cudaSuccess;
  std::string text_, kernel_;
  const char* kind_ = "api-error";
};

template <typename... Arguments>
Status fail(cudaError_t code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return {code, fmt::format(format, std::forward<Arguments>(arguments)...)};
}

// "cudaErrorInvalidValue" and "invalid argument"; for an unknown code "unrecognized error code".
const char* error_name(int code);
const char* error_string(int code);

// The CUDA name of an exported function, without the suffix of its version: "cudaMemcpy" for
// cudaMemcpy_ptds, "cudaMemAdvise" for cudaMemAdvise_v2.
std::string name_of_call(std::string_view function);

// Prints "simulator: <text>" on stderr in one write, wrapped if the number of columns is known, unless
// suppressed by silence(true). Thread-safe.
void say(std::string_view text);
// The same with at most four lines of 100 columns, for a finding.
void say_briefly(std::string_view text);
void silence(bool quiet);

}  // namespace course::cudart
