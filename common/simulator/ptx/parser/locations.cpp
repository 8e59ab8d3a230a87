// SPDX-License-Identifier: MIT
// See locations.hpp.
#include "ptx/parser/locations.hpp"

#include <limits>

namespace course::ptx::detail {
namespace {

// Longer chains occur only if a location is repeatedly inlined at its own position.
constexpr std::uint16_t kMaxChain = 256;

constexpr std::uint64_t kMaxWord = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::size_t LocationTable::Hash::operator()(const Key& key) const {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = key.file;
  for (const std::uint64_t part :
       {std::uint64_t{key.line}, std::uint64_t{key.column}, std::uint64_t{key.name}, key.offset,
        static_cast<std::uint64_t>(key.inlined_at)}) {
    hash = (hash ^ part) * kPrime;
    hash ^= hash >> 32;
  }
  return hash;
}

LocationTable::Key LocationTable::parse_position(Lexer& lexer) {
  Key key{};
  key.file = static_cast<std::uint32_t>(lexer.expect_decimal("a file number", kMaxWord));
  key.line = static_cast<std::uint32_t>(lexer.expect_decimal("a line number", kMaxWord));
  key.column = static_cast<std::uint32_t>(lexer.expect_decimal("a column number", kMaxWord));
  return key;
}

std::int32_t LocationTable::add(const Key& key) {
  const auto [entry, is_new] = index_.try_emplace(key, static_cast<std::int32_t>(keys_.size()));
  if (is_new) {
    keys_.push_back(key);
    const std::int32_t parent = key.inlined_at;
    depths_.push_back(parent < 0 ? std::uint16_t{0}
                                 : static_cast<std::uint16_t>(depths_[static_cast<std::size_t>(parent)] + 1));
  }
  return entry->second;
}

std::int32_t LocationTable::call_site(const Key& position) {
  const auto seen = latest_.find(position);
  if (seen == latest_.end() || seen->second.function != function_serial_) return add(position);
  std::int32_t index = seen->second.index;
  while (depths_[static_cast<std::size_t>(index)] >= kMaxChain) {
    index = keys_[static_cast<std::size_t>(index)].inlined_at;
  }
  return index;
}

// Returns a location further up the chain with the same function, position and call site, if there is one:
// the same location after recursion that was inlined. Else returns `key`.
LocationTable::Key LocationTable::without_repetition(const Key& key, const Key& site) const {
  for (std::int32_t i = key.inlined_at; i >= 0;) {
    const Key& outer = keys_[static_cast<std::size_t>(i)];
    i = outer.inlined_at;
    const bool same = outer.file == key.file && outer.line == key.line && outer.column == key.column &&
                      outer.name == key.name && outer.offset == key.offset;
    if (!same || i < 0) continue;
    const Key& outer_site = keys_[static_cast<std::size_t>(i)];
    if (outer_site.file == site.file && outer_site.line == site.line && outer_site.column == site.column) {
      return outer;
    }
  }
  return key;
}

std::int32_t LocationTable::parse_loc(Lexer& lexer) {
  const Key position = parse_position(lexer);
  Key key = position;
  Key site{};
  while (lexer.accept(',')) {
    if (lexer.accept_word("function_name")) {
      key.name = names_.intern(lexer.expect_name("the label of the function's name"));
      if (lexer.accept('+')) {
        key.offset = lexer.expect_decimal("an offset", std::numeric_limits<std::uint64_t>::max());
      }
    } else if (lexer.accept_word("inlined_at")) {
      site = parse_position(lexer);
      key.inlined_at = call_site(site);
    } else {
      lexer.fail_expected("'function_name' or 'inlined_at'");
    }
  }
  const std::int32_t index = add(without_repetition(key, site));
  latest_[position] = {function_serial_, index};
  return index;
}

void LocationTable::parse_strings(Lexer& lexer) {
  lexer.expect('{', "that opens the section");
  while (!lexer.accept('}')) {
    if (lexer.accept('.')) {
      // `.b8 95, 90, 0`: strings have no wider elements; values are reduced to one byte.
      if (lexer.take_modifier_here().empty()) lexer.fail_expected("a type");
      do {
        const std::uint64_t value = lexer.expect_decimal("a byte", kMaxWord);
        strings_ += static_cast<char>(static_cast<unsigned char>(value & 0xFF));
      } while (lexer.accept(','));
    } else {
      const NameId label = names_.intern(lexer.expect_name("a label, '.b8' or '}'"));
      lexer.expect(':', "after a label");
      string_labels_[label] = strings_.size();
    }
  }
}

std::vector<Location> LocationTable::finish(Arena& arena) {
  strings_ += '\0';
  const std::string_view strings = arena.keep(strings_);
  std::vector<Location> locations;
  locations.reserve(keys_.size());
  for (const Key& key : keys_) {
    Location location{key.file, key.line, key.column, key.inlined_at, {}};
    const auto label = string_labels_.find(key.name);
    if (key.name != kNoName && label != string_labels_.end()) {
      const std::uint64_t start = label->second + key.offset;
      if (start < strings.size()) location.function = std::string_view(strings.data() + start);
    }
    locations.push_back(location);
  }
  return locations;
}

}  // namespace course::ptx::detail
