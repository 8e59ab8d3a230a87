// SPDX-License-Identifier: MIT
// Fuzz target: reading result.json, and every report made from it. A result that is read must be the same
// after writing and reading it again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "report/edition.hpp"
#include "report/formats.hpp"
#include "report/read_result.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace course::grader;
  const auto result = parse_result({reinterpret_cast<const char*>(data), size});
  if (!result) {
    if (result.error().text.empty()) std::abort();
    return 0;
  }
  const std::string text = json_text(*result);
  const auto again = parse_result(text);
  if (!again || json_text(*again) != text) {
    std::fprintf(stderr, "%s\n", again ? "another result" : again.error().text.c_str());
    std::abort();
  }
  for (const RunResult& one : {*result, for_students(*result)}) {
    for (const auto make : {to_html, to_junit, to_csv, to_gradescope, to_step_summary, to_annotations})
      static_cast<void>(make(one));
    static_cast<void>(to_table(one, {}));
  }
  return 0;
}
