// SPDX-License-Identifier: MIT
// Reading order: Sections (text to bytes), Reader::read (bytes to entries), then types and scopes.
#include "debug/dwarf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
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

struct Sections {
  std::map<std::string, Section, std::less<>> by_name;
  std::map<std::string, std::uint64_t, std::less<>> labels;  // inside sections: their offset
};

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool ends_word(char c) {
  return is_space(c) || c == ',' || c == '{' || c == '}' || c == '+' || c == ':';
}

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}
  // The next word or punctuation mark; "" at the end.
  std::string_view next() {
    skip();
    if (at_ >= text_.size()) return {};
    const std::size_t begin = at_++;
    if (!ends_word(text_[begin]))
      while (at_ < text_.size() && !ends_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string_view peek() {
    const std::size_t before = at_;
    const std::string_view word = next();
    at_ = before;
    return word;
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_]))
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        return;
    }
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<std::int64_t> number_in(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  const bool hex = word.starts_with("0x") || word.starts_with("0X");
  if (hex) word.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, hex ? 16 : 10);
  if (word.empty() || error != std::errc{} || end != word.data() + word.size()) return {};
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

void read_section(Words& words, Section& section, Sections& all) {
  if (words.next() != "{") throw Malformed("a section does not begin with a brace");
  std::size_t width = 1;
  while (true) {
    std::string_view word = words.next();
    if (word.empty()) throw Malformed("a section has no end");
    if (word == "}") return;
    if (word == ",") continue;
    if (word == ".b8" || word == ".b16" || word == ".b32" || word == ".b64") {
      width = static_cast<std::size_t>(*number_in(word.substr(2))) / 8;
      continue;
    }
    if (words.peek() == ":") {
      words.next();
      all.labels.emplace(std::string(word), section.bytes.size());
      continue;
    }
    std::uint64_t value = 0;
    if (const auto number = number_in(word)) {
      value = static_cast<std::uint64_t>(*number);
    } else {
      std::uint64_t addend = 0;
      if (words.peek() == "+") {
        words.next();
        const auto more = number_in(words.next());
        if (!more) throw Malformed("an offset is not a number");
        addend = static_cast<std::uint64_t>(*more);
      }
      section.symbols.emplace(section.bytes.size(), std::pair(std::string(word), addend));
      value = addend;
    }
    for (std::size_t k = 0; k < width; ++k)
      section.bytes.push_back(static_cast<char>(k < 8 ? value >> (8 * k) & 0xff : 0));
  }
}

Sections read_sections(std::string_view ptx) {
  Sections all;
  constexpr std::string_view kDirective = ".section";
  for (std::size_t at = ptx.find(kDirective); at != std::string_view::npos;
       at = ptx.find(kDirective, at + 1)) {
    // Only at the beginning of a line, so not in a comment or a string.
    const std::size_t line = at == 0 ? 0 : ptx.find_last_of('\n', at - 1) + 1;
    if (std::any_of(ptx.begin() + static_cast<std::ptrdiff_t>(line),
                    ptx.begin() + static_cast<std::ptrdiff_t>(at), [](char c) { return !is_space(c); }))
      continue;
    Words words(ptx.substr(at + kDirective.size()));
    const std::string name(words.next());
    while (!words.peek().empty() && words.peek() != "{") words.next();  // flags
    if (name.starts_with(".debug_")) read_section(words, all.by_name[name], all);
  }
  return all;
}

// --- entries -----------------------------------------------------------------------------------------------

enum Tag : std::uint64_t {
  kArray = 0x01,
  kClass = 0x02,
  kEnumeration = 0x04,
  kParameter = 0x05,
  kBlock = 0x0b,
  kMember = 0x0d,
  kPointer = 0x0f,
  kReference = 0x10,
  kCompileUnit = 0x11,
  kStruct = 0x13,
  kTypedef = 0x16,
  kUnion = 0x17,
  kInheritance = 0x1c,
  kInlined = 0x1d,
  kSubrange = 0x21,
  kBase = 0x24,
  kConst = 0x26,
  kEnumerator = 0x28,
  kFunction = 0x2e,
  kVariable = 0x34,
  kVolatile = 0x35,
  kRestrict = 0x37,
  kNamespace = 0x39,
  kRvalueReference = 0x42,
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
  kSpecification = 0x47,
  kType = 0x49,
};

struct Field {
  std::uint64_t number = 0;
  std::string text;    // a string, the bytes of a block, or the name of a symbol
  std::size_t at = 0;  // where the bytes begin in .debug_info
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
      for (const std::size_t child : entry(unit).children) top_level(child, "");
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
    std::string block(std::uint64_t n) {
      if (n > section.bytes.size() - at) throw Malformed("a block ends too late");
      std::string bytes = section.bytes.substr(at, n);
      at += n;
      return bytes;
    }
  };

  const Section* section(std::string_view name) const {
    const auto it = sections_.by_name.find(name);
    return it == sections_.by_name.end() ? nullptr : &it->second;
  }
  const Entry& entry(std::size_t offset) const {
    const auto it = entries_.find(offset);
    if (it == entries_.end()) throw Malformed(fmt::format("there is no entry at {}", offset));
    return it->second;
  }
  // The value of a symbol inside the sections: `.debug_loc+10` or a label.
  std::uint64_t offset_at(const Section& where, std::size_t at, std::uint64_t number) const {
    const auto it = where.symbols.find(at);
    if (it == where.symbols.end()) return number;
    const auto label = sections_.labels.find(it->second.first);
    return it->second.second + (label == sections_.labels.end() ? 0 : label->second);
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
    if (version < 2 || version > 4) throw Malformed(fmt::format("DWARF {} is unknown", version));
    const std::size_t table_at = c.at;
    const auto table = abbreviations(offset_at(info, table_at, c.fixed(4)));
    const std::uint64_t address_bytes = c.fixed(1);
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
      for (const auto& [attribute, form] : found->second.fields)
        e.fields[attribute] = field(c, form, begin, address_bytes);
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

  Field field(Cursor& c, std::uint64_t form, std::size_t unit, std::uint64_t address_bytes) const {
    Field f;
    const auto take_block = [&](std::uint64_t n) {
      f.is_block = true;
      f.at = c.at;
      f.text = c.block(n);
    };
    const auto take = [&](std::size_t n) {
      f.at = c.at;
      f.number = c.fixed(n);
      if (const auto it = c.section.symbols.find(f.at); it != c.section.symbols.end())
        f.text = it->second.first;
    };
    switch (form) {
      case 0x01: take(address_bytes); break;
      case 0x03: take_block(c.fixed(2)); break;
      case 0x04: take_block(c.fixed(4)); break;
      case 0x05: take(2); break;
      case 0x06:
        take(4);
        f.number = offset_at(c.section, f.at, f.number);
        break;
      case 0x07: take(8); break;
      case 0x08: f.text = c.string(); break;
      case 0x09:
      case 0x18: take_block(c.uleb()); break;
      case 0x0a: take_block(c.fixed(1)); break;
      case 0x0b:
      case 0x0c: take(1); break;
      case 0x0d: f.number = static_cast<std::uint64_t>(c.sleb()); break;
      case 0x0e: {
        take(4);
        const Section* strings = section(".debug_str");
        if (strings == nullptr) throw Malformed(".debug_str is missing");
        Cursor at{*strings, offset_at(c.section, f.at, f.number)};
        f.text = at.string();
        break;
      }
      case 0x0f: f.number = c.uleb(); break;
      case 0x10:
        take(4);
        f.number = offset_at(c.section, f.at, f.number);
        break;
      case 0x11: f.number = unit + c.fixed(1); break;
      case 0x12: f.number = unit + c.fixed(2); break;
      case 0x13: f.number = unit + c.fixed(4); break;
      case 0x14: f.number = unit + c.fixed(8); break;
      case 0x15: f.number = unit + c.uleb(); break;
      case 0x17:
        take(4);
        f.number = offset_at(c.section, f.at, f.number);
        break;
      case 0x19: f.number = 1; break;
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
  // With what the entry refers to: the declaration of a member function, the origin of an inlined variable.
  const Field* inherited(const Entry& e, std::uint64_t attribute) const {
    const Entry* at = &e;
    for (int k = 0; k < 4; ++k) {
      if (const Field* f = at->find(attribute)) return f;
      const Field* next = at->find(kOrigin);
      if (next == nullptr) next = at->find(kSpecification);
      if (next == nullptr) return nullptr;
      at = &entry(next->number);
    }
    return nullptr;
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
      case kRvalueReference:
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
      case kClass:
      case kStruct:
      case kUnion:
        t.kind = Type::Kind::record;
        for (const std::size_t child : e.children) {
          const Entry& c = entry(child);
          if (c.tag != kMember && c.tag != kInheritance) continue;
          const Field* where = c.find(kMemberLocation);
          if (where == nullptr && e.tag != kUnion) continue;  // a static member
          const Type* type = type_of(c);
          // A base class is a member whose name begins like this.
          std::string name = name_of(c);
          if (c.tag == kInheritance || name.starts_with("__b_")) name.clear();
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

  // A member's offset: a number, or the expression DW_OP_plus_uconst.
  std::uint64_t offset_in(const Field* f) const {
    if (f == nullptr) return 0;
    if (!f->is_block) return f->number;
    Cursor c{*section(".debug_info"), f->at};
    const std::uint64_t op = c.fixed(1);
    if (op != 0x23 && op != 0x10) throw Malformed("a member's place is unknown");
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
    if (f.is_block) return {{"", "", place_in(*section(".debug_info"), f.at, f.text.size())}};
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

  bool add_variable(std::vector<Variable>& to, const Entry& e, const std::string& prefix = "") {
    const Field* where = e.find(kLocation);
    const Field* type = inherited(e, kType);
    Variable v;
    v.name = name_of(e);
    if (where == nullptr || type == nullptr || v.name.empty()) return false;
    v.name = prefix + v.name;
    v.type = type_at(type->number);
    if (const Field* line = inherited(e, kDeclarationLine)) v.line = static_cast<std::uint32_t>(line->number);
    v.is_parameter = e.tag == kParameter;
    v.ranges = ranges_of(*where);
    if (v.type == nullptr) return false;
    to.push_back(std::move(v));
    return true;
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

  void top_level(std::size_t offset, const std::string& prefix) {
    const Entry& e = entry(offset);
    if (e.tag == kNamespace) {
      const std::string name = name_of(e);
      for (const std::size_t child : e.children)
        top_level(child, name.empty() ? prefix : prefix + name + "::");
    } else if (e.tag == kVariable) {
      add_variable(out_.globals, e, prefix);
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
