// SPDX-License-Identifier: MIT
#include "sim/conformance/differential/generate.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/rng.hpp"
#include "sim/conformance/format.hpp"

namespace course::sim::differential {
namespace {

using ptx::Type;

constexpr int kPredicates = 6, kHalves = 8, kWords = 12, kWides = 8;
constexpr int kDeepest = 2;  // the deepest nesting of branches and loops

// Conversions of the suite that ptxas refuses for sm_90.
bool is_refused(const Operation& o) {
  const auto has = [&](std::string_view part) { return o.ptx.find(part) != std::string::npos; };
  if (!o.ptx.starts_with("cvt.")) return false;
  const Type from = o.sources[0];
  const auto integer = [](Type t) { return ptx::spelling(t)[0] == 's' || ptx::spelling(t)[0] == 'u'; };
  if (has(".sat.") && integer(from) && integer(o.result)) {  // there is nothing to clamp
    const bool same_sign = ptx::spelling(from)[0] == ptx::spelling(o.result)[0];
    const int room = ptx::bits_of(o.result) - ptx::bits_of(from);
    return same_sign ? room >= 0 : ptx::spelling(o.result)[0] == 's' && room > 0;
  }
  if (has("tf32")) return has(".satfinite") && !has(".rna");
  const bool narrow = has("8.bf16") || has("bf16.u8") || has("bf16.s8") || has("u16.bf16") || has("s16.bf16");
  return has("bf16") && !has("x2") && (has(".sat.") || narrow);
}

// (For instructions whose machine code deviates from the ISA, kTemplates has forms with operands for which
// both agree.)
// Capital letters stand for registers: P predicate, H 16 bits, R 32, W 64; # for a random byte.
constexpr std::string_view kTemplates =
    "set.lt.u32.f16x2 R, R, R; set.geu.s32.bf16x2 R, R, R; set.ne.and.f16x2.f16x2 R, R, R, P; "
    "set.le.bf16x2.bf16x2 R, R, R; set.gt.u16.f16 H, H, H; set.eq.u32.u64 R, W, W; "
    "set.ltu.f32.f64 R, W, W; set.hs.xor.s32.u32 R, R, R, !P; setp.lt.f16x2 P|P, R, R; "
    "setp.neu.or.bf16x2 P|P, R, R, P; setp.gt.and.s32 P|P, R, R, P; setp.le.xor.u64 P|P, W, W, !P; "
    "mov.b32 {H, H}, R; mov.b32 R, {H, H}; mov.b64 {R, R}, W; mov.b64 W, {R, R}; "
    "mov.b64 {H, H, H, H}, W; mov.b64 W, {H, H, H, H}; lop3.b32 R, R, R, R, #; "
    "lop3.or.b32 R|P, R, R, R, #, P; prmt.b32 R, R, R, #; shf.l.wrap.b32 R, R, R, #; add.s32 R, R, -#; "
    "and.b64 W, W, 0xffff00ff00ff; mul.wide.u32 W, R, #; bfi.b64 W, W, W, #, #; bfe.u64 W, W, #, #; "
    "bfe.s64 W, W, #, #; cvt.pack.sat.u8.s32.b32 R, R, R, R; cvt.pack.sat.s16.s32 R, R, R;";
std::vector<std::string_view> templates() {
  std::vector<std::string_view> all;
  for (std::string_view left = kTemplates; !left.empty();) {
    const std::size_t n = left.find(';');
    all.push_back(left.substr(0, n));
    left.remove_prefix(std::min(n + 2, left.size()));
  }
  return all;
}

// Under a guard, into which ptxas also converts branches, sm_90's machine code converts the previous contents
// of the register.
constexpr std::string_view kLosesGuard = "set.ltu.f32.f64";

// Instructions that all lanes of a warp execute together.
constexpr std::string_view kWarpTemplates[] = {
    "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {R, R, R, R}, {R, R}, {R}, {R, R, R, R}",
    "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {R, R}, {R}, {R}, {R, R}",
    "movmatrix.sync.aligned.m8n8.trans.b16 R, R",
    "elect.sync R|P, -1",
};

// ptxas 13.0 miscompiles some instructions when it knows which instruction wrote an operand
// (common/simulator/sim/README.md). These instructions therefore read an operand, or write their result,
// through a register about which it knows nothing.
bool hides_first_source(std::string_view op) {
  return op.starts_with("cvt.") || (op.starts_with("abs.") && op.ends_with("f16x2"));
}
bool hides_last_source(std::string_view op) {
  return (op.starts_with("shl.") || op.starts_with("shr.")) && !op.ends_with("32");
}
bool hides_result(std::string_view op) {
  const bool integer = op.ends_with(".s16") || op.ends_with(".s32") || op.ends_with(".s64");
  return op.starts_with("cvt.") || (op.starts_with("setp.") && op.ends_with(".ftz.f32")) ||
         (integer && (op.starts_with("abs.") || op.starts_with("neg.")));
}
// The result of these must not be the register of their last source: in a loop that ptxas unrolls, it leaves
// some of them out.
bool needs_another_result(std::string_view op) {
  return op.starts_with("mad.hi.") || (op.starts_with("neg.") && op.find("f16") != std::string_view::npos);
}

// fmt::format in braces: every compiler evaluates the arguments from left to right. They draw random numbers.
struct InOrder {
  template <typename... T>
  explicit InOrder(fmt::format_string<T...> format, T&&... values)
      : text(fmt::format(format, std::forward<T>(values)...)) {}
  std::string text;
};

class Generator {
 public:
  Generator(std::uint64_t seed, std::string name, int sm)
      : rng_(seed_for(seed, "differential kernel")), name_(std::move(name)), sm_(sm) {}

  std::string kernel() {
    const std::size_t n_functions = 1 + rng_.below(2);
    for (std::size_t k = 0; k < n_functions; ++k) functions_ += function(k);
    n_functions_ = n_functions;
    text_.clear();
    const std::size_t n = 10 + rng_.below(30);
    for (std::size_t k = 0; k < n; ++k) statement(0);
    std::string out = functions_;
    out += fmt::format(
        ".visible .entry {}(.param .u64 in, .param .u64 out)\n{{\n{}"
        "  .reg .b32 %thread, %gid, %c<{}>;\n  .reg .b64 %in, %out;\n"
        "  .shared .align 16 .b8 slots[{}];\n  .shared .align 8 .b8 cells[64];\n"
        "  .local .align 16 .b8 own[64];\n",
        name_, registers(), kDeepest + 1, 8 * kThreads);
    out += fmt::format(
        "  ld.param.u64 %in, [in];\n  ld.param.u64 %out, [out];\n  mov.u32 %thread, %tid.x;\n"
        "  mov.u32 %t0, %ctaid.x;\n  mad.lo.u32 %gid, %t0, {}, %thread;\n"
        "  mul.wide.u32 %u0, %gid, {};\n  add.u64 %in, %in, %u0;\n  mul.wide.u32 %u0, %gid, {};\n"
        "  add.u64 %out, %out, %u0;\n",
        kThreads, 8 * kWordsIn, 8 * kWordsOut);
    for (int k = 0; k < kWides; ++k) out += fmt::format("  ld.global.u64 %w{}, [%in+{}];\n", k, 8 * k);
    out += first_values();
    for (int k = 0; k < 16; ++k) out += fmt::format("  st.local.b32 [own+{}], %r{};\n", 4 * k, k % kWords);
    out += text_;
    out += leave();
    return out + "  ret;\n}\n";
  }

 private:
  static std::string registers() {
    return fmt::format(
        "  .reg .pred %p<{}>, %q<4>;\n  .reg .b16 %h<{}>, %zero16;\n  .reg .b32 %r<{}>, %t<6>, %zero32;\n"
        "  .reg .b64 %w<{}>, %u<6>, %zero64;\n",
        kPredicates, kHalves, kWords, kWides);
  }
  // Initialises the other registers from the wide ones, and the halves from memory. If a half were the low
  // part of a word that is still used, ptxas 13.0 would pack halves into that word and destroy it.
  static std::string first_values() {
    std::string out =
        "  mov.u32 %zero32, %ctaid.y;\n  cvt.u16.u32 %zero16, %zero32;\n  cvt.u64.u32 %zero64, %zero32;\n";
    for (int k = 0; k < kWords; ++k)
      out += k < kWides ? fmt::format("  cvt.u32.u64 %r{}, %w{};\n", k, k)
                        : fmt::format("  shr.u64 %u0, %w{}, 32;\n  cvt.u32.u64 %r{}, %u0;\n", k - kWides, k);
    for (int k = 0; k < kHalves; ++k) out += fmt::format("  ld.global.b16 %h{}, [%in+{}];\n", k, 8 * k + 2);
    for (int k = 0; k < kPredicates; ++k)
      out += fmt::format("  and.b32 %t0, %r{}, {};\n  setp.ne.u32 %p{}, %t0, 0;\n", k, 2 << k, k);
    return out;
  }
  // Stores all registers.
  static std::string leave() {
    std::string out;
    int word = 0;
    for (int k = 0; k < kWides; ++k) out += fmt::format("  st.global.b64 [%out+{}], %w{};\n", 8 * word++, k);
    for (int k = 0; k < kWords; k += 2)
      out += fmt::format("  st.global.v2.b32 [%out+{}], {{%r{}, %r{}}};\n", 8 * word++, k, k + 1);
    for (int k = 0; k < kHalves; k += 4)
      out += fmt::format("  st.global.v4.b16 [%out+{}], {{%h{}, %h{}, %h{}, %h{}}};\n", 8 * word++, k, k + 1,
                         k + 2, k + 3);
    out += "  mov.u32 %t0, 0;\n";
    for (int k = 0; k < kPredicates; ++k) out += fmt::format("  @%p{} or.b32 %t0, %t0, {};\n", k, 1 << k);
    out += fmt::format("  st.global.b32 [%out+{}], %t0;\n", 8 * word++);
    out +=
        fmt::format("  ld.local.v2.b64 {{%u0, %u1}}, [own];\n  st.global.b64 [%out+{}], %u0;\n", 8 * word++);
    out += fmt::format("  st.global.b64 [%out+{}], %u1;\n", 8 * word++);
    return out;
  }

  std::uint64_t below(std::uint64_t n) { return rng_.below(n); }
  std::string predicate() { return fmt::format("%p{}", below(kPredicates)); }
  std::string half() { return fmt::format("%h{}", below(kHalves)); }
  std::string word() { return fmt::format("%r{}", below(kWords)); }
  std::string wide() { return fmt::format("%w{}", below(kWides)); }
  std::string of_bits(int bits) { return bits == 64 ? wide() : bits == 32 ? word() : half(); }
  std::string of_type(Type t) {
    return t == Type::pred ? predicate() : of_bits(std::max(ptx::bits_of(t), 16));
  }
  void line(const std::string& text) { text_ += "  " + text + ";\n"; }
  template <typename... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    line(fmt::format(format, std::forward<T>(values)...));
  }
  std::string guard() {
    if (below(5) != 0) return "";
    return InOrder{"@{}{} ", below(2) == 0 ? "!" : "", predicate()}.text;
  }
  std::string label() { return fmt::format("L{}", n_labels_++); }

  static int bits_of_register(std::string_view name) {
    return name.starts_with("%h") ? 16 : name.starts_with("%w") ? 64 : 32;
  }
  // A copy by an instruction that ptxas cannot leave out: it does not know that the second operand is zero.
  static std::string hidden_copy(std::string_view to, std::string_view from) {
    const int bits = from.starts_with("%h") || to.starts_with("%h")   ? 16
                     : from.starts_with("%w") || to.starts_with("%w") ? 64
                                                                      : 32;
    return fmt::format("xor.b{0} {1}, {2}, %zero{0}", bits, to, from);
  }
  void hidden_operation(const Operation& o, const std::string& under, const std::string& result,
                        std::vector<std::string> sources) {
    const bool to_predicate = o.result == Type::pred;
    const std::string from = hides_last_source(o.ptx) ? sources.back() : sources.front();
    text_ += fmt::format("  {{ .reg .b{} %from; .reg .b{} %to; .reg .pred %is;\n", bits_of_register(from),
                         to_predicate ? 32 : bits_of_register(result));
    if (hides_first_source(o.ptx) || hides_last_source(o.ptx)) {
      line(hidden_copy("%from", from));
      (hides_last_source(o.ptx) ? sources.back() : sources.front()) = "%from";
    }
    const bool hidden = hides_result(o.ptx);
    line(under + instruction(o.ptx, !hidden ? result : to_predicate ? "%is" : "%to", sources));
    if (hidden && to_predicate) {
      line(under + "selp.b32 %to, 1, 0, %is");
      line(under + hidden_copy("%to", "%to"));
      line("{}setp.ne.u32 {}, %to, 0", under, result);
    } else if (hidden) {
      line(under + hidden_copy(result, "%to"));
    }
    text_ += "  }\n";
  }
  static std::string instruction(const std::string& op, const std::string& result,
                                 const std::vector<std::string>& sources) {
    std::string text = op + " " + result;
    for (const std::string& s : sources) text += ", " + s;
    return text;
  }

  void operation() {
    const auto& all = operations(sm_);
    const Operation& o = all[below(all.size())];
    const std::string under = o.sm90_loses_guard ? "" : guard();
    const auto any_result = [&] {
      return o.result == Type::pred        ? predicate()
             : o.result_register_bits != 0 ? of_bits(o.result_register_bits)
                                           : of_type(o.result);
    };
    std::string result = any_result();
    // ptxas treats the minimum of a register and itself as a copy, so that a NaN would keep its bits.
    const bool distinct = o.ptx.starts_with("min.") || o.ptx.starts_with("max.");
    std::vector<std::string> sources;
    for (const Type t : o.sources) {
      std::string source = of_type(t);
      while (distinct && std::find(sources.begin(), sources.end(), source) != sources.end())
        source = of_type(t);
      sources.push_back(source);
    }
    while (needs_another_result(o.ptx) && result == sources.back()) result = any_result();
    if (hides_first_source(o.ptx) || hides_last_source(o.ptx) || hides_result(o.ptx))
      return hidden_operation(o, under, result, std::move(sources));
    line(under + instruction(o.ptx, result, sources));
  }

  void form(std::string_view form, std::string text) {
    for (const char c : form) {
      std::string piece(1, c);
      if (c == 'P' || c == 'H' || c == 'R' || c == 'W') {
        do piece = c == 'P' ? predicate() : c == 'H' ? half() : c == 'R' ? word() : wide();
        while (used_in(text, piece));
      } else if (c == '#') {
        piece = fmt::format("{}", below(below(2) == 0 ? 64 : 256));
      }
      text += piece;
    }
    line(text);
  }
  // A register must not occur twice, because two results must differ; nor may the guard, which ptxas reads
  // again for the second result.
  static bool used_in(const std::string& text, const std::string& name) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool whole = end == text.size() || text[end] < '0' || text[end] > '9';
      if (whole) return true;
    }
    return false;
  }

  void carries() {
    constexpr const char* kStarts[] = {"add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"};
    constexpr const char* kReads[] = {"addc", "subc", "madc.lo", "madc.hi"};
    const char* type = below(2) == 0 ? (below(2) == 0 ? "u32" : "s32") : below(2) == 0 ? "u64" : "s64";
    const int bits = type[1] == '6' ? 64 : 32;
    const auto link = [&](const std::string& op) {
      std::string result = of_bits(bits);
      std::string text = InOrder{"{}, {}", of_bits(bits), of_bits(bits)}.text;
      if (op.starts_with("mad")) {
        const std::string addend = of_bits(bits);
        while (needs_another_result(op) && result == addend) result = of_bits(bits);
        text += ", " + addend;
      }
      line("{}.{} {}, {}", op, type, result, text);
    };
    link(kStarts[below(4)]);
    for (std::uint64_t k = below(3); k > 0; --k) link(std::string(kReads[below(4)]) + ".cc");
    link(kReads[below(4)]);
  }

  void local_array() {
    line("and.b32 %t0, {}, 15", word());
    line("shl.b32 %t0, %t0, 2; mov.u64 %u0, own; cvt.u64.u32 %u1, %t0; add.u64 %u0, %u0, %u1");
    if (below(2) == 0)
      line(InOrder{"{}st.local.b32 [%u0], {}", guard(), word()}.text);
    else
      line(InOrder{"{}ld.local.b32 {}, [%u0]", guard(), word()}.text);
  }

  void extended_load(const std::string& to_t3) {
    line(to_t3);
    line(hidden_copy(word(), "%t3"));
  }

  void input_again() {
    switch (below(6)) {
      case 0: return line("ld.global.v2.u64 {{%w0, %w1}}, [%in+{}]", 16 * below(4));
      case 1: return line("ld.global.nc.v4.u32 {{%r0, %r2, %r4, %r6}}, [%in+{}]", 16 * below(4));
      case 2: return extended_load(fmt::format("ld.global.s8 %t3, [%in+{}]", below(64)));
      case 3: return line(InOrder{"ld.global.u16 {}, [%in+{}]", half(), 2 * below(32)}.text);
      case 4: return line(InOrder{"ld.global.s16 {}, [%in+{}]", wide(), 2 * below(32)}.text);
      default: return line("ld.global.v4.u8 {{%h0, %h1, %h2, %h3}}, [%in+{}]", 4 * below(16));
    }
  }

  void branch(int depth) {
    const std::string otherwise = label(), end = label();
    line(InOrder{"@{}{} bra {}", below(2) == 0 ? "!" : "", predicate(), otherwise}.text);
    statements(depth);
    if (below(2) == 0) {
      text_ += otherwise + ":\n";
      return;
    }
    line("bra " + end);
    text_ += otherwise + ":\n";
    statements(depth);
    text_ += end + ":\n";
  }

  void loop(int depth) {
    const std::string again = label(), end = label(), counter = fmt::format("%c{}", depth);
    line("and.b32 {}, {}, 7", counter, word());
    text_ += again + ":\n";
    line("setp.eq.u32 %q{}, {}, 0", depth, counter);
    line("@%q{} bra {}", depth, end);
    statements(depth);
    line("sub.u32 {0}, {0}, 1", counter);
    line("bra " + again);
    text_ += end + ":\n";
  }

  void call() {
    line("{ .param .b32 a; .param .b64 b; .param .b64 from; .param .b64 c");
    line("st.param.b32 [a], {}", word());
    line("st.param.b64 [b], {}", wide());
    line("st.param.b64 [from], %in");
    line("call (c), {}_f{}, (a, b, from)", name_, below(n_functions_));
    line("ld.param.b64 {}, [c]", wide());
    text_ += "  }\n";
  }

  // --- operations of all threads of a block

  void shuffle() {
    constexpr const char* kModes[] = {"idx", "bfly", "down", "up"};
    const auto mode = below(4);
    // bits of the lane index that are kept
    const std::uint64_t segment = (32 - (std::uint64_t{1} << below(6))) & 31;
    const std::uint64_t clamp = mode == 3 ? segment << 8 : segment << 8 | 31;
    const std::string from = below(2) == 0 ? word() : fmt::format("{}", below(32));
    const std::string to = word();
    line(InOrder{"shfl.sync.{}.b32 {}|{}, {}, {}, {}, -1", kModes[mode], to, predicate(), word(), from, clamp}
             .text);
  }

  void vote() {
    switch (below(9)) {
      case 0: return line(InOrder{"vote.sync.ballot.b32 {}, {}, -1", word(), predicate()}.text);
      case 1: return line(InOrder{"vote.sync.all.pred {}, {}, -1", predicate(), predicate()}.text);
      case 2: return line(InOrder{"vote.sync.any.pred {}, !{}, -1", predicate(), predicate()}.text);
      case 3: return line(InOrder{"vote.sync.uni.pred {}, {}, -1", predicate(), predicate()}.text);
      case 4: return line(InOrder{"match.any.sync.b32 {}, {}, -1", word(), word()}.text);
      case 5: return line(InOrder{"match.all.sync.b64 {}|{}, {}, -1", word(), predicate(), wide()}.text);
      case 6: return line(InOrder{"redux.sync.add.s32 {}, {}, -1", word(), word()}.text);
      case 7: return line(InOrder{"redux.sync.min.u32 {}, {}, -1", word(), word()}.text);
      default: return line(InOrder{"redux.sync.xor.b32 {}, {}, -1", word(), word()}.text);
    }
  }

  // Stores the address of the thread's slot in %t0.
  void own_slot() { line("shl.b32 %t0, %thread, 3; mov.u32 %t1, slots; add.u32 %t0, %t0, %t1"); }

  void exchange() {
    own_slot();
    line("st.shared.b64 [%t0], {}", wide());
    line("bar.sync 0");
    switch (below(8)) {
      case 0:
      case 1: return rows_of_matrices();
      case 2:
      case 3: return side_by_side();
      default: break;
    }
    line("xor.b32 %t2, %thread, {}", below(kThreads));
    line("shl.b32 %t2, %t2, 3; add.u32 %t2, %t2, %t1");
    if (below(2) == 0)
      line("ld.shared.b64 {}, [%t2]", wide());
    else
      extended_load(fmt::format("ld.shared.s16 %t3, [%t2+{}]", 2 * below(4)));
    line("bar.sync 0");
  }

  // Loads of neighbouring addresses by neighbouring threads, which the simulator handles as one access.
  void side_by_side() {
    struct Load {
      std::string_view text;
      int shift;  // shift of the thread index
    };
    constexpr Load kLoads[] = {{"ld.shared.v4.u8 {H, H, H, H}, [%t2]", 2},
                               {"ld.shared.v2.s16 {R, R}, [%t2]", 2},
                               {"ld.shared.u32 R, [%t2]", 2},
                               {"ld.shared.v2.u32 {R, R}, [%t2]", 3},
                               {"ld.shared.s8 R, [%t2]", 0},
                               {"ld.shared.v4.u16 {H, H, H, H}, [%t2]", 3},
                               {"ld.shared.s16 W, [%t2]", 1},
                               {"ld.shared.u8 H, [%t2]", 0}};
    const Load& load = kLoads[below(std::size(kLoads))];
    line("shl.b32 %t2, %thread, {}", load.shift);
    line("add.u32 %t2, %t2, %t1");
    form(load.text, guard());
    line("bar.sync 0");
  }

  // The slots of the block as rows of 16 bytes.
  void rows_of_matrices() {
    const char* across = below(2) == 0 ? "" : ".trans";
    if (below(2) == 0) {
      line("and.b32 %t2, %thread, 31; shl.b32 %t2, %t2, 4; add.u32 %t2, %t2, %t1");
      form(fmt::format("ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{R, R, R, R}}, [%t2]", across), "");
    } else {  // each warp has its own 128 bytes
      line("and.b32 %t2, %thread, 7; shl.b32 %t2, %t2, 4; and.b32 %t3, %thread, 32; shl.b32 %t3, %t3, 2");
      line("add.u32 %t2, %t2, %t3; add.u32 %t2, %t2, %t1; bar.sync 0");
      line("stmatrix.sync.aligned.m8n8.x1{}.shared.b16 [%t2], {{{}}}", across, word());
      line("bar.sync 0");
      line("ld.shared.b64 {}, [%t0]", wide());
    }
    line("bar.sync 0");
  }

  // An asynchronous copy whose end is filled with zeros.
  void copy() {
    own_slot();
    line("and.b32 %t2, {}, 7", word());
    line("cp.async.ca.shared.global [%t0], [%in+{}], 8, %t2", 8 * below(kWordsIn));
    line("cp.async.wait_all");
    line("ld.shared.b64 {}, [%t0]", wide());
    line("bar.sync 0");
  }

  // Several threads update one cell with a commutative operation.
  void shared_cells() {
    constexpr const char* kUpdates[] = {"add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"};
    line("setp.lt.u32 %q3, %thread, 8; shl.b32 %t0, %thread, 3; mov.u32 %t1, cells; add.u32 %t0, %t0, %t1");
    line("@%q3 st.shared.b64 [%t0], {}", wide());
    line("bar.sync 0");
    line("and.b32 %t2, {}, 7", word());
    line("shl.b32 %t2, %t2, 3; add.u32 %t2, %t2, %t1");
    if (below(3) == 0)
      line(InOrder{"{}red.shared.{}.u64 [%t2], {}", guard(), below(2) == 0 ? "add" : "max", wide()}.text);
    else
      line(InOrder{"{}red.shared.{} [%t2], {}", guard(), kUpdates[below(std::size(kUpdates))], word()}.text);
    line("bar.sync 0");
    line("ld.shared.b64 {}, [%t2]", wide());
    line("bar.sync 0");
  }

  // A 16-byte compare-and-swap that finds the expected value, or one with another high half.
  void wide_atomic() {
    const std::string low = wide(), high = wide(), other = wide();
    const std::string at = fmt::format("[%out+{}]", 16 * below(kWordsOut / 2));
    line("st.global.v2.b64 {}, {{{}, {}}}", at, low, high);
    line("{ .reg .b128 %b, %c, %d");
    line("mov.b128 %b, {{{}, {}}}", low, below(2) == 0 ? high : other);
    line(InOrder{"mov.b128 %c, {{{}, {}}}", wide(), wide()}.text);
    line(below(3) == 0 ? fmt::format("atom.global.exch.b128 %d, {}, %b", at)
                       : fmt::format("atom.global.cas.b128 %d, {}, %b, %c", at));
    line("mov.b128 {%u0, %u1}, %d");
    text_ += "  }\n";
    line("ld.global.v2.b64 {{%u2, %u3}}, {}", at);
    line("xor.b64 {}, %u0, %u2", wide());
    line("xor.b64 {}, %u1, %u3", wide());
  }

  // An atomic on memory of one thread only, so that its old value is determined, too. (Not a sum in f64,
  // whose NaNs may have any bits, nor one of two halves in shared memory, where ptxas does not add the upper
  // half.)
  void own_atomic() {
    struct Update {
      const char* name;
      int bits;
    };
    constexpr Update kUpdates[] = {{"add.u32", 32}, {"exch.b32", 32},       {"inc.u32", 32},
                                   {"dec.u32", 32}, {"min.s32", 32},        {"add.u64", 64},
                                   {"max.s64", 64}, {"exch.b64", 64},       {"xor.b64", 64},
                                   {"add.f32", 32}, {"add.noftz.f16x2", 32}};
    const Update& u = kUpdates[below(std::size(kUpdates))];
    const bool shared = below(2) == 0 && !std::string_view(u.name).ends_with("f16x2");
    const std::string at = shared ? "[%t0]" : fmt::format("[%out+{}]", 8 * below(kWordsOut));
    if (shared) own_slot();
    const char* space = shared ? "shared" : "global";
    line("st.{}.b64 {}, {}", space, at, wide());
    if (below(4) == 0)
      line(InOrder{"atom.{}.cas.b32 {}, {}, {}, {}", space, word(), at, word(), word()}.text);
    else
      line(InOrder{"atom.{}.{} {}, {}, {}", space, u.name, of_bits(u.bits), at, of_bits(u.bits)}.text);
    line("ld.{}.b64 {}, {}", space, wide(), at);
    if (shared) line("bar.sync 0");  // other threads use the slots afterwards
  }

  // --- bodies

  void statements(int depth) {
    for (std::uint64_t k = 1 + below(4); k > 0; --k) statement(depth + 1);
  }

  void statement(int depth) {
    const auto kind = below(43);
    if (kind < 18) return operation();
    if (kind < 22) {
      static const std::vector<std::string_view> kAll = templates();
      const std::string_view chosen = kAll[below(kAll.size())];
      if (!chosen.starts_with(kLosesGuard)) return form(chosen, guard());
      return depth == 0 ? form(chosen, "") : operation();
    }
    if (kind < 25) return carries();
    if (in_function_) return operation();
    if (kind < 27) return local_array();
    if (kind < 28) return input_again();
    if (kind < 30) return n_functions_ > 0 ? call() : operation();
    if (kind < 33) return depth < kDeepest ? (below(2) == 0 ? branch(depth) : loop(depth)) : operation();
    if (depth > 0) return operation();
    if (kind < 35) return shuffle();
    if (kind < 36) return vote();
    if (kind < 37) return exchange();
    if (kind < 38) return shared_cells();
    if (kind < 40) return below(4) == 0 ? wide_atomic() : own_atomic();
    if (kind < 42) return form(kWarpTemplates[below(std::size(kWarpTemplates))], "");
    return copy();
  }

  std::string function(std::size_t number) {
    in_function_ = true;
    text_.clear();
    for (std::uint64_t k = 2 + below(8); k > 0; --k) statement(kDeepest);
    in_function_ = false;
    std::string out = fmt::format(
        ".func (.param .b64 r) {}_f{}(.param .b32 a, .param .b64 b, .param .b64 from)\n{{\n", name_, number);
    out += registers() +
           "  .reg .b64 %in;\n  ld.param.b64 %in, [from];\n  ld.param.b32 %t1, [a];\n"
           "  ld.param.b64 %u1, [b];\n  cvt.u64.u32 %u2, %t1;\n";
    for (int k = 0; k < kWides; ++k)
      out += fmt::format("  mad.lo.u64 %w{}, %u1, {}, %u2;\n", k,
                         0x9e3779b97f4a7c15u + static_cast<unsigned>(k));
    out += first_values();
    out += text_ + "  mov.b64 %u0, 0;\n";
    for (int k = 0; k < kWides; ++k) out += fmt::format("  mad.lo.u64 %u0, %u0, 31, %w{};\n", k);
    for (int k = 0; k < kWords; ++k)
      out += fmt::format("  cvt.u64.u32 %u1, %r{};\n  mad.lo.u64 %u0, %u0, 31, %u1;\n", k);
    return out + "  st.param.b64 [r], %u0;\n  ret;\n}\n";
  }

  Rng rng_;
  std::string name_;
  int sm_;
  std::string text_, functions_;
  std::size_t n_functions_ = 0, n_labels_ = 0;
  bool in_function_ = false;
};

}  // namespace

const std::vector<Operation>& operations(int sm) {
  static const std::vector<Operation> all = [sm] {
    std::vector<Operation> some = all_operations();
    std::erase_if(some, [sm](const Operation& o) {
      return o.accepts || o.on_sm90 || o.least_sm > sm || is_refused(o);
    });
    return some;
  }();
  return all;
}

const std::vector<Operation>& approximate_operations(int sm) {
  static const std::vector<Operation> all = [sm] {
    std::vector<Operation> some = all_operations();
    std::erase_if(some, [sm](const Operation& o) {
      return o.least_sm > sm ||
             (o.ptx.find(".approx") == std::string::npos && !o.ptx.starts_with("div.full"));
    });
    return some;
  }();
  return all;
}

std::string header(int sm) {
  return fmt::format(".version 9.0\n.target sm_{}\n.address_size 64\n", sm);
}

std::string random_kernel(std::uint64_t seed, const std::string& name, int sm) {
  return Generator(seed, name, sm).kernel();
}

std::vector<std::uint64_t> random_input(std::uint64_t seed) {
  constexpr std::uint64_t kEdges[] = {
      0x0000000000000000, 0x0000000000000001, 0xffffffffffffffff, 0x8000000080000000, 0x7fffffff7fffffff,
      0x3f8000003c003c00, 0x7f8000007c007c00, 0xff800000fc00fc00, 0x7fc000007e007e00, 0x0000000100010001,
      0x3ff0000000000000, 0x7ff0000000000000, 0x8000000000000000, 0x007fffff03ff03ff};
  Rng rng(seed_for(seed, "differential input"));
  std::vector<std::uint64_t> words(kBlocks * kThreads * kWordsIn);
  for (std::uint64_t& w : words) {
    w = rng();
    if (rng.below(4) == 0) w = kEdges[rng.below(std::size(kEdges))];
    if (rng.below(4) == 0) w = w >> rng.below(64);
    if (rng.below(8) == 0) w = (w & 0x807fffff807fffff) | 0x3f8000003f800000;  // two floats near 1
  }
  return words;
}

}  // namespace course::sim::differential
