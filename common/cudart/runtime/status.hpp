// SPDX-License-Identifier: MIT
// Status: what a CUDA call returns, with a sentence for the person who made the call. status.cpp holds the look-ups of
// names and texts and the one place that writes to stderr.
// Invariant: every line this library prints starts with "simulator: ", and SIM_QUIET=1 silences all of them.
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
  // What the host's checker calls it.
  const char* kind() const { return kind_; }
  Status as(const char* kind) && {
    kind_ = kind;
    return std::move(*this);
  }

 private:
  cudaError_t code_ = cudaSuccess;
  std::string text_;
  const char* kind_ = "api-error";
};

template <typename... Arguments>
Status fail(cudaError_t code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return {code, fmt::format(format, std::forward<Arguments>(arguments)...)};
}

// "cudaErrorInvalidValue" and "invalid argument"; "unrecognized error code" for a number that is none.
const char* error_name(int code);
const char* error_string(int code);

// Prints "simulator: <text>" on stderr, whole lines at once, unless silenced.
void say(std::string_view text);
void silence(bool quiet);

}  // namespace course::cudart
