// SPDX-License-Identifier: MIT
#include "cudart/runtime/call_stack.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "base/demangle.hpp"
#include "cudart/code/host_lines.hpp"
#include "cudart/runtime/runtime.hpp"
#include "sim/authors_files.hpp"

namespace course::cudart {
namespace {

constexpr std::size_t kMaxCalls = 64;

struct Unwinding {
  CallStack calls;
  const void* from;  // nullptr: from the first call outside of this library
};

const void* library_of(const void* code) {
  Dl_info object{};
  return dladdr(code, &object) != 0 ? object.dli_fbase : nullptr;
}

_Unwind_Reason_Code add_call(_Unwind_Context* context, void* user) {
  auto& all = *static_cast<Unwinding*>(user);
  int is_instruction = 0;  // otherwise it is the address to which a call returns
  const std::uintptr_t at = _Unwind_GetIPInfo(context, &is_instruction);
  const auto* code = reinterpret_cast<const void*>(is_instruction != 0 ? at : at - 1);     // NOLINT
  static const void* const ours = library_of(reinterpret_cast<const void*>(&call_stack));  // NOLINT
  const bool begins = all.from != nullptr ? reinterpret_cast<const void*>(at) == all.from
                                          : library_of(code) != ours;  // NOLINT
  if (begins || !all.calls.empty()) all.calls.push_back(code);
  return all.calls.size() < kMaxCalls ? _URC_NO_REASON : _URC_END_OF_STACK;
}

HostLine line_of(const void* code) {
  Dl_info object{};
  link_map* loaded = nullptr;
  if (code == nullptr ||
      dladdr1(code, &object, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) ==
          0 ||  // NOLINT: of the call
      object.dli_fname == nullptr)
    return {};
  std::ifstream file(object.dli_fname, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  HostLine line = line_of_code(std::as_bytes(std::span(contents)),
                               reinterpret_cast<std::uintptr_t>(code) - loaded->l_addr);  // NOLINT
  line.begin += loaded->l_addr;
  return line;
}

// The line of an instruction is looked up once, because a failing call may be repeated very often.
HostLine known_line_of(const void* code) {
  static std::mutex lock;
  static auto& known = *new std::map<const void*, HostLine>;
  const std::lock_guard guard(lock);
  const auto [entry, fresh] = known.try_emplace(code);
  if (fresh) entry->second = line_of(code);
  return entry->second;
}

bool launches_kernel(const HostLine& line) {
  // "__device_stub__…", and "__wrapper__device_stub_…" around it.
  return line.function.find("__device_stub_") != std::string::npos ||
         runtime().registry().is_stub(reinterpret_cast<const void*>(line.begin));  // NOLINT
}

std::vector<sim::SourcePlace> place(const HostLine& line) {
  if (line.line == 0) return {};
  return {{line.file, line.line, demangled(line.function)}};
}

}  // namespace

CallStack call_stack() {
  return call_stack_from(nullptr);
}

CallStack call_stack_from(const void* code) {
  Unwinding all{{}, code};
  _Unwind_Backtrace(add_call, &all);
  if (all.calls.empty() && code != nullptr) all.calls.push_back(code);
  return std::move(all.calls);
}

std::vector<sim::SourcePlace> place_of_code(const void* code) {
  return place(known_line_of(code));
}

std::vector<sim::SourcePlace> place_of(const CallStack& calls) {
  for (const void* code : calls) {
    const HostLine line = known_line_of(code);
    if (line.line != 0 && sim::is_authors_file(line.file) && !launches_kernel(line)) return place(line);
  }
  return {};
}

std::string text_of(const std::vector<sim::SourcePlace>& place) {
  return place.empty() ? "" : fmt::format("{}:{}", place.front().file, place.front().line);
}

}  // namespace course::cudart
