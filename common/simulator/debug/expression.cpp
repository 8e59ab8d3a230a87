// SPDX-License-Identifier: MIT
// Reading order: Parser (precedence climbing, evaluates at once), then the text of values.
#include "debug/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace course::debug {
namespace {

using Kind = Type::Kind;

Type make_type(Kind kind, const char* name, std::uint64_t bytes) {
  Type t;
  t.kind = kind;
  t.name = name;
  t.bytes = bytes;
  return t;
}
const Type kLong = make_type(Kind::signed_integer, "long", 8);
const Type kUnsigned = make_type(Kind::unsigned_integer, "unsigned", 4);
const Type kUnsignedLong = make_type(Kind::unsigned_integer, "unsigned long", 8);
const Type kDouble = make_type(Kind::floating, "double", 8);
const Type kBool = make_type(Kind::boolean, "bool", 1);

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool is_number(const Type& t) {
  return t.kind == Kind::signed_integer || t.kind == Kind::unsigned_integer || t.kind == Kind::floating ||
         t.kind == Kind::boolean || t.kind == Kind::character || t.kind == Kind::enumeration;
}
bool is_signed(const Type& t) {
  if (t.kind == Kind::character) return t.name.find("unsigned") == std::string::npos;
  return t.kind == Kind::signed_integer || t.kind == Kind::enumeration;
}

std::uint64_t bits_of(const Value& v) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, v.bytes.data(), std::min<std::size_t>(v.bytes.size(), 8));
  const std::size_t n = v.bytes.size();
  if (n > 0 && n < 8 && is_signed(*v.type) && (bits >> (8 * n - 1) & 1) != 0)
    bits |= ~std::uint64_t{0} << (8 * n);
  return bits;
}

double real_of(const Value& v) {
  if (v.type->kind == Kind::floating) {
    float f = 0;
    double d = 0;
    if (v.bytes.size() == 4) std::memcpy(&f, v.bytes.data(), 4);
    if (v.bytes.size() == 8) std::memcpy(&d, v.bytes.data(), 8);
    return v.bytes.size() == 4 ? static_cast<double>(f) : d;
  }
  return is_signed(*v.type) ? static_cast<double>(static_cast<std::int64_t>(bits_of(v)))
                            : static_cast<double>(bits_of(v));
}

bool is_true(const Value& v) {
  return v.type->kind == Kind::floating ? real_of(v) != 0 : bits_of(v) != 0;
}

template <typename T>
Value value_of(const Type& type, T number) {
  Value v{&type, std::vector<std::byte>(type.bytes), {}};
  std::memcpy(v.bytes.data(), &number, std::min(sizeof number, v.bytes.size()));
  return v;
}
Value truth(bool b) {
  return value_of(kBool, static_cast<std::uint8_t>(b ? 1 : 0));
}

// A member or an element of a value.
Value part(const Value& whole, const Type* type, std::uint64_t offset) {
  if (offset + type->bytes > whole.bytes.size()) throw Failure("only a part of this value is known");
  const auto begin = whole.bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  Value v{type, {begin, begin + static_cast<std::ptrdiff_t>(type->bytes)}, {}};
  if (whole.address) v.address = *whole.address + offset;
  return v;
}

// Pointer types that `&x` makes; they must outlive the value.
const Type& pointer_to(const Type* target) {
  static std::deque<Type> made;
  for (const Type& t : made)
    if (t.target == target) return t;
  Type& t = made.emplace_back(make_type(Kind::pointer, "", 8));
  t.target = target;
  return t;
}

class Parser {
 public:
  Parser(const Inspector& inspector, const Scene& scene, std::string_view text)
      : inspector_(inspector), scene_(scene), text_(text) {}

  Value run() {
    Value v = binary(0);
    skip();
    if (at_ < text_.size()) throw Failure(fmt::format("cannot read \"{}\"", text_.substr(at_)));
    return v;
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(std::string_view mark) {
    skip();
    if (text_.substr(at_, mark.size()) != mark) return false;
    at_ += mark.size();
    return true;
  }
  void expect(std::string_view mark) {
    if (!take(mark)) throw Failure(fmt::format("\"{}\" is missing", mark));
  }

  // The binary operator that comes next, and how tightly it binds; 0: none.
  std::pair<std::string_view, int> next_operator() {
    static constexpr std::pair<std::string_view, int> kOperators[] = {
        {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"|", 3},
        {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
    skip();
    for (const auto& [mark, strength] : kOperators)
      if (text_.substr(at_, mark.size()) == mark) return {mark, strength};
    return {"", 0};
  }

  Value binary(int least) {
    Value left = unary();
    while (true) {
      const auto [mark, strength] = next_operator();
      if (strength == 0 || strength <= least) return left;
      at_ += mark.size();
      left = apply(mark, left, binary(strength));
    }
  }

  // --- operators

  Value decayed(Value v) const {
    if (v.type->kind == Kind::reference) v = at(v.type->target, bits_of(v));
    if (v.type->kind == Kind::array) {
      if (!v.address) throw Failure("this array is not in memory");
      return value_of(pointer_to(v.type->target), *v.address);
    }
    return v;
  }

  Value at(const Type* type, std::uint64_t address) const {
    if (type == nullptr || type->bytes == 0) throw Failure("the type behind this pointer is not known");
    auto bytes = inspector_.memory(*scene_.warp, scene_.lane, address, type->bytes);
    if (!bytes) throw Failure(bytes.error().text);
    return {type, std::move(*bytes), address};
  }

  Value apply(std::string_view mark, Value a, Value b) const {
    a = decayed(std::move(a));
    b = decayed(std::move(b));
    if (mark == "&&") return truth(is_true(a) && is_true(b));
    if (mark == "||") return truth(is_true(a) || is_true(b));
    const bool pa = a.type->kind == Kind::pointer, pb = b.type->kind == Kind::pointer;
    if ((pa || pb) && (mark == "+" || mark == "-")) return move_pointer(mark, a, b);
    if (!(pa || is_number(*a.type)) || !(pb || is_number(*b.type)))
      throw Failure(fmt::format("\"{}\" needs numbers", mark));
    if (a.type->kind == Kind::floating || b.type->kind == Kind::floating)
      return applied(kDouble, mark, real_of(a), real_of(b));
    const bool is_unsigned = pa || pb || (!is_signed(*a.type) && a.type->bytes == 8) ||
                             (!is_signed(*b.type) && b.type->bytes == 8);
    return is_unsigned ? applied<std::uint64_t>(kUnsignedLong, mark, bits_of(a), bits_of(b))
                       : applied<std::int64_t>(kLong, mark, static_cast<std::int64_t>(bits_of(a)),
                                               static_cast<std::int64_t>(bits_of(b)));
  }

  Value move_pointer(std::string_view mark, const Value& a, const Value& b) const {
    const Value& pointer = a.type->kind == Kind::pointer ? a : b;
    const Value& number = &pointer == &a ? b : a;
    const std::uint64_t size = pointer.type->target == nullptr ? 1 : pointer.type->target->bytes;
    if (number.type->kind == Kind::pointer)
      return value_of(kLong, static_cast<std::int64_t>(bits_of(a) - bits_of(b)) /
                                 static_cast<std::int64_t>(std::max<std::uint64_t>(size, 1)));
    const std::uint64_t distance = bits_of(number) * size;
    return value_of(*pointer.type, mark == "+" ? bits_of(pointer) + distance : bits_of(pointer) - distance);
  }

  template <typename T>
  static Value applied(const Type& type, std::string_view mark, T a, T b) {
    // Integers with a sign wrap, too.
    using Wrapping = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    const auto wa = static_cast<Wrapping>(a), wb = static_cast<Wrapping>(b);
    if (mark == "+") return value_of(type, wa + wb);
    if (mark == "-") return value_of(type, wa - wb);
    if (mark == "*") return value_of(type, wa * wb);
    if (mark == "==") return truth(a == b);
    if (mark == "!=") return truth(a != b);
    if (mark == "<") return truth(a < b);
    if (mark == ">") return truth(a > b);
    if (mark == "<=") return truth(a <= b);
    if (mark == ">=") return truth(a >= b);
    if constexpr (std::is_integral_v<T>) return of_integers(type, mark, a, b);
    if (mark == "/") return value_of(type, wa / wb);
    throw Failure(fmt::format("\"{}\" needs integers", mark));
  }

  template <typename T>
  static Value of_integers(const Type& type, std::string_view mark, T a, T b) {
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    if (mark == "&") return value_of(type, ua & ub);
    if (mark == "|") return value_of(type, ua | ub);
    if (mark == "^") return value_of(type, ua ^ ub);
    if (mark == "<<") return value_of(type, ua << (ub & 63));
    if (mark == ">>") return value_of(type, a >> (ub & 63));
    if (b == 0) throw Failure("division by zero");
    if (std::is_signed_v<T> && ub == ~std::uint64_t{0}) return value_of(type, mark == "/" ? 0 - ua : 0);
    return value_of(type, mark == "/" ? a / b : a % b);
  }

  Value unary() {
    if (++nesting_ > 200) throw Failure("this expression is nested too deeply");
    Value v = prefix();
    --nesting_;
    return v;
  }

  Value prefix() {
    skip();
    if (take("!")) return truth(!is_true(decayed(unary())));
    if (take("-")) {
      const Value v = decayed(unary());
      if (v.type->kind == Kind::floating) return value_of(kDouble, -real_of(v));
      return value_of(kLong, 0 - bits_of(v));
    }
    if (take("~")) return value_of(kLong, ~bits_of(decayed(unary())));
    if (take("*")) {
      const Value v = decayed(unary());
      if (v.type->kind != Kind::pointer) throw Failure("\"*\" needs a pointer");
      return at(v.type->target, bits_of(v));
    }
    if (take("&")) {
      const Value v = unary();
      if (!v.address) throw Failure("this value is in a register, so it has no address");
      return value_of(pointer_to(v.type), *v.address);
    }
    return postfix();
  }

  Value postfix() {
    Value v = primary();
    while (true) {
      if (take("[")) {
        const Value index = decayed(binary(0));
        expect("]");
        v = element(std::move(v), index);
      } else if (take("->")) {
        const Value p = decayed(std::move(v));
        if (p.type->kind != Kind::pointer) throw Failure("\"->\" needs a pointer");
        v = member(at(p.type->target, bits_of(p)), name());
      } else if (take(".")) {
        v = member(std::move(v), name());
      } else {
        return v;
      }
    }
  }

  Value element(Value v, const Value& index) const {
    if (v.type->kind == Kind::reference) v = at(v.type->target, bits_of(v));
    const std::uint64_t k = bits_of(index);
    if (v.type->kind == Kind::array && !v.address) {
      if (k >= v.type->count) throw Failure("the index is past the array's end");
      return part(v, v.type->target, k * v.type->target->bytes);
    }
    const Value p = decayed(std::move(v));
    if (p.type->kind != Kind::pointer || p.type->target == nullptr)
      throw Failure("\"[\" needs an array or a pointer");
    return at(p.type->target, bits_of(p) + k * p.type->target->bytes);
  }

  static std::optional<Value> find_member(const Value& v, const std::string& wanted) {
    for (const Type::Member& m : v.type->members) {
      if (m.name == wanted) return part(v, m.type, m.offset);
      if (m.name.empty() && m.type->kind == Kind::record)
        if (auto inner = find_member(part(v, m.type, m.offset), wanted)) return inner;
    }
    return {};
  }

  Value member(Value v, const std::string& wanted) const {
    if (v.type->kind == Kind::reference || v.type->kind == Kind::pointer) v = at(v.type->target, bits_of(v));
    if (auto found = find_member(v, wanted)) return *found;
    throw Failure(fmt::format("{} has no member \"{}\"", type_text(v.type), wanted));
  }

  // --- names and numbers

  std::string name() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_.substr(at_, 2) == "::"))
      at_ += text_[at_] == ':' ? std::size_t{2} : std::size_t{1};
    if (begin == at_)
      throw Failure(at_ < text_.size() ? fmt::format("cannot read \"{}\"", text_.substr(at_))
                                       : std::string("something is missing at the end"));
    return std::string(text_.substr(begin, at_ - begin));
  }

  Value primary() {
    skip();
    if (take("(")) {
      Value v = binary(0);
      expect(")");
      return v;
    }
    if (take("'")) {
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '\'') throw Failure("a character ends with '");
      const char c = text_[at_];
      at_ += 2;
      return value_of(kLong, static_cast<std::int64_t>(c));
    }
    if (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)) return number();
    const std::string wanted = name();
    if (wanted == "true" || wanted == "false") return truth(wanted == "true");
    return named(wanted);
  }

  Value number() {
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    const std::uint64_t whole = std::strtoull(rest.c_str(), &end, 0);
    auto length = static_cast<std::size_t>(end - rest.c_str());
    Value v = whole > INT64_MAX ? value_of(kUnsignedLong, whole) : value_of(kLong, whole);
    const bool is_hex = rest.starts_with("0x") || rest.starts_with("0X");
    if (!is_hex && length < rest.size() &&
        (rest[length] == '.' || rest[length] == 'e' || rest[length] == 'E')) {
      v = value_of(kDouble, std::strtod(rest.c_str(), &end));
      length = static_cast<std::size_t>(end - rest.c_str());
    }
    at_ += length;
    while (at_ < text_.size() && std::string_view("uUlLfF").find(text_[at_]) != std::string_view::npos) ++at_;
    return v;
  }

  Value named(const std::string& wanted) {
    sim::Warp& w = *scene_.warp;
    const std::vector<Frame> frames = inspector_.frames(w, scene_.lane);
    if (frames.empty()) throw Failure("this thread has ended");
    const KernelCode& code = inspector_.code(*w.program);
    const Frame& frame = frames[std::min(scene_.frame, frames.size() - 1)];
    std::string why;
    for (const Variable* v : inspector_.visible(code, frame, true)) {
      const bool short_name = v->name.ends_with("::" + wanted);
      if (v->name != wanted && !short_name) continue;
      auto value = inspector_.read(w, scene_.lane, frame, *v);
      if (value) return std::move(*value);
      if (why.empty()) why = value.error().text;
    }
    if (!why.empty()) throw Failure(why);
    if (auto v = builtin(wanted)) return *v;
    for (const Variable* v : inspector_.visible(code, frame, false)) {
      if (v->name != "this") continue;
      auto self = inspector_.read(w, scene_.lane, frame, *v);
      if (!self || self->type->kind != Kind::pointer) continue;
      if (auto found = find_member(at(self->type->target, bits_of(*self)), wanted)) return *found;
    }
    throw Failure(code.module->complaint.empty()
                      ? fmt::format("no variable \"{}\" is visible here (\"info locals\" lists them)", wanted)
                      : fmt::format("there is no variable \"{}\": {}", wanted, code.module->complaint));
  }

  std::optional<Value> builtin(const std::string& wanted) {
    const sim::Warp& w = *scene_.warp;
    const sim::LaunchRequest& launch = *w.block->launch;
    const std::uint32_t thread = w.number * sim::kLanes + static_cast<std::uint32_t>(scene_.lane);
    const auto small = [](std::uint64_t n) { return value_of(kUnsigned, static_cast<std::uint32_t>(n)); };
    if (wanted == "lane") return small(static_cast<std::uint64_t>(scene_.lane));
    if (wanted == "warp") return small(w.number);
    if (wanted == "thread") return small(thread);
    if (wanted == "block") return value_of(kUnsignedLong, w.block->linear);
    if (wanted == "warpSize") return small(sim::kLanes);
    std::uint32_t xyz[3];
    if (wanted == "threadIdx") {
      xyz[0] = thread % launch.block.x;
      xyz[1] = thread / launch.block.x % launch.block.y;
      xyz[2] = thread / launch.block.x / launch.block.y;
    } else if (wanted == "blockIdx") {
      std::copy_n(w.block->index, 3, xyz);
    } else if (wanted == "blockDim") {
      xyz[0] = launch.block.x, xyz[1] = launch.block.y, xyz[2] = launch.block.z;
    } else if (wanted == "gridDim") {
      xyz[0] = launch.grid.x, xyz[1] = launch.grid.y, xyz[2] = launch.grid.z;
    } else {
      return {};
    }
    static const Type kTriple = [] {
      Type t = make_type(Kind::record, "uint3", 12);
      t.members = {{"x", &kUnsigned, 0}, {"y", &kUnsigned, 4}, {"z", &kUnsigned, 8}};
      return t;
    }();
    const std::span<const std::byte> bytes = std::as_bytes(std::span(xyz));
    return Value{&kTriple, {bytes.begin(), bytes.end()}, {}};
  }

  const Inspector& inspector_;
  const Scene& scene_;
  std::string_view text_;
  std::size_t at_ = 0;
  int nesting_ = 0;
};

std::string number_text(const Value& v) {
  if (v.type->kind == Kind::boolean) return bits_of(v) != 0 ? "true" : "false";
  if (v.type->kind == Kind::floating)
    return v.bytes.size() == 4 ? fmt::format("{}", static_cast<float>(real_of(v)))
                               : fmt::format("{}", real_of(v));
  const std::string digits = is_signed(*v.type) ? fmt::format("{}", static_cast<std::int64_t>(bits_of(v)))
                                                : fmt::format("{}", bits_of(v));
  if (v.type->kind == Kind::character) {
    const auto c = static_cast<unsigned char>(bits_of(v));
    return c >= 32 && c < 127 ? fmt::format("{} '{}'", digits, static_cast<char>(c)) : digits;
  }
  if (v.type->kind == Kind::enumeration) {
    const auto it = v.type->enumerators.find(static_cast<std::int64_t>(bits_of(v)));
    if (it != v.type->enumerators.end()) return it->second;
  }
  return digits;
}

}  // namespace

Result<Value> evaluate(const Inspector& inspector, const Scene& scene, const std::string& expression) {
  try {
    return Parser(inspector, scene, expression).run();
  } catch (const Failure& e) {
    return Error{e.what()};
  }
}

bool holds(const Inspector& inspector, const Scene& scene, const std::string& condition) {
  const auto value = evaluate(inspector, scene, condition);
  return value && is_true(*value);
}

std::string to_text(const Value& v, std::uint64_t most) {
  const auto piece = [&](const Type* type, std::uint64_t offset) {
    return offset + type->bytes <= v.bytes.size() ? to_text(part(v, type, offset), most) : "?";
  };
  switch (v.type->kind) {
    case Kind::nothing: return "?";
    case Kind::pointer:
    case Kind::reference: return fmt::format("{:#x}", bits_of(v));
    case Kind::array: {
      std::string text = "{";
      for (std::uint64_t k = 0; k < v.type->count; ++k) {
        if (k > 0) text += ", ";
        if (k == most) {
          text += "…";
          break;
        }
        text += piece(v.type->target, k * v.type->target->bytes);
      }
      return text + "}";
    }
    case Kind::record: {
      std::string text = "{";
      for (const Type::Member& m : v.type->members) {
        if (text.size() > 1) text += ", ";
        text += m.name.empty() ? piece(m.type, m.offset)
                               : fmt::format("{} = {}", m.name, piece(m.type, m.offset));
      }
      return text + "}";
    }
    default: return number_text(v);
  }
}

std::string type_text(const Type* type) {
  if (type == nullptr) return "void";
  switch (type->kind) {
    case Kind::pointer: return type_text(type->target) + "*";
    case Kind::reference: return type_text(type->target) + "&";
    case Kind::array: {
      std::string counts;
      const Type* t = type;
      for (; t != nullptr && t->kind == Kind::array; t = t->target) counts += fmt::format("[{}]", t->count);
      return type_text(t) + counts;
    }
    default: return type->name.empty() ? "(unnamed)" : type->name;
  }
}

}  // namespace course::debug
