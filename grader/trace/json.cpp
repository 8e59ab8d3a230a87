// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "trace/tables.hpp"

namespace course::grader {
namespace {

using Json = nlohmann::json;

Json step_json(const TraceStep& step) {
  Json values = Json::array(), written = Json::array(), stores = Json::array(), lanes = Json::array();
  for (std::size_t i = 0; i < step.cells.size(); ++i) {
    values.push_back(step.cells[i].text.empty() ? Json() : Json(step.cells[i].text));
    if (step.cells[i].written) written.push_back(i);
  }
  for (const TraceStore& store : step.stores)
    stores.push_back(
        {{"element", store.element}, {"block", store.block}, {"thread", store.thread}, {"line", store.line}});
  for (const TraceLanes& one : step.lanes)
    lanes.push_back({{"block", one.block},
                     {"warp", one.warp},
                     {"line", one.line},
                     {"active", one.lanes},
                     {"wavefronts", one.passes}});
  return {{"step", step.number}, {"after", step.after}, {"file", step.file},  {"line", step.line},
          {"array", step.array}, {"first", step.first}, {"values", values},   {"written", written},
          {"stores", stores},    {"lanes", lanes},      {"times", step.times}};
}

}  // namespace

std::string trace_json(const TraceView& view) {
  Json tables = Json::array();
  for (const TraceTable& table : view.tables) {
    Json steps = Json::array();
    for (const TraceStep& step : table.steps) steps.push_back(step_json(step));
    tables.push_back({{"launch", table.launch},
                      {"kernel", table.kernel},
                      {"block", table.block ? Json(*table.block) : Json()},
                      {"steps", std::move(steps)}});
  }
  const Json all{
      {"schema", 1},         {"lab", view.lab},           {"task", view.task}, {"case", view.case_name},
      {"fault", view.fault}, {"findings", view.findings}, {"tables", tables}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace course::grader
