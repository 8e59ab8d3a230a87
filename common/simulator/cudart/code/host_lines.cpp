// SPDX-License-Identifier: MIT
// Reading order: line_of_code, LineUnit::find (the line program), LineUnit::read_header.
#include "cudart/code/host_lines.hpp"

#include <elf.h>

#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cudart/code/program_file.hpp"
#include "sim/authors_files.hpp"

namespace course::cudart {
namespace {

using Bytes = std::span<const std::byte>;

// Reads values in sequence. After the end every value is 0 and ok() is false.
class Reader {
 public:
  explicit Reader(Bytes bytes) : left_(bytes) {}
  bool ok() const { return ok_; }
  bool done() const { return left_.empty(); }
  Bytes take(std::uint64_t n) {
    if (n > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    const Bytes bytes = left_.first(n);
    left_ = left_.subspan(n);
    return bytes;
  }
  template <typename T>
  T get() {
    T value{};
    if (const Bytes bytes = take(sizeof value); !bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = get<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80u) == 0) return value;
    }
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = get<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80u) != 0) continue;
      if (shift < 64 && (byte & 0x40u) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  std::string_view text() {
    const auto* start = reinterpret_cast<const char*>(left_.data());
    const std::size_t length = left_.empty() ? 0 : strnlen(start, left_.size());
    take(length + 1);
    return ok_ ? std::string_view(start, length) : std::string_view();
  }

 private:
  Bytes left_;
  bool ok_ = true;
};

std::string_view text_at(Bytes section, std::uint64_t offset) {
  return offset < section.size() ? Reader(section.subspan(offset)).text() : std::string_view();
}

struct Sections {
  Bytes line, line_text, text;
};

struct Entry {
  std::string_view path;
  std::uint64_t folder = 0;
};

// One compilation unit's lines.
class LineUnit {
 public:
  LineUnit(const Sections& sections, Bytes unit) : sections_(sections), in_(unit) {}

  // The file and line of the instruction at `address`, in a function that begins at `begin` (0: not known);
  // std::nullopt if it is not of this unit. Code that was inlined from a header of the system has the line of
  // the author's code before it: so calls of memcpy that a C library checks (_FORTIFY_SOURCE) have theirs.
  std::optional<std::pair<std::string, std::uint32_t>> find(std::uint64_t address, std::uint64_t begin) {
    if (!read_header()) return std::nullopt;
    struct Row {
      std::uint64_t address = 0, file = 1;
      std::int64_t line = 1;
    };
    Row row, before;
    std::optional<Row> of_author;  // the last one of the function
    bool has_before = false, discarded = false;
    // Rows of a sequence have rising addresses: each one is valid up to the next. The linker gives functions
    // that it has discarded the address 0.
    const auto is_found = [&] {
      const bool found = has_before && before.address <= address && address < row.address;
      if (!has_before) discarded = row.address == 0;
      if (begin != 0 && begin <= row.address && row.address <= address && is_authors(row.file))
        of_author = row;
      before = row;
      has_before = true;
      return found && !discarded;
    };
    const auto answer = [&](const Row& found) {
      const Row& shown = of_author && !is_authors(found.file) ? *of_author : found;
      return place(shown.file, shown.line);
    };
    while (in_.ok() && !in_.done()) {
      const Row found = before;
      const auto op = in_.get<std::uint8_t>();
      const auto advance = [&](std::uint64_t by) { row.address += by / line_range_ * instruction_bytes_; };
      if (op >= opcode_base_) {
        const unsigned by = op - opcode_base_;
        advance(by);
        row.line += line_base_ + static_cast<int>(by % line_range_);
        if (is_found()) return answer(found);
        continue;
      }
      switch (op) {
        case 0: {  // extended
          Reader body(in_.take(in_.uleb()));
          const auto what = body.get<std::uint8_t>();
          if (what == 1) {  // the end of a sequence
            if (is_found()) return answer(found);
            row = {};
            has_before = false;
          } else if (what == 2) {
            row.address = body.get<std::uint64_t>();
          }
          break;
        }
        case 1:
          if (is_found()) return answer(found);
          break;
        case 2: row.address += in_.uleb() * instruction_bytes_; break;
        case 3: row.line += in_.sleb(); break;
        case 4: row.file = in_.uleb(); break;
        case 8: advance(255u - opcode_base_); break;
        case 9: row.address += in_.get<std::uint16_t>(); break;
        default:
          for (std::uint8_t i = 0; i < lengths_[op - 1u]; ++i) in_.uleb();
      }
    }
    return std::nullopt;
  }

 private:
  bool read_header() {
    version_ = in_.get<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return false;
    if (version_ == 5) in_.get<std::uint16_t>();  // sizes of addresses and segment selectors
    const auto header_bytes = in_.get<std::uint32_t>();
    Reader header(in_.take(header_bytes));
    instruction_bytes_ = header.get<std::uint8_t>();
    if (version_ >= 4) header.get<std::uint8_t>();
    header.get<std::uint8_t>();
    line_base_ = header.get<std::int8_t>();
    line_range_ = header.get<std::uint8_t>();
    opcode_base_ = header.get<std::uint8_t>();
    if (!header.ok() || line_range_ == 0 || opcode_base_ < 10) return false;
    for (unsigned i = 1; i < opcode_base_; ++i) lengths_.push_back(header.get<std::uint8_t>());
    if (version_ == 5) return read_entries(header, folders_) && read_entries(header, files_);
    folders_.push_back({});  // the compiler's working folder, which is not recorded here
    for (auto text = header.text(); !text.empty(); text = header.text()) folders_.push_back({text, 0});
    files_.push_back({});  // the first one has number 1
    for (auto text = header.text(); !text.empty(); text = header.text()) {
      files_.push_back({text, header.uleb()});
      header.uleb();
      header.uleb();
    }
    return header.ok();
  }

  bool read_entries(Reader& header, std::vector<Entry>& entries) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> format(header.get<std::uint8_t>());
    for (auto& [content, form] : format) {
      content = header.uleb();
      form = header.uleb();
    }
    for (auto n = header.uleb(); n > 0 && header.ok(); --n) {
      Entry& entry = entries.emplace_back();
      for (const auto& [content, form] : format) {
        constexpr std::uint64_t kPath = 1, kFolder = 2;
        std::uint64_t number = 0;
        std::string_view text;
        switch (form) {
          case 0x08: text = header.text(); break;                                              // string
          case 0x0e: text = text_at(sections_.text, header.get<std::uint32_t>()); break;       // strp
          case 0x1f: text = text_at(sections_.line_text, header.get<std::uint32_t>()); break;  // line_strp
          case 0x0b: number = header.get<std::uint8_t>(); break;
          case 0x05: number = header.get<std::uint16_t>(); break;
          case 0x06: number = header.get<std::uint32_t>(); break;
          case 0x07: number = header.get<std::uint64_t>(); break;
          case 0x0f: number = header.uleb(); break;
          case 0x1e: header.take(16); break;
          default: return false;
        }
        if (content == kPath) entry.path = text;
        if (content == kFolder) entry.folder = number;
      }
      if (format.empty()) return false;
    }
    return header.ok();
  }

  std::pair<std::string, std::uint32_t> place(std::uint64_t file, std::int64_t line) const {
    if (file >= files_.size() || line < 0 || line > 0xffffffff) return {};
    const Entry& entry = files_[file];
    std::string path(entry.path);
    const auto put_before = [&](std::uint64_t folder) {
      if (path.starts_with('/') || folder >= folders_.size() || folders_[folder].path.empty()) return;
      path = std::string(folders_[folder].path) + "/" + path;
    };
    put_before(entry.folder);
    put_before(0);
    return {path, static_cast<std::uint32_t>(line)};
  }

  bool is_authors(std::uint64_t file) {
    const auto [entry, fresh] = authors_.try_emplace(file);
    if (fresh) entry->second = sim::is_authors_file(place(file, 1).first);
    return entry->second;
  }

  const Sections& sections_;
  Reader in_;
  std::uint16_t version_ = 0;
  unsigned line_range_ = 1, opcode_base_ = 0;
  std::uint64_t instruction_bytes_ = 1;
  int line_base_ = 0;
  std::vector<std::uint8_t> lengths_;  // operands of the standard opcodes
  std::vector<Entry> folders_, files_;
  std::map<std::uint64_t, bool> authors_;  // by the number of the file
};

void find_function(Bytes elf, std::uint64_t address, HostLine& found) {
  const auto symbols = section_of(elf, ".symtab"), names = section_of(elf, ".strtab");
  if (!symbols || !names) return;
  Reader in(*symbols);
  while (!in.done()) {
    const auto symbol = in.get<Elf64_Sym>();
    if (!in.ok() || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value > address ||
        address - symbol.st_value >= symbol.st_size)
      continue;
    found.function = text_at(*names, symbol.st_name);
    found.begin = symbol.st_value;
    return;
  }
}

Bytes section(Bytes elf, std::string_view name) {
  const auto found = section_of(elf, name);
  return found ? *found : Bytes();
}

}  // namespace

HostLine line_of_code(Bytes elf, std::uint64_t address) {
  const Sections sections{section(elf, ".debug_line"), section(elf, ".debug_line_str"),
                          section(elf, ".debug_str")};
  HostLine found;
  find_function(elf, address, found);
  for (Reader units(sections.line); units.ok() && !units.done();) {
    const auto n_bytes = units.get<std::uint32_t>();
    if (n_bytes >= 0xfffffff0) break;  // the 64-bit format, which compilers choose for huge programs only
    if (const auto place = LineUnit(sections, units.take(n_bytes)).find(address, found.begin)) {
      found.file = place->first;
      found.line = place->second;
      break;
    }
  }
  return found;
}

}  // namespace course::cudart
