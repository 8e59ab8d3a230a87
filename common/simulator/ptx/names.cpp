// SPDX-License-Identifier: MIT
// See names.hpp.
#include "ptx/names.hpp"

#include <algorithm>
#include <cstring>

namespace course::ptx::detail {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 16;

// A hash like FNV-1a, over eight bytes at a time and with a final mix, because names are short and differ in
// their last digits.
std::uint32_t hash_of(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = text.size() * kPrime;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 29;
  }
  std::uint64_t word = 0;
  if (left != 0) std::memcpy(&word, at, left);
  hash = (hash ^ word) * kPrime;
  hash ^= hash >> 32;
  return static_cast<std::uint32_t>(hash);
}

}  // namespace

std::string_view Arena::keep(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > left_) {
    const std::size_t bytes = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique<char[]>(bytes));
    free_ = chunks_.back().get();
    left_ = bytes;
  }
  char* at = free_;
  std::memcpy(at, text.data(), text.size());
  free_ += text.size();
  left_ -= text.size();
  return {at, text.size()};
}

std::size_t NameTable::slot_of(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].id != kNoName && !(slots_[slot].hash == hash && names_[slots_[slot].id] == name)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

NameId NameTable::find(std::string_view name) const {
  return slots_[slot_of(name, hash_of(name))].id;
}

NameId NameTable::intern(std::string_view name) {
  const std::uint32_t hash = hash_of(name);
  const std::size_t slot = slot_of(name, hash);
  if (slots_[slot].id != kNoName) return slots_[slot].id;
  const auto id = static_cast<NameId>(names_.size());
  names_.push_back(arena_.keep(name));
  slots_[slot] = {hash, id};
  if (names_.size() * 2 > slots_.size()) grow();
  return id;
}

void NameTable::grow() {
  std::vector<Slot> old = std::move(slots_);
  slots_.assign(old.size() * 2, Slot{});
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.id == kNoName) continue;
    std::size_t slot = entry.hash & mask;
    while (slots_[slot].id != kNoName) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

}  // namespace course::ptx::detail
