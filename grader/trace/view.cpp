// SPDX-License-Identifier: MIT
#include "trace/view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "fields.hpp"
#include "lab/compare.hpp"
#include "text.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader {
namespace {

using Json = nlohmann::json;
using lab::DType;

std::uint64_t at(const Json& array, std::size_t k) {
  return k < array.size() && array[k].is_number_unsigned() ? array[k].get<std::uint64_t>() : 0;
}

std::vector<std::byte> bytes_of_hex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>((digit(hex[i]) << 4 | digit(hex[i + 1])) & 0xff));
  return bytes;
}

// Those in field k; none if there is no such field.
std::vector<std::byte> bytes_at(const Json& array, std::size_t k) {
  return array.is_array() && k < array.size() && array[k].is_string()
             ? bytes_of_hex(array[k].get<std::string>())
             : std::vector<std::byte>();
}

std::string vote_of(const std::vector<std::byte>& contents, std::uint64_t lanes, std::uint64_t columns) {
  std::uint32_t bits = 0;
  for (std::size_t lane = 0; lane < 32; ++lane) {
    if ((lanes >> lane & 1) == 0 || contents.size() < 4 * lane + 4) continue;
    std::memcpy(&bits, contents.data() + 4 * lane, 4);
    break;
  }
  std::string text;
  for (std::uint64_t lane = 0; lane < std::min<std::uint64_t>(columns, 32); ++lane)
    text += (bits >> lane & 1) != 0 ? '1' : '0';
  return text;
}

// The first element to show: the first one written, if none of the array's first `columns` elements was
// written (as for the second of two buffers in one array); else 0.
std::uint64_t first_shown(const Json& row, std::uint64_t columns) {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Json& w : fields::list(row, "writes"))
    if (w.is_array()) least = std::min(least, at(w, 0));
  return least != ~std::uint64_t{0} && least >= columns ? least : 0;
}

// The row length of an array with two dimensions: of the case's own arrays, and of square scratch arrays;
// else 0.
std::uint64_t rows_of(const lab::Shape& shape, const std::string& array, std::uint64_t row_length,
                      std::uint64_t columns) {
  if (row_length == 0) return 0;
  for (const auto* list : {&shape.inputs, &shape.outputs})
    for (const auto& spec : *list)
      if (spec.name == array) return row_length;
  return array.starts_with("d_") && row_length * row_length == columns ? row_length : 0;
}

std::vector<TraceLanes> lanes_of(const Json& row) {
  std::vector<TraceLanes> all;
  for (const Json& a : fields::list(row, "accesses")) {
    if (!a.is_array()) continue;
    const auto word = [&](std::size_t k) { return static_cast<std::uint32_t>(at(a, k)); };
    all.push_back({at(a, 0), word(1), word(2), word(3), word(4), word(5) > word(6) ? word(5) : 0});
  }
  return all;
}

// Whether the step shows the same values at the same line as the one before.
bool changes_nothing(const TraceStep& before, const TraceStep& step) {
  return before.array == step.array && before.after == step.after && before.line == step.line &&
         show_the_same(before, step);
}

std::optional<std::uint64_t> block_of(const Json& row) {
  const auto it = row.find("block");
  return it != row.end() && it->is_number_unsigned() ? it->get<std::uint64_t>()
                                                     : std::optional<std::uint64_t>();
}

// A row of the report, as far as all its parts need it.
struct TraceRow {
  const Json& json;
  const std::string& after;
  std::uint64_t columns;
  std::string array = fields::string(json, "object");
  std::uint64_t launch = fields::count(json, "launch"), warp = fields::count(json, "warp");
  std::uint64_t lanes = fields::count(json, "lanes"), first = first_shown(json, columns);
  std::uint64_t width = std::clamp<std::uint64_t>(fields::count(json, "width", 4), 1, 8);
  std::optional<std::uint64_t> block = block_of(json);
  bool start = after == "start", vote = after == "vote", shuffle = after == "shuffle",
       fault = after == "fault";
  // Global arrays have one owner for all blocks; each block has its own shared arrays.
  bool is_of_a_block = block && after != "launch" && !start && array.starts_with("s_");
  std::uint64_t owner = is_of_a_block ? *block : ~std::uint64_t{0};
};

// Fills a view from the rows of a report, one after the other.
class ViewBuilder {
 public:
  ViewBuilder(const lab::Problem& problem, const lab::Task& task, const lab::Case& c, std::uint64_t columns,
              TraceView& view)
      : problem_(problem),
        case_(c),
        columns_(columns),
        shape_(problem.shape(task, c)),
        row_length_(problem.row_length(task, c)),
        view_(view) {}

  void add(const Json& json) {
    TraceStep step;
    step.after = fields::string(json, "after");
    const TraceRow row{json, step.after, columns_};
    step.array = step.base = row.array;
    step.path = fields::string(json, "file");
    step.file = std::filesystem::path(step.path).filename();
    step.line = static_cast<std::uint32_t>(fields::count(json, "line"));
    step.first = row.first;
    if (row.fault) {
      view_.fault = fields::string(json, "fault");
      if (view_.fault.empty() && !view_.findings.empty()) view_.fault = view_.findings.front();
    }
    const DType type = lab::shown_type(shape_, case_, row.array, row.width);
    if (lab::bytes_of(type) != row.width) return;
    if (row.first == 0 || row_length_ * row_length_ == columns_)
      step.row_length = rows_of(shape_, row.array, row_length_, columns_);
    if (row.first > 0) step.array += fmt::format("[{}…]", row.first);
    const std::set<std::uint64_t> written = add_stores(row, step);
    add_cells(row, type, written, step);
    if (!row.start && !row.vote && !row.shuffle && !row.fault && written.empty()) return;
    if ((row.vote || row.shuffle) && row.warp > 0) return;  // only the first warp is shown, as an example
    append(std::move(step), row);
  }

 private:
  // The value, printed as an element of the array; "" if there is none.
  std::string value_of(const std::string& array, const std::vector<std::byte>& bytes) const {
    const DType type = lab::shown_type(shape_, case_, array, bytes.size());
    return lab::bytes_of(type) == bytes.size() ? problem_.print(case_, type, bytes.data()) : "";
  }

  // Returns the elements that were written, of those that are shown.
  std::set<std::uint64_t> add_stores(const TraceRow& row, TraceStep& step) {
    std::set<std::uint64_t> written;
    for (const Json& w : fields::list(row.json, "writes")) {
      if (!w.is_array()) continue;
      const std::vector<std::byte> value = bytes_at(w, 5);
      TraceStore store{.element = at(w, 0),
                       .block = at(w, 1),
                       .thread = static_cast<std::uint32_t>(at(w, 2)),
                       .line = static_cast<std::uint32_t>(at(w, 3)),
                       .value = value_of(row.array, value)};
      if (!value.empty()) std::memcpy(&store.bits, value.data(), std::min(value.size(), sizeof store.bits));
      known_.emplace(row.array, row.owner, store.element);
      if (store.element < row.first || store.element >= row.first + columns_) continue;
      for (std::size_t k = 0; w.size() > 4 && w[4].is_array() && k < w[4].size(); ++k) {
        const Json& from = w[4][k];
        if (!from.is_array() || from.empty() || !from[0].is_string()) continue;
        std::string name = tame_line(from[0].get<std::string>());
        std::string read = w.size() > 6 ? value_of(name, bytes_at(w[6], k)) : "";
        store.from.push_back({std::move(name), at(from, 1), at(from, 2) != 0, std::move(read)});
      }
      written.insert(store.element);
      step.stores.push_back(std::move(store));
    }
    return written;
  }

  void add_cells(const TraceRow& row, DType type, const std::set<std::uint64_t>& written, TraceStep& step) {
    const auto contents = bytes_of_hex(fields::string(row.json, "contents"));
    step.lanes = lanes_of(row.json);
    if (row.vote) {
      step.array = fmt::format("votes of warp {}", row.warp);
      step.cells.push_back({vote_of(contents, row.lanes, columns_), true});
      return;
    }
    if (row.shuffle) {
      step.array = fmt::format("lanes of warp {}", row.warp);
      for (TraceStore& store : step.stores)
        if (store.from.size() == 1 && store.from[0].array == "lanes" &&
            store.from[0].element == store.element)
          store.from.clear();  // a lane that received its own value
    }
    const std::uint64_t n_there = contents.size() / row.width;
    const std::uint64_t n = std::min(columns_, n_there - std::min(row.first, n_there));
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t element = row.first + i;
      if (row.start) known_.emplace(row.array, row.owner, element);
      const bool there = row.shuffle ? i < 32 && (row.lanes >> i & 1) != 0
                                     : known_.contains({row.array, row.owner, element});
      step.cells.push_back({there ? problem_.print(case_, type, contents.data() + element * row.width) : "",
                            row.shuffle || written.contains(element)});
    }
  }

  // Appends the step to the table of its launch and block; one that changes nothing is counted instead.
  void append(TraceStep step, const TraceRow& row) {
    const auto key = std::make_pair(row.start ? ~std::uint64_t{0} : row.launch, row.block);
    const auto [table, fresh] = tables_.try_emplace(key, view_.tables.size());
    if (fresh) view_.tables.push_back({static_cast<std::uint32_t>(row.launch), "", row.block, {}});
    auto& steps = view_.tables[table->second].steps;
    if (!steps.empty() && changes_nothing(steps.back(), step)) {
      ++steps.back().times;
      std::move(step.stores.begin(), step.stores.end(), std::back_inserter(steps.back().repeated));
    } else {
      steps.push_back(std::move(step));
    }
  }

  const lab::Problem& problem_;
  const lab::Case& case_;
  const std::uint64_t columns_;
  const lab::Shape shape_;
  const std::uint64_t row_length_;
  TraceView& view_;
  // Array, owner and element of what has been written, by the harness or by a store.
  std::set<std::tuple<std::string, std::uint64_t, std::uint64_t>> known_;
  std::map<std::pair<std::uint64_t, std::optional<std::uint64_t>>, std::size_t> tables_;
};

}  // namespace

bool show_the_same(const TraceStep& a, const TraceStep& b) {
  return std::ranges::equal(a.cells, b.cells, {}, &TraceCell::text, &TraceCell::text);
}

TraceView trace_view(const lab::Problem& problem, const lab::Task& task, const lab::Case& c,
                     std::string_view sim_report, std::uint64_t columns) {
  TraceView view{std::string(problem.manifest().id), std::string(task.id), c.name, {}, {}, {}, false};
  const Json report = Json::parse(sim_report, nullptr, false);
  if (!report.is_object()) return view;
  for (const auto& finding : lab::read_sim_report(sim_report).findings)
    if (const std::string line = lab::one_line(finding); !line.empty())
      view.findings.push_back(tame_line(line));
  const auto trace = report.find("trace");
  if (trace == report.end() || !trace->is_object()) return view;
  view.truncated = trace->value("truncated", Json(false)) == Json(true);

  std::vector<std::string> kernels;
  for (const Json& l : fields::list(report, "launches"))
    kernels.push_back(l.is_object() ? lab::short_kernel_name(fields::string(l, "kernel")) : "");
  ViewBuilder builder(problem, task, c, columns, view);
  for (const Json& row : fields::list(*trace, "rows"))
    if (row.is_object()) builder.add(row);
  int number = 0;
  for (TraceTable& table : view.tables) {
    for (TraceStep& step : table.steps) step.number = ++number;
    const bool has_kernel = table.launch < kernels.size() && table.steps.front().after != "start";
    if (has_kernel) table.kernel = kernels[table.launch];
  }
  return view;
}

void choose(TraceView& view, const TraceChoice& choice) {
  const auto unwanted = [&](const TraceStep& step) {
    const bool named = std::ranges::find(choice.arrays, step.base) != choice.arrays.end();
    return step.number < choice.first || step.number > choice.last || (!choice.arrays.empty() && !named);
  };
  for (TraceTable& table : view.tables) std::erase_if(table.steps, unwanted);
  std::erase_if(view.tables, [](const TraceTable& table) { return table.steps.empty(); });
  // The arrays after a launch have no order in time, so they are sorted in the order of the request.
  const auto rank = [&](const TraceStep& step) {
    return std::ranges::find(choice.arrays, step.base) - choice.arrays.begin();
  };
  for (TraceTable& table : view.tables) {
    const auto first = std::ranges::find(table.steps, "launch", &TraceStep::after);
    std::stable_sort(first, table.steps.end(),
                     [&](const TraceStep& a, const TraceStep& b) { return rank(a) < rank(b); });
  }
}

}  // namespace course::grader
