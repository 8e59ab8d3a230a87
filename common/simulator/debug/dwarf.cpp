// SPDX-License-Identifier: MIT
// Reading order: read_sections (text to bytes), Reader::read (bytes to entries), then types and scopes. The
// reader knows those forms, tags and attributes that nvcc writes.
#include "debug/dwarf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/demangle.hpp"

namespace course::debug {
namespace {

struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// --- sections ----------------------------------------------------------------------------------------------

struct Section {
  std::string bytes;
  std::unordered_map<std::size_t, std::pair<std::string, std::uint64_t>> symbols;  // at, name, addend
};

using Sections = std::map<std::string, Section, std::less<>>;

// A number, or a symbol with an offset: "108", "$L__tmp1", ".debug_loc+64".
void add(Section& section, std::size_t width, const std::string& word) {
  std::uint64_t value = 0;
  if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '-') {
    value = std::strtoull(word.c_str(), nullptr, 0);
  } else {
    const std::size_t plus = std::min(word.find('+'), word.size());
    value = std::strtoull(word.c_str() + std::min(plus + 1, word.size()), nullptr, 0);
    section.symbols.emplace(section.bytes.size(), std::pair(word.substr(0, plus), value));
  }
  for (std::size_t k = 0; k < width; ++k) section.bytes.push_back(static_cast<char>(value >> (8 * k) & 0xff));
}

// nvcc writes each directive on a line of its own.
Sections read_sections(std::string_view ptx) {
  Sections all;
  Section* section = nullptr;
  std::istringstream lines{std::string(ptx.substr(std::min(ptx.find(".section"), ptx.size())))};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string directive, word;
    words >> directive;
    if (directive == ".section") {
      words >> word;
      section = &all[word];
    } else if (directive == "}") {
      section = nullptr;
    } else if (section != nullptr && directive.starts_with(".b")) {
      const std::size_t bits = std::strtoull(directive.c_str() + 2, nullptr, 10);
      while (std::getline(words >> std::ws, word, ','))
        if (!word.empty()) add(*section, std::min<std::size_t>(bits, 64) / 8, word);
    }
  }
  return all;
}

// --- entries -----------------------------------------------------------------------------------------------

enum Tag : std::uint64_t {
  kArray = 0x01,
  kEnumeration = 0x04,
  kParameter = 0x05,
  kBlock = 0x0b,
  kMember = 0x0d,
  kPointer = 0x0f,
  kReference = 0x10,
  kStruct = 0x13,
  kTypedef = 0x16,
  kUnion = 0x17,
  kInlined = 0x1d,
  kSubrange = 0x21,
  kBase = 0x24,
  kConst = 0x26,
  kEnumerator = 0x28,
  kFunction = 0x2e,
  kVariable = 0x34,
  kVolatile = 0x35,
  kRestrict = 0x37,
};
enum Attribute : std::uint64_t {
  kLocation = 0x02,
  kName = 0x03,
  kByteSize = 0x0b,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kConstValue = 0x1c,
  kUpperBound = 0x2f,
  kOrigin = 0x31,
  kCount = 0x37,
  kMemberLocation = 0x38,
  kDeclarationLine = 0x3b,
  kEncoding = 0x3e,
  kType = 0x49,
};

struct Field {
  std::uint64_t number = 0;  // of a block: its bytes
  std::string text;          // a string, or the name of a symbol
  std::size_t at = 0;        // where a block begins in .debug_info
  bool is_block = false;
};

struct Entry {
  std::uint64_t tag = 0;
  std::map<std::uint64_t, Field> fields;
  std::vector<std::size_t> children;  // offsets

  const Field* find(std::uint64_t attribute) const {
    const auto it = fields.find(attribute);
    return it == fields.end() ? nullptr : &it->second;
  }
};

class Reader {
 public:
  explicit Reader(Sections sections) : sections_(std::move(sections)) {}

  DebugInfo read() {
    const Section* info = section(".debug_info");
    if (info == nullptr || info->bytes.empty()) return {};
    if (section(".debug_abbrev") == nullptr) throw Malformed(".debug_abbrev is missing");
    for (std::size_t at = 0; at < info->bytes.size();) at = read_unit(at);
    for (const std::size_t unit : units_)
      for (const std::size_t child : entry(unit).children) top_level(entry(child));
    return std::move(out_);
  }

 private:
  struct Cursor {
    const Section& section;
    std::size_t at;

    std::uint64_t fixed(std::size_t n) {
      if (at + n > section.bytes.size()) throw Malformed("a section ends too early");
      std::uint64_t value = 0;
      for (std::size_t k = 0; k < n && k < 8; ++k)
        value |= std::uint64_t{static_cast<unsigned char>(section.bytes[at + k])} << (8 * k);
      at += n;
      return value;
    }
    std::uint64_t uleb() {
      std::uint64_t value = 0;
      for (unsigned shift = 0;; shift += 7) {
        const std::uint64_t byte = fixed(1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) return value;
      }
    }
    std::int64_t sleb() {
      std::uint64_t value = 0;
      for (unsigned shift = 0;;) {
        const std::uint64_t byte = fixed(1);
        if (shift < 64) value |= (byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) != 0) continue;
        if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
      }
    }
    std::string string() {
      const std::size_t end = section.bytes.find('\0', at);
      if (end == std::string::npos) throw Malformed("a string has no end");
      std::string text = section.bytes.substr(at, end - at);
      at = end + 1;
      return text;
    }
  };

  const Section* section(std::string_view name) const {
    const auto it = sections_.find(name);
    return it == sections_.end() ? nullptr : &it->second;
  }
  const Entry& entry(std::size_t offset) const {
    const auto it = entries_.find(offset);
    if (it == entries_.end()) throw Malformed(fmt::format("there is no entry at {}", offset));
    return it->second;
  }
  struct Abbreviation {
    std::uint64_t tag;
    bool has_children;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> fields;  // attribute, form
  };
  std::map<std::uint64_t, Abbreviation> abbreviations(std::uint64_t offset) const {
    std::map<std::uint64_t, Abbreviation> table;
    Cursor c{*section(".debug_abbrev"), offset};
    while (c.at < c.section.bytes.size()) {
      const std::uint64_t code = c.uleb();
      if (code == 0) break;
      Abbreviation& a = table[code];
      a.tag = c.uleb();
      a.has_children = c.fixed(1) != 0;
      while (true) {
        const std::uint64_t attribute = c.uleb(), form = c.uleb();
        if (attribute == 0 && form == 0) break;
        a.fields.emplace_back(attribute, form);
      }
    }
    return table;
  }

  std::size_t read_unit(std::size_t begin) {
    const Section& info = *section(".debug_info");
    Cursor c{info, begin};
    const std::uint64_t length = c.fixed(4);
    // The length may count a few bytes more than there are: nvcc includes padding.
    const std::size_t end = std::min<std::size_t>(begin + 4 + length, info.bytes.size());
    const std::uint64_t version = c.fixed(2);
    if (version != 2) throw Malformed(fmt::format("DWARF {} is unknown", version));
    const auto table = abbreviations(c.fixed(4));
    if (c.fixed(1) != 8) throw Malformed("addresses have 8 bytes");
    std::vector<std::size_t> open;  // entries whose children are being read
    while (c.at < end) {
      const std::size_t at = c.at;
      const std::uint64_t code = c.uleb();
      if (code == 0) {
        if (!open.empty()) open.pop_back();
        if (open.empty()) break;
        continue;
      }
      const auto found = table.find(code);
      if (found == table.end()) throw Malformed(fmt::format("abbreviation {} is unknown", code));
      Entry e;
      e.tag = found->second.tag;
      for (const auto& [attribute, form] : found->second.fields) e.fields[attribute] = field(c, form, begin);
      entries_[at] = std::move(e);
      if (open.empty())
        units_.push_back(at);
      else
        entries_[open.back()].children.push_back(at);
      constexpr std::size_t kDeepest = 256;
      if (open.size() > kDeepest) throw Malformed("entries are nested too deeply");
      if (found->second.has_children)
        open.push_back(at);
      else if (open.empty())
        break;
    }
    return end;
  }

  static Field field(Cursor& c, std::uint64_t form, std::size_t unit) {
    Field f;
    switch (form) {
      case 0x01:  // an address
        if (const auto it = c.section.symbols.find(c.at); it != c.section.symbols.end())
          f.text = it->second.first;
        c.fixed(8);
        break;
      case 0x05: f.number = c.fixed(2); break;
      case 0x06: f.number = c.fixed(4); break;
      case 0x08: f.text = c.string(); break;
      case 0x0a:
        f.is_block = true;
        f.number = c.fixed(1);
        f.at = c.at;
        c.fixed(f.number);
        break;
      case 0x0b:
      case 0x0c: f.number = c.fixed(1); break;
      case 0x0d: f.number = static_cast<std::uint64_t>(c.sleb()); break;
      case 0x0f: f.number = c.uleb(); break;
      case 0x13: f.number = unit + c.fixed(4); break;
      default: throw Malformed(fmt::format("form {:#x} is unknown", form));
    }
    return f;
  }

  // --- types

  const Type* type_of(const Entry& e) {
    const Field* f = e.find(kType);
    return f == nullptr ? nullptr : type_at(f->number);
  }
  std::uint64_t number_of(const Entry& e, std::uint64_t attribute) const {
    const Field* f = e.find(attribute);
    return f == nullptr ? 0 : f->number;
  }
  // Also what the entry has from its origin: that of an inlined call is the function.
  const Field* inherited(const Entry& e, std::uint64_t attribute) const {
    const Field *own = e.find(attribute), *origin = e.find(kOrigin);
    return own != nullptr || origin == nullptr ? own : entry(origin->number).find(attribute);
  }
  // Variables and enumerators of namespaces and classes have mangled names.
  std::string name_of(const Entry& e) const {
    const Field* f = inherited(e, kName);
    return f == nullptr ? std::string() : demangled(f->text);
  }

  const Type* type_at(std::size_t offset) {
    if (const auto it = types_.find(offset); it != types_.end()) return it->second;
    const Entry& e = entry(offset);
    if (e.tag == kTypedef || e.tag == kConst || e.tag == kVolatile || e.tag == kRestrict) {
      types_[offset] = nullptr;  // ends a cycle
      return types_[offset] = type_of(e);
    }
    Type& t = out_.types.emplace_back();
    types_[offset] = &t;
    t.name = name_of(e);
    t.bytes = std::min<std::uint64_t>(number_of(e, kByteSize), std::uint64_t{1} << 32);
    switch (e.tag) {
      case kBase: t.kind = base_kind(number_of(e, kEncoding)); break;
      case kPointer:
        t.kind = Type::Kind::pointer;
        t.bytes = 8;
        t.target = type_of(e);
        break;
      case kReference:
        t.kind = Type::Kind::reference;
        t.bytes = 8;
        t.target = type_of(e);
        break;
      case kEnumeration:
        t.kind = Type::Kind::enumeration;
        for (const std::size_t child : e.children)
          if (const Entry& c = entry(child); c.tag == kEnumerator)
            t.enumerators[static_cast<std::int64_t>(number_of(c, kConstValue))] = name_of(c);
        break;
      case kStruct:
      case kUnion:
        t.kind = Type::Kind::record;
        for (const std::size_t child : e.children) {
          const Entry& c = entry(child);
          if (c.tag != kMember) continue;
          const Field* where = c.find(kMemberLocation);
          if (where == nullptr && e.tag != kUnion) continue;  // a static member
          const Type* type = type_of(c);
          // A base class is a member whose name begins like this.
          std::string name = name_of(c);
          if (name.starts_with("__b_")) name.clear();
          if (type != nullptr) t.members.push_back({std::move(name), type, offset_in(where)});
        }
        break;
      case kArray: make_array(t, e); break;
      default: break;
    }
    return &t;
  }

  static Type::Kind base_kind(std::uint64_t encoding) {
    switch (encoding) {
      case 2: return Type::Kind::boolean;
      case 4: return Type::Kind::floating;
      case 5: return Type::Kind::signed_integer;
      case 6:
      case 8: return Type::Kind::character;
      case 7: return Type::Kind::unsigned_integer;
      default: return Type::Kind::nothing;
    }
  }

  // A member's offset: the expression DW_OP_plus_uconst.
  std::uint64_t offset_in(const Field* f) const {
    if (f == nullptr) return 0;
    Cursor c{*section(".debug_info"), f->at};
    if (!f->is_block || c.fixed(1) != 0x23) throw Malformed("a member's place is unknown");
    return c.uleb();
  }

  void make_array(Type& t, const Entry& e) {
    std::vector<std::uint64_t> counts;
    for (const std::size_t child : e.children) {
      const Entry& c = entry(child);
      if (c.tag != kSubrange) continue;
      const Field* upper = c.find(kUpperBound);
      counts.push_back(upper != nullptr ? upper->number + 1 : number_of(c, kCount));
    }
    if (counts.empty()) counts.push_back(0);
    const Type* element = type_of(e);
    for (std::size_t k = counts.size(); k-- > 0;) {
      Type& level = k == 0 ? t : out_.types.emplace_back();
      level.kind = Type::Kind::array;
      level.target = element;
      level.count = counts[k];
      constexpr std::uint64_t kMax = std::uint64_t{1} << 40;
      if (counts[k] > kMax ||
          (element != nullptr && element->bytes > kMax / std::max<std::uint64_t>(counts[k], 1)))
        throw Malformed("an array is too large");
      level.bytes = element == nullptr ? 0 : element->bytes * counts[k];
      element = &level;
    }
  }

  // --- variables and scopes

  Place place_in(const Section& where, std::size_t begin, std::size_t n) const {
    Place p;
    if (n == 0) return p;
    Cursor c{where, begin};
    const std::uint64_t op = c.fixed(1);
    if (op == 0x90) {  // DW_OP_regx
      std::uint64_t packed = c.uleb();
      for (; packed != 0; packed >>= 8) p.name.insert(p.name.begin(), static_cast<char>(packed & 0xff));
      p.kind = Place::Kind::in_register;
    } else if (op == 0x03) {  // DW_OP_addr
      const auto it = where.symbols.find(c.at);
      if (it == where.symbols.end()) return p;
      p.name = it->second.first;
      p.offset = it->second.second;
      c.at += 8;
      p.kind = Place::Kind::at_symbol;
      if (c.at < begin + n && c.fixed(1) == 0x23) p.offset += c.uleb();  // DW_OP_plus_uconst
    }
    return p;
  }

  std::vector<Variable::Range> ranges_of(const Field& f) const {
    if (f.is_block) return {{"", "", place_in(*section(".debug_info"), f.at, f.number)}};
    const Section* lists = section(".debug_loc");
    if (lists == nullptr) throw Malformed(".debug_loc is missing");
    std::vector<Variable::Range> ranges;
    Cursor c{*lists, f.number};
    while (true) {
      const auto begin = lists->symbols.find(c.at), end = lists->symbols.find(c.at + 8);
      c.fixed(16);
      if (begin == lists->symbols.end() || end == lists->symbols.end()) return ranges;
      const std::size_t n = c.fixed(2);
      ranges.push_back({begin->second.first, end->second.first, place_in(*lists, c.at, n)});
      c.at += n;
    }
  }

  void add_variable(std::vector<Variable>& to, const Entry& e) {
    const Field* where = e.find(kLocation);
    const Field* type = inherited(e, kType);
    Variable v;
    v.name = name_of(e);
    if (where == nullptr || type == nullptr || v.name.empty()) return;
    v.type = type_at(type->number);
    if (const Field* line = inherited(e, kDeclarationLine)) v.line = static_cast<std::uint32_t>(line->number);
    v.is_parameter = e.tag == kParameter;
    v.ranges = ranges_of(*where);
    if (v.type != nullptr) to.push_back(std::move(v));
  }

  void fill(Scope& scope, const Entry& e) {
    if (const Field* low = e.find(kLowPc)) scope.begin = low->text;
    if (const Field* high = e.find(kHighPc)) scope.end = high->text;
    for (const std::size_t child : e.children) {
      const Entry& c = entry(child);
      if (c.tag == kVariable || c.tag == kParameter) add_variable(scope.variables, c);
      if (c.tag == kBlock || c.tag == kInlined) {
        Scope inner;
        if (c.tag == kInlined) inner.function = name_of(c);
        fill(inner, c);
        scope.children.push_back(std::move(inner));
      }
    }
  }

  void top_level(const Entry& e) {
    if (e.tag == kVariable) {
      add_variable(out_.globals, e);
    } else if (e.tag == kFunction && e.find(kLowPc) != nullptr) {
      Scope scope;
      scope.function = name_of(e);
      fill(scope, e);
      out_.functions.push_back(std::move(scope));
    }
  }

  Sections sections_;
  std::map<std::size_t, Entry> entries_;  // by offset in .debug_info
  std::vector<std::size_t> units_;
  std::map<std::size_t, const Type*> types_;
  DebugInfo out_;
};

}  // namespace

Result<DebugInfo> read_debug_info(std::string_view ptx) {
  try {
    return Reader(read_sections(ptx)).read();
  } catch (const Malformed& e) {
    return Error{fmt::format("the debug information of the PTX cannot be read: {}", e.what())};
  }
}

}  // namespace course::debug
