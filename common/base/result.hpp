// SPDX-License-Identifier: MIT
// Result<T>: a value or an Error. Used for failures that the caller can act on.
// Invariant: an Error's text says what was tried, what went wrong and, if known, how to fix it.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace course {

struct Error {
  std::string text;
};

// Holds a T or an Error. Test with `if (!r)`, then read `*r` or `r.error().text`.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  explicit operator bool() const { return !failed_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace course
