// SPDX-License-Identifier: MIT
// Reading order: hostile_kernel at the end, Writer::statement, then one function per family of instructions.
#include "sim/conformance/hostile_kernel.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sim/memory/memory.hpp"

namespace course::sim::hostile {
namespace {

constexpr int kRegisters = 8;  // of each type
constexpr std::string_view kFormats[] = {"%d %u %s\\n", "%*d|%.*f",    "%s",
                                         "%999999999d", "%.99999999f", "%-0+ #12.4x",
                                         "%p %c %%",    "%ll %hhd %",  "no end"};

// Extents of arrays and sizes of accesses: small, at limits, and far beyond.
std::uint64_t any_size(Choices& c) {
  switch (c.below(8)) {
    case 0: return c.of<std::uint64_t>({0, 1, 3, 7, 65, 1000});
    case 1: return c.of<std::uint64_t>({49152, 232448, 232449, 524288, 524289, 16777216});
    case 2: return c.of<std::uint64_t>({0x7fffffff, 0xffffffff, 0x100000000, 0xfffffff0});
    default: return c.of<std::uint64_t>({4, 8, 16, 24, 32, 64, 128});
  }
}

std::uint32_t any_extent(Choices& c) {
  if (c.one_in(40)) return c.of<std::uint32_t>({0, 65535, 65536, 0x7fffffff, 0xffffffff, 4096});
  return c.of<std::uint32_t>({1, 1, 1, 2, 3, 4});
}

class Writer {
 public:
  Writer(Choices& c, std::span<const Place> places) : c_(c), places_(places) {}

  std::string module();
  std::size_t n_parameters = 0;

 private:
  void line(const std::string& text) {
    const bool guarded = c_.one_in(6);
    body_ += guarded ? fmt::format("  @{}%p{} {};\n", c_.one_in(2) ? "!" : "", c_.below(4), text)
                     : fmt::format("  {};\n", text);
  }
  template <typename... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    line(fmt::format(format, std::forward<T>(values)...));
  }
  // A call with its parameters cannot be guarded as a whole.
  template <typename... T>
  void group(fmt::format_string<T...> format, T&&... values) {
    body_ += "  " + fmt::format(format, std::forward<T>(values)...) + "\n";
  }
  std::string r() { return fmt::format("%r{}", c_.below(kRegisters)); }
  std::string rd() { return fmt::format("%rd{}", c_.below(kRegisters)); }
  std::string p() { return fmt::format("%p{}", c_.below(4)); }
  std::string of_bits(int bits) {
    return bits == 128 ? fmt::format("%q{}", c_.below(2)) : bits == 64 ? rd() : bits == 16 ? "%h0" : r();
  }
  std::string vector_of(int bits, int count) {
    if (count == 1) return of_bits(bits);
    std::string text = "{";
    for (int k = 0; k < count; ++k) text += (k == 0 ? "" : ", ") + of_bits(bits);
    return text + "}";
  }

  std::int64_t offset();
  std::uint64_t address();
  std::string where(std::string_view space);
  void new_address();
  void statement(int depth);
  void access();
  void atomic();
  void barrier_object();
  void copy();
  void matrix();
  void texture();
  void synchronise();
  void shuffle();
  void call();
  void control(int depth);

  Choices& c_;
  std::span<const Place> places_;
  std::string body_;
  int n_labels_ = 0;
};

// Near 0, and near the limits of windows.
std::int64_t Writer::offset() {
  switch (c_.below(24)) {
    case 0: return c_.of<std::int64_t>({1, 2, 3, 5, -1, -4, -8, -16});
    case 1:
    case 2: return c_.of<std::int64_t>({1 << 24, (1 << 24) - 8, 1 << 25, 0x7fffffff, -0x7fffffff});
    case 3: return c_.of<std::int64_t>({4, 8, 12, 20, 60});
    default: return c_.of<std::int64_t>({0, 0, 0, 16, 32, 48});
  }
}

std::uint64_t Writer::address() {
  switch (c_.below(8)) {
    case 0:
      return c_.of<std::uint64_t>({0, 8, ~std::uint64_t{0}, ~std::uint64_t{15}, std::uint64_t{1} << 63});
    case 1:
      return c_.of({kSharedWindow, kLocalWindow, kFunctionWindow}) +
             c_.of<std::uint64_t>({0, 16, kBlockPart, 2 * kBlockPart, 16 * kBlockPart, 17 * kBlockPart,
                                   kWindowSize - 8, kWindowSize - 1, kWindowSize});
    case 2: return kFunctionWindow + 16 * c_.below(4);
    case 3: return c_.word();
    default: {
      const Place& place = places_[c_.below(places_.size())];
      return place.address +
             c_.of<std::uint64_t>({0, 0, 8, place.n_bytes / 2, place.n_bytes - 4, place.n_bytes - 8,
                                   place.n_bytes - 16, place.n_bytes, ~std::uint64_t{0}});
    }
  }
}

// An address operand, without brackets.
std::string Writer::where(std::string_view space) {
  const std::int64_t by = offset();
  const std::string plus = by == 0 ? "" : fmt::format("+{}", by);
  if (space.starts_with("shared") && c_.one_in(2))
    return std::string(c_.text({"s_own", "s_dynamic", "s_module"})) + plus;
  if (space == "local" && c_.one_in(2)) return "l_own" + plus;
  if (space == "param") return c_.one_in(3) ? rd() + plus : fmt::format("a{}", c_.below(n_parameters)) + plus;
  if (space == "const" && c_.one_in(2)) return "c_module" + plus;
  if (space == "global" && c_.one_in(4)) return "g_module" + plus;
  if (c_.one_in(12)) return fmt::format("{}", address());
  // Shared and local addresses are small numbers, generic ones are not.
  if ((space.starts_with("shared") || space == "local") && !c_.one_in(4)) return r() + plus;
  return rd() + plus;
}

void Writer::new_address() {
  const std::string to = rd();
  switch (c_.below(7)) {
    case 0: return line("mov.u64 {}, {}", to, c_.text({"g_module", "c_module", "s_own", "l_own", "f"}));
    case 1:
      return line("cvta{}.{}.u64 {}, {}", c_.one_in(3) ? ".to" : "",
                  c_.text({"shared", "local", "global", "const"}), to, rd());
    case 2: return line("mapa.u64 {}, {}, {}", to, rd(), c_.of({0, 0, 0, 0, 1, 1, 2, 15, 16, -1}));
    case 3: {
      const std::string narrow = r();
      line("mov.u32 {}, {}", narrow, c_.text({"s_own", "s_dynamic", "s_module", "l_own"}));
      if (c_.one_in(3)) line("mapa.shared::cluster.u32 {}, {}, {}", narrow, narrow, c_.below(3));
      if (c_.one_in(2)) line("mad.lo.u32 {0}, %lane, {1}, {0}", narrow, c_.of({4, 8, 16, 1, 65536}));
      if (c_.one_in(3)) line("add.u32 {0}, {0}, {1}", narrow, static_cast<std::uint32_t>(offset()));
      return;
    }
    case 4: return line("mad.lo.u64 {0}, %lanes, {1}, {0}", to, c_.of<std::int64_t>({1, 4, 8, 16, 4096, -4}));
    default: return line("mov.u64 {}, {}", to, address());
  }
}

void Writer::access() {
  const std::string_view space =
      c_.text({"", "global", "shared", "local", "const", "param", "shared::cluster"});
  const bool store = c_.one_in(2) && space != "const" && space != "param";
  const std::string_view type =
      c_.text({"u8", "s8", "u16", "u32", "s32", "b64", "u64", "b128", "f32", "f64"});
  const int bits = type.ends_with("128") ? 128 : type.ends_with("64") ? 64 : type.ends_with("16") ? 16 : 32;
  const int count = bits == 128 ? 1 : bits == 64 ? c_.of({1, 1, 2}) : c_.of({1, 1, 2, 4});
  const std::string_view order =
      c_.text({"", "", "", ".volatile", ".relaxed.gpu", ".relaxed.cta", ".acquire.gpu", ".release.sys"});
  const std::string name = fmt::format("{}{}{}{}{}.{}", store ? "st" : "ld", order, space.empty() ? "" : ".",
                                       space, count > 1 ? fmt::format(".v{}", count) : "", type);
  const std::string at = where(space), value = vector_of(bits, count);
  line(store ? fmt::format("{} [{}], {}", name, at, value) : fmt::format("{} {}, [{}]", name, value, at));
}

void Writer::atomic() {
  const std::string_view space = c_.text({"", "global", "shared", "shared::cluster"});
  const std::string_view type =
      c_.text({"u32", "s32", "u64", "f32", "f64", "b32", "b64", "b128", "f16x2", "b16"});
  const int bits = type == "b128" ? 128 : type.ends_with("64") ? 64 : type == "b16" ? 16 : 32;
  std::string_view name = c_.text({"add", "min", "max"});
  if (type == "u32") name = c_.text({"add", "min", "max", "inc", "dec"});
  if (type == "b32" || type == "b64") name = c_.text({"and", "or", "xor", "exch", "cas"});
  if (type.starts_with("f")) name = type == "f16x2" ? "add.noftz" : "add";
  if (type.starts_with("b1")) name = type == "b128" ? c_.text({"exch", "cas"}) : "cas";
  const bool returns = c_.one_in(2) || name == "exch" || name == "cas";
  std::string text =
      fmt::format("{}{}{}.{}.{} {}[{}], {}", returns ? "atom" : "red", space.empty() ? "" : ".", space, name,
                  type, returns ? of_bits(bits) + ", " : "", where(space), of_bits(bits));
  if (name == "cas" || c_.one_in(30)) text += ", " + of_bits(bits);
  line(text);
}

void Writer::barrier_object() {
  const std::string_view space =
      c_.text({".shared", ".shared", ".shared", ".shared::cta", ".shared::cluster", ""});
  const std::string at = where(space.empty() ? "" : "shared");
  const std::string n =
      c_.one_in(3) ? r() : fmt::format("{}", c_.of<std::int64_t>({1, 2, 32, 0, 1048575, 1048576, -1}));
  switch (c_.below(8)) {
    case 0:
    case 1: return line("mbarrier.init{}.b64 [{}], {}", space, at, n);
    case 2:
      return line("mbarrier.arrive{}{}.b64 {}, [{}]{}", c_.one_in(3) ? ".expect_tx" : "", space,
                  c_.one_in(2) ? "_" : rd(), at, c_.one_in(2) ? ", " + n : "");
    case 3:
      return line("mbarrier.arrive_drop{}{}.b64 {}, [{}]", c_.one_in(3) ? ".noComplete" : "", space, rd(),
                  at);
    case 4:
      return line("mbarrier.{}{}.b64 {}, [{}], {}", c_.text({"test_wait", "try_wait"}), space, p(), at, rd());
    case 5: return line("mbarrier.test_wait.parity{}.b64 {}, [{}], {}", space, p(), at, r());
    case 6:
      return line("mbarrier.{}{}.b64 [{}]{}",
                  c_.text({"inval", "expect_tx.relaxed.cta", "complete_tx.relaxed.cta"}), space, at,
                  c_.one_in(4) ? "" : ", " + n);
    default: return line("mbarrier.pending_count.b64 {}, {}", r(), rd());
  }
}

void Writer::copy() {
  const std::string size =
      c_.one_in(3) ? r() : fmt::format("{}", c_.of<std::int64_t>({16, 32, 0, 8, 4096, -16, 0x7ffffff0}));
  switch (c_.below(8)) {
    case 0:
    case 1: {
      const int n = c_.of({4, 8, 16});
      return line("cp.async.ca.shared.global [{}], [{}], {}{}", where("shared"), where("global"), n,
                  c_.one_in(2) ? ", " + r() : "");
    }
    case 2:
      return line("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}], [{}], {}, [{}]",
                  where("shared"), where("global"), size, where("shared"));
    case 3:
      return line("cp.async.bulk.global.shared::cta.bulk_group [{}], [{}], {}", where("global"),
                  where("shared"), size);
    case 4:
      return line("cp.async.mbarrier.arrive{}.shared.b64 [{}]", c_.one_in(2) ? ".noinc" : "",
                  where("shared"));
    case 5: return line(c_.one_in(2) ? "cp.async.commit_group" : "cp.async.bulk.commit_group");
    case 6:
      return line(c_.one_in(3) ? "cp.async.wait_all"
                               : fmt::format("cp.async{}.wait_group {}", c_.one_in(2) ? ".bulk" : "",
                                             c_.of<std::int64_t>({0, 1, -1, 0x7fffffff})));
    default:
      line(c_.one_in(2) ? fmt::format("prefetch.global.L2 [{}]", where("global"))
                        : fmt::format("cp.async.bulk.prefetch.L2.global [{}], {}", where("global"), size));
  }
}

void Writer::matrix() {
  const std::string_view space = c_.text({"shared", "global", ""});
  switch (c_.below(4)) {
    case 0: {
      const int n = c_.of({1, 2, 4});
      return line("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [{}]", n, c_.one_in(2) ? ".trans" : "",
                  n == 1 ? "{" + r() + "}" : vector_of(32, n), where("shared"));
    }
    case 1:
      return line("stmatrix.sync.aligned.m8n8.x2.shared.b16 [{}], {}", where("shared"), vector_of(32, 2));
    case 2:
      return line(
          "wmma.load.{}.sync.aligned.{}.m16n16k16{}{}.f16 {{%r0, %r1, %r2, %r3, %r4, %r5, %r6, "
          "%r7}}, [{}], {}",
          c_.text({"a", "b"}), c_.text({"row", "col"}), space.empty() ? "" : ".", space, where(space),
          c_.one_in(2) ? r() : "16");
    default:
      line(
          "wmma.store.d.sync.aligned.{}.m16n16k16{}{}.f32 [{}], {{%f0, %f1, %f2, %f3, %f0, %f1, %f2, %f3}}, "
          "{}",
          c_.text({"row", "col"}), space.empty() ? "" : ".", space, where(space), c_.one_in(2) ? r() : "16");
  }
}

void Writer::texture() {
  const std::string handle = rd();
  switch (c_.below(6)) {
    case 0: return line("tex.1d.v4.f32.{} {}, [{}, {{{}}}]", "s32", vector_of(32, 4), handle, r());
    case 1: return line("tex.2d.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [{}, {{%f0, %f1}}]", handle);
    case 2: return line("tex.3d.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [{}, {{%f0, %f1, %f2, %f3}}]", handle);
    case 3:
      return line("tex.a2d.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [{}, {{{}, %f0, %f1, %f2}}]", handle, r());
    case 4:
      return line("suld.b.2d.{}.{} {}, [{}, {{{}, {}}}]", c_.text({"b32", "b8", "b16"}),
                  c_.text({"trap", "clamp", "zero"}), r(), handle, r(), r());
    default:
      line("sust.b.2d.v4.b32.{} [{}, {{{}, {}}}], {}", c_.text({"trap", "clamp", "zero"}), handle, r(), r(),
           vector_of(32, 4));
  }
}

void Writer::synchronise() {
  const std::string number = c_.one_in(3) ? r() : fmt::format("{}", c_.of({0, 1, 15, 16, 17, -1}));
  const std::string count = c_.one_in(3) ? r() : fmt::format("{}", c_.of({32, 64, 0, 1, 2048, -1}));
  switch (c_.below(8)) {
    case 0: return line("bar.sync " + number);
    case 1: return line("bar.sync {}, {}", number, count);
    case 2: return line("bar.arrive {}, {}", number, count);
    case 3: return line("bar.red.{} {}, {}, {}", "popc.u32", r(), number, p());
    case 4: return line("barrier.cluster.{}", c_.text({"arrive", "wait", "arrive.release", "wait.acquire"}));
    case 5: return line("bar.warp.sync " + (c_.one_in(2) ? r() : std::string("-1")));
    case 6: return line(std::string(c_.text({"membar.gl", "fence.sc.gpu", "fence.acq_rel.cta"})));
    default: line(c_.one_in(2) ? "nanosleep.u32 " + r() : fmt::format("mov.u64 {}, %clock64", rd()));
  }
}

void Writer::shuffle() {
  const std::string mask = c_.one_in(2) ? "-1"
                           : c_.one_in(2)
                               ? r()
                               : fmt::format("{}", c_.of<std::int64_t>({0, 1, 0x80000000, 0xffff}));
  switch (c_.below(6)) {
    case 0:
      return line("shfl.sync.{}.b32 {}|{}, {}, {}, {}, {}", c_.text({"up", "down", "bfly", "idx"}), r(), p(),
                  r(), r(), r(), mask);
    case 1: return line("vote.sync.ballot.b32 {}, {}, {}", r(), p(), mask);
    case 2:
      return line("match.any.sync.b{} {}, {}, {}", c_.one_in(2) ? "32" : "64", r(), c_.one_in(2) ? r() : rd(),
                  mask);
    case 3: return line("match.all.sync.b32 {}|{}, {}, {}", r(), p(), r(), mask);
    case 4:
      return line("redux.sync.{} {}, {}, {}", c_.text({"add.s32", "min.u32", "or.b32"}), r(), r(), mask);
    default: line("elect.sync {}|{}, {}", r(), p(), mask);
  }
}

void Writer::call() {
  switch (c_.below(6)) {
    case 0:
      return group(
          "{{ .param .b64 x; .param .b64 y; st.param.b64 [x], {}; call (y), f, (x); ld.param.b64 {}, [y]; }}",
          rd(), rd());
    case 1:
      return group(
          "{{ .param .b64 x; .param .b64 y; st.param.b64 [x], {}; call (y), {}, (x), proto; "
          "ld.param.b64 {}, [y]; }}",
          rd(), rd(), rd());
    case 2:
      return group(
          "{{ .param .b64 x; .param .b64 y; st.param.b64 [x], {}; call (y), malloc, (x); "
          "ld.param.b64 {}, [y]; }}",
          c_.one_in(3) ? rd() : "%small", rd());
    case 3: return group("{{ .param .b64 x; st.param.b64 [x], {}; call free, (x); }}", rd());
    case 4:
      return group(
          "{{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], {}; st.param.b64 "
          "[y], {}; call (z), vprintf, (x, y); ld.param.b32 {}, [z]; }}",
          c_.one_in(4) ? rd() : "%format", rd(), r());
    default:
      group(
          "{{ .param .b64 w; .param .b64 x; .param .b32 y; .param .b64 z; .param .b64 n; "
          "st.param.b64 [w], {0}; st.param.b64 [x], %format; "
          "st.param.b32 [y], 1; st.param.b64 [z], %format; st.param.b64 [n], 1; call "
          "__assertfail, (w, x, y, z, n); }}",
          rd());
  }
}

void Writer::control(int depth) {
  const int label = n_labels_++;
  switch (c_.below(5)) {
    case 0:  // a branch over some statements
      body_ += fmt::format("  @{} bra L{};\n", p(), label);
      for (std::uint64_t n = 1 + c_.below(3); n > 0; --n) statement(depth + 1);
      body_ += fmt::format("L{}:\n", label);
      break;
    case 1:  // a loop, which may not end
      body_ += fmt::format("  mov.u32 %count, 0;\nL{}:\n", label);
      for (std::uint64_t n = 1 + c_.below(3); n > 0; --n) statement(depth + 1);
      body_ += fmt::format("  add.u32 %count, %count, 1;\n  setp.lt.u32 %p4, %count, {};\n  @%p4 bra L{};\n",
                           c_.of<std::uint32_t>({2, 5, 70, 1000}), label);
      break;
    case 2:
      body_ +=
          fmt::format("  T{0}: .branchtargets L{0}, M{0};\n  @{1} brx.idx {2}, T{0};\n", label, p(), r());
      statement(depth + 1);
      body_ += fmt::format("L{0}:\n", label);
      statement(depth + 1);
      body_ += fmt::format("M{0}:\n", label);
      break;
    case 3: return line(c_.one_in(2) ? "exit" : "ret");
    default:
      if (c_.one_in(4))
        line("trap");
      else
        line("setp.lt.u32 {}, {}, {}", p(), r(), r());
  }
}

void Writer::statement(int depth) {
  switch (c_.below(16)) {
    case 0:
    case 1:
    case 2: return new_address();
    case 3:
    case 4:
    case 5: return access();
    case 6: return atomic();
    case 7:
    case 8: return barrier_object();
    case 9: return copy();
    case 10: return c_.one_in(2) ? matrix() : texture();
    case 11: return synchronise();
    case 12: return shuffle();
    case 13: return call();
    case 14:
      if (depth < 3) return control(depth);
      [[fallthrough]];
    default:
      switch (c_.below(4)) {
        case 0:
          return line("mov.u32 {}, {}", r(),
                      c_.text({"%tid.x", "%laneid", "%ctaid.x", "%cluster_ctarank", "%nctaid.y", "%smid",
                               "%envreg2", "%total_smem_size", "%reserved_smem_offset_1"}));
        case 1:
          return line("mov.u32 {}, {}", r(),
                      static_cast<std::uint32_t>(c_.one_in(2) ? c_.word() : c_.below(70)));
        case 2:
          return line("isspacep.{} {}, {}", c_.text({"shared", "local", "global", "shared::cluster"}), p(),
                      rd());
        default: return line("getctarank.u64 {}, {}", r(), rd());
      }
  }
}

std::string Writer::module() {
  n_parameters = c_.one_in(50) ? c_.of<std::size_t>({100, 1200}) : c_.below(4) + 1;
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  text += fmt::format(".global .align 16 .b8 g_module[{}];\n", c_.one_in(30) ? any_size(c_) : 64);
  text += fmt::format(".const .align 8 .b8 c_module[{}];\n", 32);
  text += fmt::format(".shared .align {} .b8 s_module[{}];\n", c_.of({1, 4, 16, 128}),
                      c_.one_in(30) ? any_size(c_) : 48);
  text += ".extern .shared .align 16 .b8 s_dynamic[];\n";
  const std::string_view format = kFormats[c_.below(std::size(kFormats))];
  text += ".global .align 1 .b8 g_format[] = {";
  for (std::size_t k = 0; k < format.size(); ++k) text += fmt::format("{}, ", static_cast<int>(format[k]));
  text += c_.one_in(8) ? "1};\n" : "0};\n";
  text +=
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 "
      "s);\n";
  // A function with a frame of any size, which may call itself.
  text += fmt::format(
      ".func (.param .b64 y) f(.param .b64 x{})\n{{\n  .reg .b64 %a<4>;\n  .reg .pred %p;\n"
      "  .local .align 8 .b8 frame[{}];\n  ld.param.b64 %a0, [x];\n  add.u64 %a0, %a0, -1;\n",
      c_.one_in(30) ? fmt::format(", .param .align 16 .b8 big[{}]", any_size(c_)) : "",
      c_.one_in(10) ? any_size(c_) : 16);
  if (c_.one_in(3))
    text +=
        "  setp.gt.s64 %p, %a0, 0;\n  @!%p bra DONE;\n  { .param .b64 u; .param .b64 v; st.param.b64 [u], "
        "%a0;\n"
        "  call (v), f, (u);\n  ld.param.b64 %a1, [v]; }\nDONE:\n";
  text += "  st.param.b64 [y], %a0;\n  ret;\n}\n.visible .entry k(";
  for (std::size_t k = 0; k < n_parameters; ++k)
    text += fmt::format("{}.param .b64 a{}", k == 0 ? "" : ", ", k);
  text += ")";
  if (c_.one_in(20)) text += fmt::format(" .reqnctapercluster {}, {}", any_extent(c_), any_extent(c_));
  if (c_.one_in(20)) text += fmt::format(" .maxntid {}, {}", any_extent(c_), any_extent(c_));
  text += fmt::format(
      "\n{{\n  .reg .b32 %r<{0}>;\n  .reg .b64 %rd<{0}>;\n  .reg .b128 %q<2>;\n  .reg .f32 %f<4>;\n"
      "  .reg .b16 %h0;\n  .reg .pred %p<5>;\n  .reg .b32 %lane, %count;\n"
      "  .reg .b64 %lanes, %format, %small;\n",
      kRegisters);
  text += fmt::format("  .shared .align 16 .b8 s_own[{}];\n  .local .align 16 .b8 l_own[{}];\n",
                      c_.one_in(30) ? any_size(c_) : c_.of<std::uint64_t>({24, 64, 512}),
                      c_.one_in(30) ? any_size(c_) : 64);
  text += "  proto: .callprototype (.param .b64 _) _ (.param .b64 _);\n";
  text +=
      "  mov.u32 %lane, %tid.x;\n  cvt.u64.u32 %lanes, %lane;\n  mov.u64 %format, g_format;\n"
      "  cvta.global.u64 %format, %format;\n  mov.u64 %small, 40;\n";
  // Registers begin with addresses that are often right.
  for (int k = 0; k < kRegisters; ++k) {
    const Place& place = places_[c_.below(places_.size())];
    text += k < 3
                ? fmt::format("  mad.lo.u64 %rd{}, %lanes, {}, {};\n", k, c_.of({0, 4, 8, 16}), place.address)
            : k < 5 ? fmt::format("  ld.param.u64 %rd{}, [a{}];\n", k, c_.below(n_parameters))
                    : fmt::format("  mov.u64 %rd{}, {};\n", k, address());
    text +=
        k < 3 ? fmt::format("  mov.u32 %r{0}, {1};\n", k, c_.text({"s_own", "s_dynamic", "l_own"}))
              : fmt::format("  mov.u32 %r{}, {};\n", k, c_.one_in(2) ? c_.below(64) : c_.word() & 0xffffffff);
  }
  text +=
      "  setp.lt.u32 %p0, %lane, 1;\n  setp.lt.u32 %p1, %lane, 17;\n  setp.ge.u32 %p2, %lane, 0;\n"
      "  setp.eq.u32 %p3, %lane, 40;\n";
  for (std::uint64_t n = 2 + c_.below(16); n > 0; --n) statement(0);
  return text + body_ + "  ret;\n}\n";
}

}  // namespace

Choices::Choices(std::span<const std::uint8_t> bytes) : left_(bytes), state_(0xcbf29ce484222325u) {
  for (const std::uint8_t b : bytes) state_ = (state_ ^ b) * 0x100000001b3u;
}

std::uint64_t Choices::word() {
  if (left_.size() >= 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, left_.data(), 8);
    left_ = left_.subspan(8);
    return value;
  }
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

std::uint64_t Choices::below(std::uint64_t bound) {
  if (bound <= 1) return 0;
  if (left_.size() < 8 || bound > 256) return word() % bound;
  const std::uint64_t value = left_.front();
  left_ = left_.subspan(1);
  return value % bound;
}

HostileKernel hostile_kernel(Choices& c, std::span<const Place> places) {
  HostileKernel made;
  Writer writer(c, places);
  made.ptx = writer.module();
  LaunchRequest& launch = made.launch;
  launch.grid = {any_extent(c), any_extent(c), any_extent(c)};
  launch.block = {c.of<std::uint32_t>({1, 31, 32, 32, 33, 64, 96}), 1, 1};
  if (c.one_in(10)) launch.block = {any_extent(c), any_extent(c), any_extent(c)};
  if (c.one_in(4)) launch.cluster = {any_extent(c), any_extent(c), any_extent(c)};
  if (!c.one_in(20)) launch.grid = {launch.cluster.x * c.of({1u, 2u}), launch.cluster.y, launch.cluster.z};
  // A device accepts larger grids, too, but under AddressSanitizer even empty blocks take a millisecond.
  if (launch.grid.x <= 0x7fffffff && launch.grid.y <= 65535 && launch.grid.z <= 65535 &&
      launch.grid.count() > 4096)
    launch.grid = {4096, 1, 1};
  launch.dynamic_shared = c.one_in(10) ? any_size(c) : c.of<std::uint64_t>({24, 40, 64, 256});
  launch.cooperative = c.one_in(8);
  std::size_t n_bytes = writer.n_parameters * 8;
  if (c.one_in(20)) n_bytes = c.of<std::size_t>({0, 4, n_bytes + 8, 40000});
  made.parameters.resize(n_bytes);
  for (std::size_t k = 0; k + 8 <= n_bytes; k += 8) {
    const std::uint64_t value = places[c.below(places.size())].address;
    std::memcpy(made.parameters.data() + k, &value, 8);
  }
  return made;
}

}  // namespace course::sim::hostile
