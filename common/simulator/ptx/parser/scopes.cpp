// SPDX-License-Identifier: MIT
// See scopes.hpp.
#include "ptx/parser/scopes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/parser/lexer.hpp"

namespace course::ptx::detail {
namespace {

// Numbers with more digits exceed every range.
constexpr std::size_t kMaxDigits = 18;

}  // namespace

void Scopes::reserve(NameId id) {
  if (id < bindings_.size()) return;
  const std::size_t size = std::max<std::size_t>(names_.count(), bindings_.size() * 2);
  bindings_.resize(size);
  ranges_.resize(size);
  uses_.resize(size);
}

void Scopes::open() {
  ++depth_;
  if (log_.size() <= depth_) log_.emplace_back();
  log_[depth_].deepest_range = deepest_range_;
}

void Scopes::close() {
  Scope& scope = log_[depth_];
  // The order does not matter, because a scope logs each name once.
  for (const auto& undo : scope.bindings) bindings_[undo.id] = undo.previous;
  for (const auto& undo : scope.ranges) ranges_[undo.id] = undo.previous;
  scope.bindings.clear();
  scope.ranges.clear();
  deepest_range_ = scope.deepest_range;
  --depth_;
}

bool Scopes::bind(NameId id, Binding binding) {
  reserve(id);
  Binding& now = bindings_[id];
  if (now.kind != Binding::Kind::none && now.depth == depth_) return false;
  log_[depth_].bindings.push_back({id, now});
  binding.depth = depth_;
  if (depth_ == 0) uses_[id].module_wide = true;
  now = binding;
  return true;
}

bool Scopes::bind_range(NameId prefix, std::uint64_t count, Type type, std::uint8_t width) {
  reserve(prefix);
  Range& now = ranges_[prefix];
  if (now.count != 0 && now.depth == depth_) return false;
  log_[depth_].ranges.push_back({prefix, now});
  now = {count, type, width, depth_};
  deepest_range_ = depth_;
  return true;
}

const Scopes::Range* Scopes::range_of(NameId id) const {
  const std::string_view name = names_.text(id);
  std::size_t digits = 0;
  while (digits < name.size() && is_class(name[name.size() - 1 - digits], kDigit)) ++digits;
  // A prefix may end with a digit: `%r1<10>` declares %r10 to %r19. The innermost range counts.
  const Range* best = nullptr;
  std::uint64_t number = 0;
  std::uint64_t place_value = 1;
  for (std::size_t taken = 1; taken <= std::min(digits, kMaxDigits); ++taken) {
    const char digit = name[name.size() - taken];
    number += static_cast<std::uint64_t>(digit - '0') * place_value;
    place_value *= 10;
    if (digit == '0' && taken > 1) continue;  // %r07 is not %r7
    const NameId prefix = names_.find(name.substr(0, name.size() - taken));
    if (prefix == kNoName || prefix >= ranges_.size()) continue;
    const Range& range = ranges_[prefix];
    if (number < range.count && (best == nullptr || range.depth > best->depth)) best = &range;
  }
  return best;
}

Binding* Scopes::find(NameId id) {
  reserve(id);
  Binding& now = bindings_[id];
  if (now.kind != Binding::Kind::none && now.depth >= deepest_range_) return &now;
  const Range* range = range_of(id);
  if (range != nullptr && (now.kind == Binding::Kind::none || range->depth > now.depth)) {
    log_[range->depth].bindings.push_back({id, now});
    now = {Binding::Kind::reg, range->type, range->width, range->depth, -1, {}};
  }
  return now.kind == Binding::Kind::none ? nullptr : &now;
}

std::string_view Scopes::unique(NameId id, std::uint16_t depth) {
  reserve(id);
  // A name declared in a block must not hide a module-wide name in the rest of the flattened function.
  if (uses_[id].function != function_serial_) {
    if (depth < 2 || !uses_[id].module_wide) {
      uses_[id] = {function_serial_, 0, uses_[id].module_wide};
      return names_.text(id);
    }
    uses_[id] = {function_serial_, 0, true};
  }
  while (true) {
    const NameId other = names_.intern(fmt::format("{}${}", names_.text(id), ++uses_[id].suffix));
    reserve(other);
    if (uses_[other].function == function_serial_ || uses_[other].module_wide) continue;
    uses_[other].function = function_serial_;
    uses_[other].suffix = 0;
    return names_.text(other);
  }
}

}  // namespace course::ptx::detail
