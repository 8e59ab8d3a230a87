// SPDX-License-Identifier: MIT
// labcli bench: measures every rung of the ladders, the libraries' functions, the CPU baselines and the
// memory's ceilings in one run.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/tables.hpp"
#include "cli/commands.hpp"
#include "compile/build.hpp"
#include "device.hpp"
#include "grading/planning/select.hpp"
#include "layout.hpp"
#include "process.hpp"
#include "progress.hpp"
#include "registry.hpp"
#include "report/report_file.hpp"
#include "text.hpp"

namespace course::grader::cli {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::vector<std::string> labs;
  std::string device = "auto", json, cccl;
  std::vector<std::uint64_t> sizes;
  std::vector<unsigned> gpus;  // of a lab for several devices
  std::optional<unsigned> runs;
  bool mine = false, no_cpu = false, kinds = false;
};

constexpr const char* kBenchFooter = R"(
On a GPU, two times: GPU is the GPU's own time, without that of submitting the
work; "+ launch" contains it, as a caller sees it. Buffers rotate past 1 GiB;
runs until the median is known to 1 %; outputs checked. Without a GPU: modelled,
and labelled so. Times of different runs differ; compare within one.

Examples:
  ./lab bench reduction                        the course's solutions
  ./lab bench --sizes 2^20,2^24 --json mine.json
  ./lab bench scan --mine                      your kernels beside solutions
  ./lab bench radix_sort --cccl DIR/cccl       beside a newer CUB, too
  ./lab bench multi_gpu --gpus 1,2,4           strong and weak scaling)";

// `gpus`: of a lab for several devices, else 0.
std::vector<std::uint64_t> sizes_for(const BenchOptions& options, lab::DeviceKind device, unsigned gpus) {
  if (gpus > 0) {
    const std::vector<std::uint64_t> usual = device == lab::DeviceKind::sim
                                                 ? std::vector<std::uint64_t>{1 << 16, 1 << 18}
                                                 : std::vector<std::uint64_t>{1 << 20, 1 << 26};
    return sizes_on(gpus, options.sizes.empty() ? usual : options.sizes);
  }
  if (!options.sizes.empty()) return options.sizes;
  if (device == lab::DeviceKind::sim) return {1 << 16, 1 << 18, 1 << 20};
  return {1 << 20, 1 << 24, 1 << 28};
}

// Compiles a lab's library baselines with the CUB and Thrust in the folder `cccl` instead of the toolkit's,
// as a shared library that the bench program loads. "" if the lab has none.
std::string build_peers(const Layout& layout, const std::string& lab, const std::string& cccl) {
  const std::string object = fmt::format("solutions/bench_{0}.p/peers_{0}.cu.o", lab);
  const std::string file = fmt::format("{}/{}.{}.so", layout.build, object, getpid());
  std::error_code ignored;
  if (!fs::exists(fmt::format("{}/solutions/peers/{}.cu", layout.root, lab), ignored)) return "";
  const auto said = need(run_process({"ninja", "-C", layout.build, "-t", "commands", "-s", object}));
  std::string command = "cd " + shell_word(layout.build) + " &&";
  std::istringstream words(said.output);
  for (std::string word; words >> word;) {
    if (fs::path(word).filename() == "ccache" || word == "-MD") continue;
    if (word == "-MT" || word == "-MF" || word == "-o") {
      words >> word;
      continue;
    }
    command += " " + (word == "-c" ? "-shared" : word);
    if (fs::path(word).filename() == "nvcc") command += " -w -I" + shell_word(fs::absolute(cccl).string());
  }
  // Its own copy of everything, also of what both versions define under one name.
  command += " -cudart shared -Xcompiler=-fPIC,-fno-gnu-unique -Xlinker=-Bsymbolic -o " + shell_word(file);
  ProcessOptions how;
  how.seconds = 1200;
  const auto done = need(run_process({"sh", "-c", command}, how));
  if (done.exit_code != 0)
    throw std::runtime_error(
        fmt::format("{}'s libraries do not compile with {}:\n{}", lab, cccl, first_lines(done.output, 40)));
  return file;
}

// The numbers of GPUs on which a lab for several devices is measured. One is always among them, because
// efficiencies are relative to it. {0} for a lab of one device.
std::vector<unsigned> gpus_for(const BenchOptions& options, const lab::Problem& problem,
                               const ChosenDevice& device) {
  if (problem.manifest().most_devices == 1) return {0};
  std::vector<unsigned> gpus = options.gpus;
  if (gpus.empty()) {
    gpus = {1, 2, 4};
    std::erase_if(gpus, [&](unsigned n) { return n > device.n_devices; });
  }
  gpus.push_back(1);
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  need(check_devices(gpus.back(), device));
  return gpus;
}

// Builds one bench program, runs it and returns its JSON. `gpus`: see sizes_for.
std::string run_program(const Layout& layout, const BenchOptions& options, lab::DeviceKind device,
                        const std::vector<std::uint64_t>& sizes, const std::string& lab, bool solutions,
                        bool with_cpu, unsigned gpus = 0) {
  const std::string target = fmt::format("{}/bench_{}", solutions ? "solutions" : "labs", lab);
  if (const auto built = run_ninja(layout, {target}, 1200); !built)
    throw std::runtime_error(fmt::format("{} does not build:\n{}", target, built.error().text));
  ProcessOptions how;
  const std::string file = fmt::format("{}/{}.{}.json", layout.build, target, getpid());
  std::string libraries = device == lab::DeviceKind::sim ? layout.simulator_dir() : layout.toolkit_lib_dir;
  if (gpus > 0 && device == lab::DeviceKind::gpu) {
    const std::string nccl = need(nccl_folder(layout));
    if (nccl != libraries) libraries += ":" + nccl;
  }
  const char* before = std::getenv("LD_LIBRARY_PATH");
  how.seconds = 3600;
  how.environment = {"LD_LIBRARY_PATH=" + libraries + (before != nullptr ? std::string(":") + before : "")};
  std::vector<std::string> command = {layout.build + "/" + target,
                                      "--json",
                                      file,
                                      "--sizes",
                                      fmt::format("{}", fmt::join(sizes, ",")),
                                      "--runs",
                                      std::to_string(options.runs.value_or(options.kinds ? 20 : 200))};
  if (gpus > 0) {
    command.insert(command.end(), {"--gpus", std::to_string(gpus)});
    how.environment.push_back(fmt::format("SIM_DEVICES={}", gpus));
  }
  if (options.kinds) command.emplace_back("--kinds");
  if (options.no_cpu || !with_cpu) command.emplace_back("--no-cpu");
  Progress progress;
  std::string peers;
  if (solutions && !options.cccl.empty()) {
    progress.begin("compiling the libraries in " + options.cccl, 0);
    peers = build_peers(layout, lab, options.cccl);
    if (!peers.empty()) command.insert(command.end(), {"--peers", peers});
  }
  progress.begin("measuring", 0);
  how.on_line = [&](std::string_view line) { progress.detail(std::string(line)); };
  const auto run = run_process(command, how);
  const std::string text = contents_of(file);
  std::error_code ignored;
  fs::remove(file, ignored);
  if (!peers.empty()) fs::remove(peers, ignored);
  const auto& ran = need(run);
  if (ran.timed_out) throw std::runtime_error(fmt::format("{} took too long: fewer --sizes", target));
  if (ran.exit_code != 0)
    throw std::runtime_error(fmt::format("{} failed:\n{}", target, first_lines(tame(ran.output), 40)));
  return text;
}

// If a lab fails after others were measured, the result has those, and `trouble` says what happened.
std::string measure(const Layout& layout, const BenchOptions& options,
                    const std::vector<const lab::Problem*>& labs, std::string& trouble) {
  // The student edition has no solutions. There only the student's kernels are measured, beside CPU and
  // memory.
  std::error_code ignored;
  const bool have_solutions = fs::exists(layout.root + "/solutions", ignored);
  const bool mine = options.mine || !have_solutions;
  fmt::print(stderr, "lab: timing {}; --no-cpu and --sizes take less time\n",
             !mine            ? "the course's solutions (--mine adds your kernels)"
             : have_solutions ? "the course's solutions and your kernels"
                              : "your kernels");
  const ChosenDevice device = need(choose_device(options.device, layout));
  Progress progress;
  std::vector<std::string> solutions, yours;
  const auto measure_lab = [&](const lab::Problem& problem) {
    const std::string id(problem.manifest().id);
    const std::vector<unsigned> gpus = gpus_for(options, problem, device);
    progress.begin("Measuring " + id, gpus.size() * ((have_solutions ? 1u : 0u) + (mine ? 1u : 0u)));
    for (const bool solution : {true, false}) {
      if (!(solution ? have_solutions : mine)) continue;
      for (const unsigned n : gpus) {
        progress.step(n == 0 ? id : fmt::format("{} on {} GPU{}", id, n, n == 1 ? "" : "s"));
        (solution ? solutions : yours)
            .push_back(run_program(layout, options, device.kind, sizes_for(options, device.kind, n), id,
                                   solution, (solution || !have_solutions) && n <= 1, n));
      }
    }
  };
  try {
    for (const lab::Problem* problem : labs) measure_lab(*problem);
  } catch (const std::runtime_error& error) {
    if (solutions.empty() && yours.empty()) throw;
    trouble = error.what();
  }
  if (!have_solutions) std::swap(solutions, yours);
  return need(merge_bench(solutions, yours, fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))));
}

int run_bench(const BenchOptions& options) {
  auto labs = need(select_labs(lab::all_problems(), options.labs));
  const auto several = [](const lab::Problem* problem) { return problem->manifest().most_devices > 1; };
  if (options.labs.empty())
    std::erase_if(labs, [&](const auto* lab) { return several(lab) == options.gpus.empty(); });
  if (!options.gpus.empty() && !std::ranges::all_of(labs, several))
    return fail("--gpus is for labs for several devices, such as multi_gpu.");
  if (options.kinds && std::ranges::any_of(labs, several)) return fail("--kinds is for labs of one device");
  const Layout layout = need(find_layout());
  std::error_code unreadable;
  if (!options.cccl.empty() && !fs::exists(options.cccl + "/cub/version.cuh", unreadable))
    return fail(
        fmt::format("--cccl {}: there is no cub/version.cuh; give the folder that holds cub/ and thrust/ "
                    "(of the PyPI package nvidia-cuda-cccl: nvidia/cu13/include/cccl)",
                    options.cccl));
  need(check_writable(options.json));
  std::string trouble;
  const std::string json = measure(layout, options, labs, trouble);
  const std::string tables = need(bench_text(json));
  if (!options.json.empty()) need(write_report(options.json, json));
  std::fputs(tables.c_str(), stdout);
  return trouble.empty() ? kRan : fail(trouble);
}

// "2^20" becomes "1048576". What is neither stays as it is, for the next check to complain about.
std::string expand_power(std::string& word) {
  unsigned exponent = 0;
  if (word.starts_with("2^") && CLI::detail::lexical_cast(word.substr(2), exponent) && exponent < 64)
    word = std::to_string(std::uint64_t{1} << exponent);
  return {};
}

}  // namespace

void add_bench(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("bench", "Time a lab's rungs (--mine: yours), libraries, the CPU");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("LAB", options->labs,
                      "Labs to time; else all for one device, or with --gpus for several");
  command->add_option("--device", options->device, "auto, gpu or sim")
      ->check(CLI::IsMember({"auto", "gpu", "sim"}));
  command->add_option("--sizes", options->sizes, "Items, separated by commas: 65536 or 2^16")
      ->delimiter(',')
      ->transform(CLI::Validator(&expand_power, ""))
      ->check(CLI::Range(1ul, 1ul << 32));
  command->add_option("--cccl", options->cccl,
                      "Measure this CUB and Thrust, too: the folder with cub/ and thrust/");
  command->add_option("--gpus", options->gpus, "Of a lab for several devices: numbers of GPUs, 1,2,4")
      ->delimiter(',')
      ->check(CLI::Range(1u, 8u));
  command->add_option("--runs", options->runs, "Most runs of each (200; kinds: 20)")
      ->check(CLI::Range(1u, 1000u));
  command->add_flag("--kinds", options->kinds, "Top rungs and libraries, every kind of input");
  command->add_flag("--mine", options->mine, "Your kernels, too");
  command->add_flag("--no-cpu", options->no_cpu, "Leave the CPU baselines out");
  command->add_option("--json", options->json, "Write the results to a file");
  command->footer(kBenchFooter);
  command->callback([&run, options] { run = [options] { return run_bench(*options); }; });
}

}  // namespace course::grader::cli
