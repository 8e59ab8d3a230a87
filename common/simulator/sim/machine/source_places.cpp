// SPDX-License-Identifier: MIT
#include "sim/machine/source_places.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/demangle.hpp"
#include "sim/authors_files.hpp"

namespace course::sim {

std::vector<SourcePlace> places_of(const Program& program, std::uint32_t function, std::uint32_t ptx_index) {
  std::vector<SourcePlace> places;
  const ptx::Module& module = *program.module;
  const ptx::Function& f = *program.functions[function].source;
  if (ptx_index >= f.instructions.size()) return places;
  // Instructions before the first line of a function count for that line, and those of line 0, which the
  // compiler has moved out of a loop, for the next one.
  const auto has_line = [&](std::int32_t location) {
    while (location >= 0 && module.locations[static_cast<std::size_t>(location)].line == 0)
      location = module.locations[static_cast<std::size_t>(location)].inlined_at;
    return location >= 0;
  };
  while (!has_line(f.instructions[ptx_index].location) && ptx_index + 1 < f.instructions.size()) ++ptx_index;
  std::int32_t location = f.instructions[ptx_index].location;
  while (location >= 0 && places.size() < 16) {
    const ptx::Location& l = module.locations[static_cast<std::size_t>(location)];
    SourcePlace place;
    if (const std::string* file = module.find_file(l.file)) place.file = *file;
    place.line = l.line;
    place.function = l.function.empty() ? demangled(f.name) : demangled(l.function);
    if (l.line != 0) places.push_back(std::move(place));
    location = l.inlined_at;
  }
  return places;
}

std::vector<SourcePlace> places_of(const Program& program, const MicroOp& op) {
  return places_of(program, op.function, op.ptx_index);
}

SourcePlace own_place(const std::vector<SourcePlace>& places) {
  if (!places.empty() && !is_authors_file(places.back().file))
    for (const SourcePlace& place : places)
      if (is_authors_file(place.file)) return place;
  for (const SourcePlace& place : places)
    if (place.file == places.back().file) return place;
  return {};
}

std::string file_and_line(const std::string& file, std::uint32_t line) {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string() + "/";
  const bool below = !error && here != "//" && file.starts_with(here);
  return fmt::format("{}:{}", below ? std::string_view(file).substr(here.size()) : std::string_view(file),
                     line);
}

std::string one_line(const std::vector<SourcePlace>& places) {
  if (places.empty()) return "an unknown line (compile with -lineinfo to see it)";
  const SourcePlace own = own_place(places), &outer = places.back(), &inner = places.front();
  std::string text = file_and_line(own.file, own.line);
  if (own.file != outer.file)
    text += fmt::format(" (called at {})", file_and_line(outer.file, outer.line));
  else if (own.line != outer.line)
    text += fmt::format(" (called at line {})", outer.line);
  else if (places.size() > 1)
    text += fmt::format(" (in {})", file_and_line(inner.file, inner.line));
  return text;
}

}  // namespace course::sim
