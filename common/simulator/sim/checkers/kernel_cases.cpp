// SPDX-License-Identifier: MIT
#include "sim/checkers/kernel_cases.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "sim/machine/source_places.hpp"

namespace course::sim::testing {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

constexpr std::string_view kReason = "// REASON ";

std::vector<std::string> words_after(const std::string& line, const std::string& mark) {
  const auto at = line.find(mark);
  if (at == std::string::npos) return {};
  std::istringstream rest(line.substr(at + mark.size()));
  std::vector<std::string> words;
  for (std::string word; rest >> word;) words.push_back(word);
  return words;
}

}  // namespace

void PrintTo(const KernelCase& c, std::ostream* out) {
  *out << c.file << ".cu, " << c.kernel;
}

std::vector<KernelCase> cases_of(const std::string& file) {
  std::istringstream lines(text_of(std::string(SIM_KERNEL_SOURCES) + "/" + file + ".cu"));
  std::vector<KernelCase> cases;
  KernelCase next;
  bool expects = false;
  std::set<std::uint32_t> helper_lines;
  std::uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (const auto kinds = words_after(line, "// EXPECT "); !kinds.empty()) {
      next = KernelCase{};
      next.file = file;
      expects = true;
      next.helper_lines = helper_lines;
      for (const std::string& kind : kinds)
        if (kind != "nothing") next.expected.insert(kind);
    } else if (line.starts_with(kReason)) {
      next.reason = line.substr(kReason.size());
    } else if (const auto launch = words_after(line, "// LAUNCH "); !launch.empty()) {
      if (launch.size() < 2)
        throw std::runtime_error(fmt::format("{}.cu:{}: LAUNCH grid block", file, number));
      next.grid = static_cast<std::uint32_t>(std::stoul(launch[0]));
      next.block = static_cast<std::uint32_t>(std::stoul(launch[1]));
      for (std::size_t k = 2; k < launch.size(); ++k) {
        if (launch[k] == "cooperative")
          next.cooperative = true;
        else if (launch[k] == "free")
          next.free_scratch = true;
        else if (launch[k] == "task")
          next.is_task = true;
        else if (launch[k] == "scratch_at" && k + 1 < launch.size())
          next.scratch_at = std::stoi(launch[++k]);
        else if ((launch[k] == "n" || launch[k] == "shared") && k + 1 < launch.size())
          (launch[k] == "n" ? next.n : next.shared) = static_cast<std::uint32_t>(std::stoul(launch[k + 1])),
                                       ++k;
        else
          throw std::runtime_error(fmt::format("{}.cu:{}: unknown word '{}'", file, number, launch[k]));
      }
    } else if (const auto at = line.find("KERNEL("); at == 0) {
      if (!expects) throw std::runtime_error(fmt::format("{}.cu:{}: a kernel without EXPECT", file, number));
      next.kernel = line.substr(7, line.find(')') - 7);
      cases.push_back(next);
      expects = false;
    } else if (const auto mark = line.find("// "); mark != std::string::npos && !expects && cases.empty()) {
      if (line.ends_with("// HELPER")) helper_lines.insert(number);
    } else if (mark != std::string::npos) {
      KernelCase& of =
          // functions of a kernel stand between its EXPECT and the kernel itself
          expects ? next : cases.back();
      for (const std::string& word : words_after(line, "// ")) {
        if (word == "FAULT") of.fault_lines.insert(number);
        if (word == "OTHER") of.other_lines.insert(number);
      }
    }
  }
  return cases;
}

std::vector<KernelCase> all_cases() {
  std::vector<KernelCase> all;
  for (const char* file : {SIM_KERNEL_FILES})
    for (const KernelCase& c : cases_of(file)) all.push_back(c);
  return all;
}

std::string name_of_case(const ::testing::TestParamInfo<KernelCase>& info) {
  return info.param.file + "_" + info.param.kernel;
}

std::vector<Finding> run(const KernelCase& c, std::uint32_t mode, std::uint64_t schedule_seed,
                         int host_threads, std::vector<std::uint32_t>* out) {
  DeviceOptions options;
  options.preset.global_memory = std::uint64_t{1} << 28;
  options.host_threads = host_threads;
  options.schedule_seed = schedule_seed;
  options.watchdog_seconds = 120;
  Device device(options);
  device.set_mode(mode);
  const auto module = device.load_module(text_of(std::string(SIM_KERNEL_PTX) + "/" + c.file + ".ptx"));
  if (!module) throw std::runtime_error(module.error().text);
  const auto kernel = device.find_kernel(*module, c.kernel);
  if (!kernel) throw std::runtime_error(kernel.error().text);
  const auto buffer = [&](const char* name, std::uint64_t items, int fill) {
    const std::uint64_t address = *device.allocate(items * 4, MemoryKind::device);
    device.name_buffer(address, items * 4, 4, name, false);
    if (fill >= 0) {
      auto* data = reinterpret_cast<std::uint32_t*>(address);
      for (std::uint64_t k = 0; k < items; ++k)
        data[k] = fill == 0 ? 0 : static_cast<std::uint32_t>(k * 7 % 101);
      device.host_wrote(address, items * 4);
    }
    return address;
  };
  struct {
    std::uint64_t in, out, scratch, counter;
    std::uint32_t n;
  } arguments{buffer("in", c.n, 1), buffer("out", c.n, 0), buffer("scratch", c.n, -1),
              buffer("counter", 64, 0), c.n};
  if (c.scratch_at >= 0) arguments.scratch = arguments.out + 4 * static_cast<std::uint64_t>(c.scratch_at);
  if (c.is_task) device.name_buffer(arguments.in, c.n * 4, 4, "in", true);
  if (c.free_scratch && !device.release(arguments.scratch)) throw std::runtime_error("cannot free");
  std::byte parameters[36];
  std::memcpy(parameters, &arguments, sizeof parameters);
  LaunchRequest request;
  request.kernel = *kernel;
  request.grid.x = c.grid;
  request.block.x = c.block;
  request.dynamic_shared = c.shared;
  request.parameters = parameters;
  request.cooperative = c.cooperative;
  const LaunchResult result = device.launch(request);
  if (result.fault != Fault::none && device.findings().empty()) throw std::runtime_error(result.text);
  if (out != nullptr) {
    const auto* left = reinterpret_cast<const std::uint32_t*>(arguments.out);
    out->assign(left, left + c.n);
  }
  return device.findings();
}

std::string list(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings)
    text += fmt::format("  {} {}{} (line {}, other {}, {} times): {}\n", name_of(f.checker), f.kind,
                        f.severity == Severity::hint ? " (hint)" : "", own_place(f.where).line,
                        own_place(f.other_where).line, f.times, f.message);
  return text.empty() ? "  nothing\n" : text;
}

}  // namespace course::sim::testing
