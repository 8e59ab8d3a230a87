// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/shadow_memory.hpp"

namespace course::sim::race {

void ShadowMemory::clear() {
  for (Reserved<Cell>* cells : {&written_, &read_, &line_written_, &line_read_}) cells->clear();
  byte_pages_.clear();
}

void ShadowMemory::release(std::uint64_t address, std::uint64_t n_bytes) {
  const std::uint64_t first = address - arena_.base();
  for (Reserved<Cell>* cells : {&written_, &read_}) cells->drop((first + 3) / 4, n_bytes / 4);
  for (Reserved<Cell>* cells : {&line_written_, &line_read_})
    cells->drop((first + kLineBytes - 1) / kLineBytes, n_bytes / kLineBytes);
  std::erase_if(byte_pages_, [&](const auto& page) {
    return page.first * kPage >= first && (page.first + 1) * kPage <= first + n_bytes;
  });
}

Cell* ShadowMemory::bytes_of(std::uint64_t word) {
  std::vector<Cell>& page = byte_pages_[word * 4 / kPage];
  page.resize(kPage * 2);
  return page.data() + word * 8 % (kPage * 2);
}

bool ShadowMemory::has_touched(std::uint64_t line, const AccessRecords& records) const {
  const Cell limit = records.first() << kLaneBits;
  return line_written_.data()[line] >= limit || line_read_.data()[line] >= limit;
}

ShadowMemory::Traces ShadowMemory::traces(std::uint64_t line, std::uint64_t word,
                                          const AccessRecords& records) const {
  const Cell limit = records.first() << kLaneBits;
  const Cell line_written = line_written_.data()[line];
  if (line_written < limit || (line_written & kLaneMask) != kOpen)
    return {line_written >= limit, line_read_.data()[line] >= limit};
  const Cell written = written_.data()[word];
  const bool bytes = written >= limit && records[written >> kLaneBits].kind == Record::bytes;
  return {written >= limit, bytes || read_.data()[word] >= limit};  // for all bytes of the word
}

}  // namespace course::sim::race
