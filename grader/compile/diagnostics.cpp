// SPDX-License-Identifier: MIT
// Reading order: recognising errors and their places; shortening an error; the advice; the message.
#include "compile/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <regex>
#include <set>
#include <utility>

#include "base/demangle.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

constexpr std::size_t kMaxMessageLines = 24;
// What is read of a compiler's output, which a source can make as long as it wants.
constexpr std::size_t kMaxOutput = 16 << 20, kMaxErrorLines = 1000, kLongestWarning = 240;

bool is_error_line(std::string_view line) {
  // nvcc's front end prints "file(12): error: …" or "file(12): error #20: …"; g++ and the linkers print ":
  // error: ", "undefined reference" or "multiple definition"; ptxas prints "ptxas fatal   : …".
  for (const std::string_view mark :
       {": error", ": fatal error", "fatal   :", "error   :", "undefined reference", "multiple definition",
        "catastrophic error", "No such file"}) {
    if (has(line, mark)) return true;
  }
  return false;
}

// "x.cu(12)" or "x.cu:12", because the errors at one place differ only in the types of a template; for linker
// errors the message and the name.
std::string place_of(std::string_view line) {
  for (const std::string_view mark : {"undefined reference", "multiple definition"}) {
    if (const std::size_t at = line.find(mark); at != std::string_view::npos)
      return std::string(line.substr(at));
  }
  const std::size_t paren = line.find("): ");
  const std::size_t error = line.find(": error");
  if (paren != std::string_view::npos && paren < error) return std::string(line.substr(0, paren));
  if (const std::size_t colon = line.find(':'); colon != std::string_view::npos)
    return std::string(line.substr(0, line.find(':', colon + 1)));  // "x.cu:12:3: error: …"
  return std::string(line);
}

// Replaces the mangled names of kernels, which ptxas prints: "_ZN6course9reduction3k01IiEEv…" becomes
// course::reduction::k01.
std::string with_names_of_kernels(std::string_view line) {
  const auto in_a_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::string out;
  while (true) {
    const std::size_t at = std::min(line.find("_Z"), line.size());
    out += line.substr(0, at);
    line.remove_prefix(at);
    if (line.empty()) return out;
    const auto end = std::ranges::find_if_not(line, in_a_name);
    const std::string mangled(line.begin(), end);
    line.remove_prefix(mangled.size());
    std::string name = demangled(mangled);
    name = name.substr(0, name.find_first_of("<("));
    if (const std::size_t space = name.rfind(' '); space != std::string::npos) name.erase(0, space + 1);
    out += name;
  }
}

// Whether the error is in the given lines at the end of a lab's file.
bool is_of_the_given_lines(std::string_view errors) {
  return has(errors, "case Rung::") || has(errors, "case Task::");
}

std::string advice_on_shared_memory(std::string_view errors) {
  // "… uses too much shared data (0x64000 bytes, 0xc000 max)"
  constexpr std::string_view kSaid = "uses too much shared data (";
  const std::size_t at = errors.find(kSaid);
  if (at == std::string_view::npos) return "";
  const std::string numbers(errors.substr(at + kSaid.size(), 100));
  unsigned long wanted = 0, most = 0;
  if (std::sscanf(numbers.c_str(), "0x%lx bytes, 0x%lx max", &wanted, &most) != 2) return "";
  return fmt::format(
      "A block's __shared__ arrays may have {} bytes together; here they have {}. Keep no more there than "
      "one block works on.",
      most, wanted);
}

// Removes advice of nvcc to use flags, because students cannot set them.
std::string_view without_flags(std::string_view line) {
  for (const std::string_view offer :
       {", unless the lambda is defined within", ", or the flag '", " The experimental flag '"})
    line = line.substr(0, line.find(offer));
  return line;
}

// The type in "Op::Value* d_to = …", which the compiler takes for a product of two values. It then reports
// that d_to is undefined. "" if the two lines are no such error.
std::string type_of_undefined_pointer(std::string_view error, std::string_view line) {
  static const std::regex kUndefined(R"re(identifier "(\w+)" is undefined)re");
  static const std::regex kPointer(
      R"(^\s*(?:(?:const|static|extern|__shared__)\s+)*((?:[A-Za-z_]\w*::)+[A-Za-z_]\w*))"
      R"(\s*(?:const\s*)?[*&]+\s*(?:const\s+)?(\w+)\s*[=;,({[])");
  std::match_results<std::string_view::const_iterator> name, declared;
  if (!std::regex_search(error.begin(), error.end(), name, kUndefined) ||
      !std::regex_search(line.begin(), line.end(), declared, kPointer) ||
      name[1].str() != declared[2].str() || declared[1].str().starts_with("std::"))
    return "";
  return declared[1].str();
}

// In a template the compiler takes a name such as Op::Value for a value and then reports a missing ; after
// it:
//   x.cu(2): error: expected a ";"
//       Op::Value total = op.identity();
//                 ^
std::string advice_on_typename(std::string_view errors) {
  static const std::regex kScoped(R"((?:^|[^\w:])((?:[A-Za-z_]\w*::)+[A-Za-z_]\w*)\s*$)");
  static const std::regex kNontype(R"re(nontype "([\w:<>, ]+)" is not a type)re");
  std::match_results<std::string_view::const_iterator> found;
  std::string name;
  if (std::regex_search(errors.begin(), errors.end(), found, kNontype)) {
    name = found[1].str();
  } else if (const auto lines = lines_of(errors); lines.size() < 3) {
    return "";
  } else if (name = type_of_undefined_pointer(lines[0], lines[1]); !name.empty()) {
    // Said below.
  } else if (has(lines[0], "expected a \";\"")) {
    const std::size_t caret = lines[2].find('^');
    if (caret == std::string_view::npos || lines[2].find_first_not_of(' ') != caret) return "";
    const std::string_view before = lines[1].substr(0, caret);
    if (!std::regex_search(before.begin(), before.end(), found, kScoped)) return "";
    name = found[1].str();
    if (name.starts_with("std::") || has(before, "typename " + name)) return "";
  }
  return name.empty() ? ""
                      : fmt::format(
                            "typename is missing: write \"typename {0}\". In a template the compiler takes "
                            "{0} for a value otherwise, not for a type.",
                            name);
}

// The first error with the lines that explain it.
std::string first_of(std::string_view errors) {
  std::string out;
  bool begun = false;
  for (const std::string_view line : lines_of(errors)) {
    if (is_error_line(line) && std::exchange(begun, true)) break;
    out += std::string(line) + "\n";
  }
  return out;
}

struct Advice {
  std::string_view said;  // both texts occur in the compiler's message
  std::string_view and_said;
  std::string_view text;
};
constexpr std::string_view kOnReturns =
    "Every way through the function must end in a return: \"return Status::ok;\" once all is launched.";
constexpr std::string_view kOnLambdas =
    "A lambda that is written in host code cannot be passed to a kernel. Write its code in the kernel, or "
    "pass a struct whose operator() is marked __device__, as the lab's operators are.";
constexpr Advice kAdvice[] = {
    {"<<<<<<<", "",
     "Marks of an unfinished merge are left in the file: keep one of the two versions, and none of the lines "
     "with <<<<<<<, ======= and >>>>>>>."},
    {"identifier \"printf\" is undefined", "",
     "printf needs #include <cstdio> at the top of the file, in kernels too."},
    {"identifier \"assert\" is undefined", "",
     "assert needs #include <cassert> at the top of the file, in kernels too."},
    {"expected a \";\"", "", "A ; is missing: most often at the end of the line before the one shown."},
    {"a template declaration is not allowed here", "",
     "A } is missing further up: this is still taken for the inside of the function before it."},
    {"expected a \"}\"", "", "A } is missing: the file ends before every { has its }."},
    {"expected a declaration", "", "There may be a } too many further up."},
    {"invalid preprocessing directive", "i n c l u d e", "The file is saved as UTF-16: save it as UTF-8."},
    {"extended character", "",
     "A character of the line only looks like a usual one, as quotes and spaces pasted from a document do: "
     "type them anew."},
    {"::run(course::lab::Request", "undefined reference",
     "The given function run at the end of the file is gone or changed: put it back as it was handed out."},
    {"undefined reference", "",
     "A function is called that is nowhere written: compare its name and parameters with the call."},
    {"must be configured", "",
     "A kernel is launched with <<<blocks, threads, bytes of dynamic shared memory, stream>>> between its "
     "name "
     "and its arguments."},
    {"cannot determine which instance", "<<", "A launch is written with three signs on each side: <<<…>>>."},
    {"missing return statement", "", kOnReturns},
    {"no return statement", "", kOnReturns},
    {"return value type does not match", "Status",
     "Host functions of a lab return a Status: \"return Status::ok;\" once all is launched."},
    {"declaration is incompatible with previous", "",
     "The name is taken for another type. An extern __shared__ array in a template is declared once for all "
     "types: make it bytes, and cast its address."},
    {"\"__shared__\" variable declaration is not allowed", "",
     "Shared memory belongs to kernels: is __global__ or __device__ missing before the function?"},
    {"closure type for a lambda", "", kOnLambdas},
    {"annotation on lambda requires", "", kOnLambdas},
    {"calling a __device__ function", "from a __host__",
     "That function is for kernels alone: is __global__ or __device__ missing before the one that calls it?"},
    {"__host__ function", "is not allowed",
     "Kernels can call functions that are marked __device__ alone. Mark your own; containers such as "
     "std::vector are for the host."},
    {"matches the argument list", "std::nullptr_t",
     "nullptr has no type from which the compiler could deduce a template parameter: write "
     "static_cast<Value*>(nullptr), with the type of the function's parameter."},
    {"incomplete type", "__attribute__((shared))",
     "An array whose size the launch decides (dynamic shared memory) is declared with extern: "
     "\"extern __shared__ unsigned s_counts[];\". Any other array needs its size between the brackets."},
    {"matches the argument list", "",
     "The call and the function differ in the number or the types of their parameters: compare the two "
     "lines."},
    {"No such file or directory", "",
     "A lab is one file: write what you need into it. It may include its lab.hpp and the headers of C++ and "
     "CUDA."},
};

}  // namespace

std::string first_errors(std::string_view compiler_output, std::size_t limit) {
  std::string out;
  std::set<std::string> places;
  bool showing = false;  // the current lines explain a shown error
  // there the place is enough; an error in a header also needs the lines that led to it
  bool in_own_file = false;
  std::size_t n_errors = 0;
  compiler_output = compiler_output.substr(0, kMaxOutput);
  for (const std::string_view line : lines_of(compiler_output)) {
    if (line.starts_with("collect2: error") && !places.empty()) continue;
    if (is_error_line(line)) {
      if (++n_errors > kMaxErrorLines) break;
      const std::string readable = with_names_of_kernels(without_flags(line));
      const std::string place = place_of(readable);
      showing = !places.contains(place);
      if (showing && places.size() == limit) break;
      places.insert(place);
      in_own_file = place.find(".cu") != std::string::npos && place.find(".cuh") == std::string::npos;
      if (showing) out += readable + "\n";
      continue;
    }
    // Warnings do not stop the build, so leave them out.
    if (has(line, "warning") || (in_own_file && has(line, "detected during"))) showing = false;
    if (has(line, " detected in the compilation of ") || has(line, "compilation terminated")) continue;
    if (showing && !line.empty()) out += std::string(line) + "\n";
  }
  if (places.empty()) out = std::string(compiler_output);
  out = first_lines(out, kMaxMessageLines);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string first_warnings(std::string_view compiler_output, std::size_t limit) {
  std::string out;
  std::set<std::string_view> places;
  for (const std::string_view line : lines_of(compiler_output.substr(0, kMaxOutput))) {
    const std::string_view place = line.substr(0, std::min(line.find("): warning"), line.size()));
    if (place == line || !has(place, ".cu(") || !places.insert(place).second) continue;
    if (places.size() > limit) break;
    out += fmt::format("{}{}", out.empty() ? "" : "\n", line.substr(0, kLongestWarning));
  }
  return out;
}

std::string advice_on(std::string_view all_errors) {
  const std::string errors = first_of(all_errors);
  if (is_of_the_given_lines(errors) && (has(errors, "is undefined") || has(errors, "argument list")))
    return "The given lines at the end of the file call a function of each task: put back what is gone, and "
           "keep its name and parameters.";
  if (std::string advice = advice_on_shared_memory(errors); !advice.empty()) return advice;
  if (std::string advice = advice_on_typename(errors); !advice.empty()) return advice;
  for (const Advice& advice : kAdvice)
    if (has(errors, advice.said) && has(errors, advice.and_said)) return std::string(advice.text);
  return "";
}

std::string compile_message(std::string_view source, std::string_view errors) {
  std::string out = fmt::format("{} does not compile, so nothing of it was run", source);
  for (const std::string_view line : lines_of(errors)) out += fmt::format("\n  {}", line);
  if (const std::string advice = advice_on(errors); !advice.empty())
    out += fmt::format("\n  what to do: {}", advice);
  return out;
}

}  // namespace course::grader
