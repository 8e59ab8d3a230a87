// SPDX-License-Identifier: MIT
#include "sim/footprint.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace course::sim {
namespace {

constexpr std::uint64_t kWordBits = 64;
constexpr std::uint64_t kRecent = 8192;  // bitmaps in the cache, each for one page and use

// Calls visit(page, first, count) for the part of a range in each page, in bytes from the page's start.
template <typename Visit>
void for_each_part(std::uint64_t address, std::uint64_t n_bytes, Visit&& visit) {
  while (n_bytes > 0) {
    const std::uint64_t first = address % kHostPage, count = std::min(kHostPage - first, n_bytes);
    visit(address / kHostPage, first, count);
    address += count;
    n_bytes -= count;
  }
}

// Calls visit(word, mask) for each 64-bit word of a bitmap that holds some of the bits [first, first +
// count).
template <typename Visit>
void for_each_word(std::uint64_t first, std::uint64_t count, Visit&& visit) {
  while (count > 0) {
    const std::uint64_t shift = first % kWordBits, n = std::min(kWordBits - shift, count);
    visit(first / kWordBits, (n == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << shift);
    first += n;
    count -= n;
  }
}

bool is_strong(Footprint::Use use) {
  return use != Footprint::kRead && use != Footprint::kWrite;
}
bool has_system_scope(Footprint::Use use) {
  return use == Footprint::kSystemRead || use == Footprint::kSystemWrite;
}
bool may_overlap(Footprint::Use a, Footprint::Use b, bool one_device) {
  const bool both_strong =
      one_device ? is_strong(a) && is_strong(b) : has_system_scope(a) && has_system_scope(b);
  return both_strong || (!Footprint::writes(a) && !Footprint::writes(b));
}

}  // namespace

Footprint::Bits& Footprint::bits_of(std::uint64_t page, Use use) {
  const std::uint64_t key = page * kUses + use;
  if (recent_.entries.empty()) recent_.entries.resize(kRecent);
  Recent::Entry& recent = recent_.entries[key % kRecent];
  if (recent.bits == nullptr || recent.key != key) recent = {key, &pages_[key]};
  return *recent.bits;
}

void Footprint::add(std::uint64_t address, std::uint64_t n_bytes, Use use) {
  for_each_part(address, n_bytes, [&](std::uint64_t page, std::uint64_t first, std::uint64_t n) {
    Bits& bits = bits_of(page, use);
    for_each_word(first, n, [&](std::uint64_t word, std::uint64_t mask) { bits[word] |= mask; });
  });
}

void Footprint::add(const Footprint& other) {
  for (const auto& [key, theirs] : other.pages_) {
    Bits& ours = pages_[key];
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] |= theirs[i];
  }
}

void Footprint::forget(std::uint64_t address, std::uint64_t n_bytes) {
  if (empty()) return;
  for_each_part(address, n_bytes, [&](std::uint64_t page, std::uint64_t first, std::uint64_t n) {
    for (std::uint64_t use = 0; use < kUses; ++use) {
      const auto found = pages_.find(page * kUses + use);
      if (found == pages_.end()) continue;
      for_each_word(first, n, [&](std::uint64_t word, std::uint64_t mask) { found->second[word] &= ~mask; });
    }
  });
}

std::optional<Footprint::Conflict> Footprint::conflict_with(const Footprint& second, bool one_device) const {
  if (pages_.size() > second.pages_.size()) {
    std::optional<Conflict> found = second.conflict_with(*this, one_device);
    if (found) std::swap(found->first_writes, found->second_writes);
    return found;
  }
  Conflict conflict;
  std::map<std::uint64_t, Bits> bytes;  // by page
  for (const auto& [key, ours] : pages_) {
    const auto use = static_cast<Use>(key % kUses);
    for (int other = 0; other < kUses; ++other) {
      if (may_overlap(use, static_cast<Use>(other), one_device)) continue;
      const auto theirs = second.pages_.find(key - use + static_cast<std::uint64_t>(other));
      if (theirs == second.pages_.end()) continue;
      for (std::size_t i = 0; i < ours.size(); ++i) {
        const std::uint64_t both = ours[i] & theirs->second[i];
        if (both == 0) continue;
        bytes[key / kUses][i] |= both;
        conflict.first_writes = conflict.first_writes || Footprint::writes(use);
        conflict.second_writes = conflict.second_writes || Footprint::writes(static_cast<Use>(other));
        conflict.only_scope = conflict.only_scope && is_strong(use) && is_strong(static_cast<Use>(other));
      }
    }
  }
  for (const auto& [page, bits] : bytes)
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (conflict.n_bytes == 0 && bits[i] != 0)
        conflict.address =
            page * kHostPage + i * kWordBits + static_cast<std::uint64_t>(std::countr_zero(bits[i]));
      conflict.n_bytes += static_cast<std::uint64_t>(std::popcount(bits[i]));
    }
  if (conflict.n_bytes == 0) return std::nullopt;
  return conflict;
}

std::optional<ByteRange> Footprint::written(std::uint64_t address, std::uint64_t n_bytes) const {
  std::uint64_t first = ~std::uint64_t{0}, last = 0;
  for (const Use use : {kWrite, kStrongWrite, kSystemWrite})
    for_each_part(address, n_bytes, [&](std::uint64_t page, std::uint64_t from, std::uint64_t n) {
      const auto found = pages_.find(page * kUses + use);
      if (found == pages_.end()) return;
      for_each_word(from, n, [&](std::uint64_t word, std::uint64_t mask) {
        const std::uint64_t bits = found->second[word] & mask;
        if (bits == 0) return;
        const std::uint64_t start = page * kHostPage + word * kWordBits;
        first = std::min(first, start + static_cast<std::uint64_t>(std::countr_zero(bits)));
        last = std::max(last, start + kWordBits - 1 - static_cast<std::uint64_t>(std::countl_zero(bits)));
      });
    });
  if (first > last) return std::nullopt;
  return ByteRange{first, last - first + 1};
}

bool Footprint::uses(std::uint64_t address, std::uint64_t n_bytes, Use use) const {
  bool any = false;
  for_each_part(address, n_bytes, [&](std::uint64_t page, std::uint64_t first, std::uint64_t n) {
    const auto found = pages_.find(page * kUses + use);
    if (found == pages_.end()) return;
    for_each_word(first, n, [&](std::uint64_t word, std::uint64_t mask) {
      any = any || (found->second[word] & mask) != 0;
    });
  });
  return any;
}

}  // namespace course::sim
