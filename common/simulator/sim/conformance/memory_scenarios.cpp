// SPDX-License-Identifier: MIT
// Loads and stores with every memory space, element and vector length, at contiguous, strided, scattered and
// equal addresses.
#include "sim/conformance/format.hpp"

#include <algorithm>
#include <cstring>

#include "base/rng.hpp"
#include "sim/conformance/scenario.hpp"

namespace course::sim {
namespace {

using Word = std::uint64_t;

constexpr std::uint32_t kThreads = 80;   // the last warp is partial
constexpr std::uint32_t kBytes = 16384;  // size of the memory for loads
constexpr std::uint32_t kLocalBytes = 256;

struct Element {
  const char* name;
  int bytes;
  bool is_signed;
};
constexpr Element kElements[] = {{"u8", 1, false}, {"s8", 1, true},   {"u16", 2, false},
                                 {"s16", 2, true}, {"u32", 4, false}, {"u64", 8, false}};

// The element that thread i accesses in each pattern.
struct Pattern {
  const char* name;
  const char* ptx;  // %e = element of thread %i
  std::uint32_t (*element)(std::uint32_t i);
};
constexpr Pattern kPatterns[] = {
    {"contiguous", "  mov.u32 %e, %i;\n", [](std::uint32_t i) { return i; }},
    {"strided", "  mul.lo.u32 %e, %i, 3;\n", [](std::uint32_t i) { return 3 * i; }},
    {"scattered", "  mul.lo.u32 %e, %i, 29;\n  rem.u32 %e, %e, 101;\n",
     [](std::uint32_t i) { return 29 * i % 101; }},
    {"equal", "  mov.u32 %e, 7;\n", [](std::uint32_t) { return 7u; }},
};

std::vector<Word> random_words(std::size_t n, std::uint64_t seed) {
  std::vector<Word> words(n);
  Rng rng(seed);
  for (Word& w : words) w = rng();
  return words;
}

Word loaded(const std::uint8_t* memory, std::uint64_t at, const Element& e) {
  Word v = 0;
  for (int k = 0; k < e.bytes; ++k)
    v |= static_cast<Word>(memory[at + static_cast<std::uint64_t>(k)]) << 8 * k;
  if (e.is_signed && (v >> (8 * e.bytes - 1) & 1) != 0) v |= ~Word{0} << 8 * e.bytes;
  return e.bytes == 8 ? v : v & 0xffffffff;
}

std::string vector_of(const char* name, int count) {
  if (count == 1) return fmt::format("%{}0", name);
  std::string text = "{";
  for (int k = 0; k < count; ++k) text += fmt::format("{}%{}{}", k == 0 ? "" : ", ", name, k);
  return text + "}";
}

// Code that copies `bytes` bytes from %base to the memory space and sets %p to the address of its start,
// generic or of that space.
std::string filled(const std::string& place, std::uint32_t bytes) {
  if (place == "global") return "  mov.b64 %p, %base;\n";
  const std::string fill = fmt::format(
      "  mov.u32 %c, {};\nfill:\n  cvt.u64.u32 %q, %c;\n  add.u64 %q, %q, %base;\n  ld.global.u64 %x, [%q];\n"
      "  cvt.u64.u32 %q, %c;\n  add.u64 %q, %q, %p;\n  st.{}.u64 [%q], %x;\n  add.u32 %c, %c, {};\n"
      "  setp.lt.u32 %more, %c, {};\n  @%more bra fill;\n",
      place == "shared" ? "%j" : "0", place, place == "shared" ? 8 * kThreads : 8, bytes);
  return fmt::format("  mov.u64 %p, {};\n  mov.u32 %j, %tid.x;\n  mul.lo.u32 %j, %j, 8;\n{}{}",
                     place + "_memory", fill, place == "shared" ? "  bar.sync 0;\n" : "");
}

std::string declarations(const std::string& place) {
  std::string text =
      "  .reg .pred %more, %guard, %z<3>;\n  .reg .b32 %e, %c, %j, %k;\n"
      "  .reg .b64 %p, %q, %x, %y, %s0, %s1, %s2;\n";
  if (place == "shared" || place == "generic")
    text += fmt::format("  .shared .align 16 .b8 shared_memory[{}];\n", kBytes);
  if (place == "local" || place == "generic")
    text += fmt::format("  .local .align 16 .b8 local_memory[{}];\n", kLocalBytes);
  return text;
}

// Local memory is small, so element indices wrap around.
std::uint64_t offset_of(const std::string& place, const Pattern& pattern, std::uint32_t i,
                        std::uint32_t access_bytes) {
  const std::uint64_t at = static_cast<std::uint64_t>(pattern.element(i)) * access_bytes;
  return place == "local" ? at % kLocalBytes : at;
}
std::string address_code(const std::string& place, const Pattern& pattern, int access_bytes) {
  std::string text = pattern.ptx;
  text += fmt::format("  mul.lo.u32 %e, %e, {};\n", access_bytes);
  if (place == "local") text += fmt::format("  and.b32 %e, %e, {};\n", kLocalBytes - 1);
  return text + "  cvt.u64.u32 %q, %e;\n  add.u64 %q, %q, %p;\n";
}

Scenario load(const std::string& place, const Element& e, int count) {
  const std::string spelt = fmt::format("ld{}{}.{}", place == "generic" ? "" : "." + place,
                                        count > 1 ? fmt::format(".v{}", count) : "", e.name);
  Scenario s;
  s.name = fmt::format("ld{}.{}.{}", count > 1 ? fmt::format(".v{}", count) : "", place, e.name);
  s.rows = {s.name};
  s.threads = kThreads;
  const int bits = e.bytes == 8 ? 64 : 32;
  std::string registers = declarations(place);
  for (int k = 0; k < count; ++k) registers += fmt::format("  .reg .b{} %v{}, %g{};\n", bits, k, k);
  std::string body;
  // Generic addresses may point to any space: those of threads 0, 3, 6 … to global memory, the others to
  // shared and local memory.
  if (place == "generic") {
    body += "  cvta.shared.u64 %s1, shared_memory;\n  cvta.local.u64 %s2, local_memory;\n";
    for (const char* part : {"shared", "local"}) {
      std::string text = filled(part, part == std::string("local") ? kLocalBytes : kBytes);
      if (part == std::string("local")) {
        const auto at = text.find("fill:");
        text.replace(at, 4, "more");
        text.replace(text.find("bra fill"), 8, "bra more");
      }
      body += text;
    }
    body += "  cvta.to.global.u64 %s0, %base;\n";
  } else {
    body += filled(place, place == "local" ? kLocalBytes : kBytes);
  }
  body += "  and.b32 %k, %i, 1;\n  setp.eq.u32 %guard, %k, 1;\n";
  s.in = random_words(kBytes / 8, 77);
  std::vector<std::uint8_t> memory(kBytes);
  std::memcpy(memory.data(), s.in.data(), kBytes);
  const int words = static_cast<int>(std::size(kPatterns)) * count * 2;
  s.out.assign(static_cast<std::size_t>(words) * kThreads, 0);
  int column = 0;
  for (const Pattern& pattern : kPatterns) {
    // For generic accesses only the first 256 bytes are equal in all spaces.
    const std::string where = place == "generic" ? "local" : place;
    if (place == "generic")
      body +=
          "  rem.u32 %k, %i, 3;\n  setp.eq.u32 %z0, %k, 0;\n  setp.eq.u32 %z1, %k, 1;\n"
          "  selp.b64 %p, %s1, %s2, %z1;\n  selp.b64 %p, %s0, %p, %z0;\n";
    body += address_code(where, pattern, e.bytes * count);
    for (int k = 0; k < count; ++k) body += fmt::format("  mov.b{} %g{}, {};\n", bits, k, 99 + k);
    body += fmt::format("  {0} {1}, [%q];\n  @%guard {0} {2}, [%q];\n", spelt, vector_of("v", count),
                        vector_of("g", count));
    for (int k = 0; k < count; ++k)
      body += fmt::format("  st.global.b{0} [%out+{1}], %v{2};\n  st.global.b{0} [%out+{3}], %g{2};\n", bits,
                          8 * (column + k), k, 8 * (column + count + k));
    for (std::uint32_t i = 0; i < kThreads; ++i)
      for (int k = 0; k < count; ++k) {
        const std::uint64_t at = offset_of(where, pattern, i, static_cast<std::uint32_t>(e.bytes * count)) +
                                 static_cast<std::uint64_t>(k * e.bytes);
        const Word v = loaded(memory.data(), at, e);
        Word* out = &s.out[static_cast<std::size_t>(words) * i + static_cast<std::size_t>(column)];
        out[k] = v;
        out[count + k] = i % 2 == 1 ? v : static_cast<Word>(99 + k);
      }
    column += 2 * count;
  }
  s.ptx = scenario_kernel(registers, body, 0, words);
  return s;
}

// Clears shared memory, and gives %p its address.
std::string clear_shared(std::uint32_t words) {
  return fmt::format(
      "  mov.u64 %p, shared_memory;\n  mov.u32 %c, %tid.x;\nclear:\n  mul.wide.u32 %q, %c, 8;\n"
      "  add.u64 %q, %q, %p;\n  mov.b64 %x, 0;\n  st.shared.u64 [%q], %x;\n  add.u32 %c, %c, {};\n"
      "  setp.lt.u32 %more, %c, {};\n  @%more bra clear;\n  bar.sync 0;\n",
      kThreads, words);
}

// Copies shared memory to %base.
std::string copy_shared(std::uint32_t words) {
  return fmt::format(
      "  bar.sync 0;\n  mov.u32 %c, %tid.x;\ncopy:\n  mul.wide.u32 %q, %c, 8;\n  add.u64 %x, %q, %p;\n"
      "  ld.shared.u64 %y, [%x];\n  add.u64 %q, %q, %base;\n  st.global.u64 [%q], %y;\n"
      "  add.u32 %c, %c, {};\n  setp.lt.u32 %more, %c, {};\n  @%more bra copy;\n",
      kThreads, words);
}

// Thread i stores words derived from its index; the memory is then copied to the output.
Scenario store(const std::string& place, const Element& e, int count) {
  Scenario s;
  s.name = fmt::format("st{}.{}.{}", count > 1 ? fmt::format(".v{}", count) : "", place, e.name);
  s.rows = {s.name};
  s.threads = kThreads;
  const std::string spelt = fmt::format("st{}{}.{}", place == "generic" ? "" : "." + place,
                                        count > 1 ? fmt::format(".v{}", count) : "", e.name);
  const int bits = e.bytes == 8 ? 64 : 32;
  std::string registers = declarations(place);
  for (int k = 0; k < count; ++k) registers += fmt::format("  .reg .b{} %v{};\n", bits, k);
  const bool local = place == "local";
  const int access = e.bytes * count;
  // Local memory: each thread stores at three of its own addresses and loads its 64 bytes again.
  // Other spaces: the memory is %out itself, or shared memory that is copied to it. Threads store at 2 · i,
  // guarded ones at 2 · i + 1.
  std::string body;
  for (int k = 0; k < count; ++k)
    body += bits == 64 ? fmt::format("  mul.wide.u32 %v{0}, %i, 0x{1:x};\n", k, 0x12345671 + k * 0x01010101)
                       : fmt::format("  mul.lo.u32 %v{0}, %i, 0x{1:x};\n", k, 0x12345671 + k * 0x01010101);
  body += "  and.b32 %k, %i, 1;\n  setp.eq.u32 %guard, %k, 1;\n";
  const auto value = [&](std::uint32_t i, int k) {
    const Word product = static_cast<Word>(i) * static_cast<Word>(0x12345671 + k * 0x01010101);
    return bits == 64 ? product : product & 0xffffffff;
  };
  const auto put = [&](std::uint8_t* memory, std::uint64_t at, std::uint32_t i) {
    for (int k = 0; k < count; ++k) {
      const Word v = value(i, k);
      std::memcpy(memory + at + static_cast<std::uint64_t>(k * e.bytes), &v,
                  static_cast<std::size_t>(e.bytes));
    }
  };
  const std::string v = vector_of("v", count);
  if (local) {
    body += "  mov.u64 %p, local_memory;\n  mov.b64 %x, 0;\n";
    for (int k = 0; k < 8; ++k) body += fmt::format("  st.local.u64 [%p+{}], %x;\n", 8 * k);
    body += fmt::format("  {0} [%p], {1};\n  @%guard {0} [%p+32], {1};\n", spelt, v);
    for (int k = 0; k < 8; ++k)
      body += fmt::format("  ld.local.u64 %x, [%p+{0}];\n  st.global.u64 [%out+{0}], %x;\n", 8 * k);
    s.out.assign(8 * kThreads, 0);
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      auto* memory = reinterpret_cast<std::uint8_t*>(&s.out[8 * i]);
      put(memory, 0, i);
      if (i % 2 == 1) put(memory, 32, i);
    }
    s.ptx = scenario_kernel(registers, body, 0, 8);
    s.in = {0};
    return s;
  }
  // The stores of a warp are contiguous, then strided and guarded; then one thread alone stores.
  const std::uint32_t unit = static_cast<std::uint32_t>(access);
  const std::uint32_t first = 0, second = kThreads * unit, third = second + 2 * kThreads * unit;
  const std::uint32_t total = std::max((third + unit + 15) / 16 * 16, 8 * kThreads);
  body += "  ld.param.u64 %base, [out];\n";
  if (place == "global" || place == "generic") {
    body += place == "generic" ? "  cvta.global.u64 %p, %base;\n" : "  mov.b64 %p, %base;\n";
  } else {
    body += clear_shared(total / 8);
  }
  body += fmt::format("  mul.wide.u32 %q, %i, {};\n  add.u64 %q, %q, %p;\n  {} [%q], {};\n", unit, spelt, v);
  body += fmt::format("  mul.wide.u32 %q, %i, {};\n  add.u64 %q, %q, %p;\n  @%guard {} [%q+{}], {};\n",
                      2 * unit, spelt, second, v);
  body += fmt::format("  bar.sync 0;\n  setp.eq.u32 %z0, %i, 70;\n  @%z0 {} [%p+{}], {};\n", spelt, third, v);
  if (place == "shared") body += copy_shared(total / 8);
  s.out.assign(total / 8, 0);
  auto* memory = reinterpret_cast<std::uint8_t*>(s.out.data());
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    put(memory, first + i * unit, i);
    if (i % 2 == 1) put(memory, second + 2 * i * unit, i);
  }
  put(memory, third, 70);
  s.ptx = scenario_kernel(registers, body, 0, 0);
  s.in = {0};
  return s;
}

}  // namespace

std::vector<Scenario> memory_scenarios() {
  std::vector<Scenario> all;
  for (const char* place : {"global", "shared", "local", "generic"})
    for (const Element& e : kElements)
      for (const int count : {1, 2, 4}) {
        if (count == 4 && e.bytes == 8) continue;
        all.push_back(load(place, e, count));
        if (!e.is_signed) all.push_back(store(place, e, count));
      }
  return all;
}

}  // namespace course::sim
