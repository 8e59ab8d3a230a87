// SPDX-License-Identifier: MIT
// A lab's operators, each with the item types that it is used with: a list in the lab's dispatch.hpp.
// Requests and cases have the operator and the type as numbers.
#pragma once

#include <type_traits>

#include "lab/operators.hpp"
#include "lab/workspace.hpp"

namespace course::lab {

// An operator with one item type; an affine map is one item.
template <auto Id, template <typename> typename Operator, typename T>
struct Offer {
  using Item = T;
  using Op = Operator<T>;
  static constexpr auto kId = Id;
  static constexpr DType kDType =
      dtype_of<std::conditional_t<std::is_same_v<Op, Affine<T>>, AffineMap<T>, T>>();
  static constexpr bool is(auto id, DType dtype) { return id == kId && dtype == kDType; }
};

template <typename First, typename... Others>
struct Offers {
  static constexpr bool has(auto id, DType dtype) {
    return First::is(id, dtype) || (Others::is(id, dtype) || ...);
  }

  // Calls f(item, op) with the types of the offer for (id, dtype), or of the last one if there is none.
  template <typename F>
  static decltype(auto) with(auto id, DType dtype, F f) {
    if constexpr (sizeof...(Others) > 0) {
      if (!First::is(id, dtype)) return Offers<Others...>::with(id, dtype, f);
    }
    return f(typename First::Item{}, typename First::Op{});
  }

  // The same for a request; without such an offer the answer is "unsupported".
  template <typename F>
  static Status answer(const Request& request, F f) {
    const auto id = static_cast<decltype(First::kId)>(request.op);
    return has(id, request.dtype) ? with(id, request.dtype, f) : Status::unsupported;
  }
};

}  // namespace course::lab
