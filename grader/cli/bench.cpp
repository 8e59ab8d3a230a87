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
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/html.hpp"
#include "bench/published.hpp"
#include "bench/results.hpp"
#include "bench/sandboxed.hpp"
#include "bench/scaling.hpp"
#include "cli/commands.hpp"
#include "compile/build.hpp"
#include "compile/compile_file.hpp"
#include "compile/session_runner.hpp"
#include "device.hpp"
#include "grading/planning/select.hpp"
#include "grading/progress.hpp"
#include "layout.hpp"
#include "process.hpp"
#include "registry.hpp"
#include "report/report_file.hpp"
#include "text.hpp"

namespace course::grader::cli {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::vector<std::string> labs;
  std::string device = "auto", json, csv, html, from, cccl;
  std::vector<std::uint64_t> sizes;
  std::vector<unsigned> gpus;  // of a lab for several devices
  unsigned runs = 200;
  bool hot = false, mine = false, published = false, no_cpu = false, kinds = false;
};

constexpr const char* kBenchFooter = R"(
On a GPU, two times: GPU is the GPU's own time, without that of submitting the
work; "+ launch" contains it, as a caller sees it. Buffers rotate past 1 GiB;
runs until the median is known to 1 %; outputs checked. Without a GPU: modelled,
and labelled so. Times of different runs differ; compare within one.

Examples:
  ./lab bench reduction                        the course's solutions
  ./lab bench --sizes 2^20,2^24 --json mine.json --csv mine.csv
  ./lab bench sat --html sat.html              tables of times and rates
  ./lab bench scan --mine                      your kernels beside solutions
  ./lab bench radix_sort --cccl DIR/cccl       beside a newer CUB, too
  ./lab bench multi_gpu --gpus 1,2,4           strong and weak scaling
  ./lab bench reduction --published            the published run)";

std::string contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

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

// ninja's command for linking the bench program of a student's file, with placeholders for the object and the
// program.
Result<Recipe> bench_recipe(const Layout& layout, const std::string& lab, const std::string& target) {
  const auto said = run_process({"ninja", "-C", layout.build, "-t", "commands", "-s", target});
  if (!said) return said.error();
  Recipe recipe;
  recipe.link = "cd " + shell_word(layout.build) + " &&";
  std::istringstream words(said->exit_code == 0 ? said->output : "");
  for (std::string word; words >> word;) {
    if (fs::path(word).filename() == "ccache") continue;  // the sandbox need not show it
    if (word == target) word = "{runner}";
    if (word.starts_with(target + ".p/") && word.ends_with(lab + ".cu.o")) word = "{object}";
    constexpr std::string_view kToLinker =
        "-Xlinker=";  // before a library: common/harness/remote/libnccl.so.2
    const std::string file = word.substr(word.starts_with(kToLinker) ? kToLinker.size() : 0);
    const bool is_linked = file.ends_with(".o") || file.ends_with(".a") || file.find(".so.") != file.npos;
    if (is_linked && !file.starts_with('-') && !file.starts_with('/')) recipe.linked.push_back(file);
    recipe.link += " " + word;
  }
  for (const char* hole : {"{object}", "-o {runner}"}) {
    if (recipe.link.find(hole) == std::string::npos)
      return Error{
          fmt::format("ninja does not say how {} is linked:\n{}", target, first_lines(said->output, 20))};
  }
  recipe.link += " -Xcompiler=-fno-lto,-fno-use-linker-plugin";
  return recipe;
}

// Compiles a lab's library baselines with the CUB and Thrust in the folder `cccl` instead of the toolkit's,
// as a shared library that the bench program loads. "" if the lab has none.
Result<std::string> build_peers(const Layout& layout, const std::string& lab, const std::string& cccl) {
  const std::string object = fmt::format("solutions/bench_{0}.p/peers_{0}.cu.o", lab);
  const std::string file = fmt::format("{}/{}.{}.so", layout.build, object, getpid());
  std::error_code ignored;
  if (!fs::exists(fmt::format("{}/solutions/peers/{}.cu", layout.root, lab), ignored)) return std::string();
  const auto said = run_process({"ninja", "-C", layout.build, "-t", "commands", "-s", object});
  if (!said) return said.error();
  std::string command = "cd " + shell_word(layout.build) + " &&";
  std::istringstream words(said->output);
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
  const auto done = run_process({"sh", "-c", command}, how);
  if (!done) return done.error();
  if (done->exit_code != 0)
    return Error{
        fmt::format("{}'s libraries do not compile with {}:\n{}", lab, cccl, first_lines(done->output, 40))};
  return file;
}

// Compiles and screens a student's file as for a grade and links it in the sandbox, too. Returns the path of
// the program.
Result<std::string> build_mine(const Layout& layout, const std::string& lab, const std::string& target) {
  BuildOptions how;
  how.machine = &isolation_here(layout);
  const std::string labs[] = {lab};
  BuildOutcome outcome = build_runners(layout, labs, how).at(lab);
  auto program = runner_of(layout, lab, false);
  if (!program) return program.error();
  if (outcome.verdict == lab::Verdict::ok) {
    const auto recipe = bench_recipe(layout, lab, target);
    if (!recipe) return recipe.error();
    if (const auto done = run_ninja(layout, recipe->linked); !done) return done.error();
    outcome = link_object(layout, *recipe, lab, fs::path(*program).parent_path().string(), how);
  }
  if (outcome.verdict == lab::Verdict::ok) return program;
  return Error{fmt::format("labs/{}: {}\n{}", lab, lab::name_of(outcome.verdict), outcome.message)};
}

// The numbers of GPUs on which a lab for several devices is measured. One is always among them, because
// efficiencies are relative to it. {0} for a lab of one device.
Result<std::vector<unsigned>> gpus_for(const BenchOptions& options, const lab::Problem& problem,
                                       const ChosenDevice& device) {
  if (problem.manifest().most_devices == 1) return std::vector<unsigned>{0};
  std::vector<unsigned> gpus = options.gpus;
  if (gpus.empty()) {
    gpus = {1, 2, 4};
    std::erase_if(gpus, [&](unsigned n) { return n > device.n_devices; });
  }
  gpus.push_back(1);
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  if (const auto enough = check_devices(gpus.back(), device); !enough) return enough.error();
  return gpus;
}

// Builds one bench program, runs it and returns its JSON. `gpus`: see sizes_for.
Result<std::string> run_program(const Layout& layout, const BenchOptions& options, lab::DeviceKind device,
                                const std::vector<std::uint64_t>& sizes, const std::string& lab,
                                bool solutions, bool with_cpu, unsigned gpus = 0) {
  const std::string target = fmt::format("{}/bench_{}", solutions ? "solutions" : "labs", lab);
  std::string program = layout.build + "/" + target;
  if (solutions) {
    if (const auto built = run_ninja(layout, {target}, 1200); !built)
      return Error{fmt::format("{} does not build:\n{}", target, built.error().text)};
  } else {
    auto mine = build_mine(layout, lab, target);
    if (!mine) return mine.error();
    program = std::move(*mine);
  }
  ProcessOptions how;
  const std::string file = fmt::format("{}/{}.{}.json", layout.build, target, getpid());
  std::string libraries = device == lab::DeviceKind::sim ? layout.simulator_dir() : layout.toolkit_lib_dir;
  if (gpus > 0 && device == lab::DeviceKind::gpu) {
    const auto nccl = nccl_folder(layout);
    if (!nccl) return nccl.error();
    if (*nccl != libraries) libraries += ":" + *nccl;
  }
  const char* before = std::getenv("LD_LIBRARY_PATH");
  how.seconds = 3600;
  how.environment = {"LD_LIBRARY_PATH=" + libraries + (before != nullptr ? std::string(":") + before : "")};
  std::vector<std::string> command = {program, "--sizes", fmt::format("{}", fmt::join(sizes, ",")), "--runs",
                                      std::to_string(options.runs)};
  if (gpus > 0) {
    command.insert(command.end(), {"--gpus", std::to_string(gpus)});
    how.environment.push_back(fmt::format("SIM_DEVICES={}", gpus));
  }
  if (options.hot) command.emplace_back("--hot");
  if (options.kinds) command.emplace_back("--kinds");
  if (options.no_cpu || !with_cpu) command.emplace_back("--no-cpu");
  if (!solutions) {
    auto text = run_sandboxed(layout, std::move(command), device, libraries, how, gpus > 0);
    return text ? std::move(text) : Error{fmt::format("bench of labs/{} {}", lab, text.error().text)};
  }
  command.insert(command.end(), {"--json", file});
  Progress progress;
  std::string peers;
  if (!options.cccl.empty()) {
    progress.begin("compiling the libraries in " + options.cccl, 0);
    auto built = build_peers(layout, lab, options.cccl);
    if (!built) return built.error();
    peers = std::move(*built);
    if (!peers.empty()) command.insert(command.end(), {"--peers", peers});
  }
  progress.begin("measuring", 0);
  how.on_line = [&](std::string_view line) { progress.detail(std::string(line)); };
  const auto ran = run_process(command, how);
  const std::string text = contents(file);
  std::error_code ignored;
  fs::remove(file, ignored);
  if (!peers.empty()) fs::remove(peers, ignored);
  if (!ran) return ran.error();
  if (ran->timed_out) return Error{fmt::format("bench of {} took too long: fewer --sizes", lab)};
  if (ran->exit_code != 0)
    return Error{fmt::format("bench of {} failed:\n{}", lab, first_lines(tame(ran->output), 40))};
  return text;
}

// If a lab fails after others were measured, the result has those, and `trouble` says what happened.
Result<std::string> measure(const Layout& layout, const BenchOptions& options,
                            const std::vector<const lab::Problem*>& labs, std::string& trouble) {
  const auto device = choose_device(options.device, layout);
  if (!device) return device.error();
  Progress progress;
  // The student edition has no solutions. There only the student's kernels are measured, beside CPU and
  // memory.
  std::error_code ignored;
  const bool have_solutions = fs::exists(layout.root + "/solutions", ignored);
  const bool mine = options.mine || !have_solutions;
  const auto gpus = gpus_for(options, *labs.front(), *device);  // the labs are of one kind
  if (!gpus) return gpus.error();
  progress.begin("Measuring", labs.size() * gpus->size() * ((have_solutions ? 1u : 0u) + (mine ? 1u : 0u)));
  std::vector<std::string> solutions, yours;
  const auto measure_lab = [&](const std::string& id) -> Result<void> {
    for (const bool solution : {true, false}) {
      if (!(solution ? have_solutions : mine)) continue;
      for (const unsigned n : *gpus) {
        progress.step(n == 0 ? id : fmt::format("{} on {} GPU{}", id, n, n == 1 ? "" : "s"));
        auto text = run_program(layout, options, device->kind, sizes_for(options, device->kind, n), id,
                                solution, (solution || !have_solutions) && n <= 1, n);
        if (!text) return text.error();
        (solution ? solutions : yours).push_back(std::move(*text));
      }
    }
    return {};
  };
  for (const lab::Problem* problem : labs) {
    const Result<void> done = measure_lab(std::string(problem->manifest().id));
    if (!done && solutions.empty() && yours.empty()) return done.error();
    if (!done) trouble = done.error().text;
    if (!done) break;
  }
  if (!have_solutions) std::swap(solutions, yours);
  return merge_bench(solutions, yours, fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr))));
}

int run_bench(const BenchOptions& options) {
  auto labs = select_labs(lab::all_problems(), options.labs);
  if (labs) labs = of_one_kind(std::move(*labs), !options.gpus.empty());
  if (!labs) return fail(labs.error().text);
  if (labs->front()->manifest().most_devices > 1 && (options.kinds || !options.html.empty()))
    return fail("--kinds and --html are for labs of one device");
  const Result<Layout> layout = find_layout();
  if (!layout) return fail(layout.error().text);
  std::error_code unreadable;
  if (!options.cccl.empty() && !fs::exists(options.cccl + "/cub/version.cuh", unreadable))
    return fail(
        fmt::format("--cccl {}: there is no cub/version.cuh; give the folder that holds cub/ and thrust/ "
                    "(of the PyPI package nvidia-cuda-cccl: nvidia/cu13/include/cccl)",
                    options.cccl));
  for (const std::string& path : {options.json, options.csv, options.html})
    if (!path.empty())
      if (const auto can = check_writable(path); !can) return fail(can.error().text);

  std::string json, trouble;
  if (options.published || !options.from.empty()) {
    const Result<std::string> path =
        options.published ? published_results(*layout) : Result<std::string>(options.from);
    if (!path) return fail(path.error().text);
    json = contents(*path);
    if (json.empty()) return fail("there is nothing to read in " + *path);
  } else {
    std::error_code ignored;
    if (!fs::exists(layout->root + "/solutions", ignored)) {
      std::fputs("lab: timing your kernels; --no-cpu and --sizes take less time\n", stderr);
    } else if (!options.mine) {
      std::fputs(
          "lab: timing the course's solutions; --mine adds your kernels\n"
          "lab: --no-cpu and --sizes take less time\n",
          stderr);
    }
    auto measured = measure(*layout, options, *labs, trouble);
    if (!measured) return fail(measured.error().text);
    json = std::move(*measured);
  }
  auto results = read_bench(json);
  if (!results) return fail(results.error().text);
  std::erase_if(results->labs, [&](const BenchLab& l) {
    return std::ranges::none_of(*labs, [&](const lab::Problem* p) { return p->manifest().id == l.id; });
  });
  if (!options.json.empty())
    if (const auto done = write_report(options.json, json); !done) return fail(done.error().text);
  if (!options.csv.empty())
    if (const auto done = write_report(options.csv, bench_csv(*results)); !done)
      return fail(done.error().text);
  if (!options.html.empty())
    if (const auto done = write_report(options.html, bench_html(*results)); !done)
      return fail(done.error().text);
  std::fputs(bench_text(*results).c_str(), stdout);
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
  command->add_option("LAB", options->labs, "Labs to time; all when none is named");
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
  command->add_option("--runs", options->runs, "Most runs of each (200)")->check(CLI::Range(1u, 1000u));
  command->add_flag("--hot", options->hot, "Let the data stay in the cache, if they fit");
  command->add_flag("--kinds", options->kinds, "Top rungs and libraries, every kind of input");
  command->add_flag("--mine", options->mine, "Your kernels, too");
  command->add_flag("--no-cpu", options->no_cpu, "Leave the CPU baselines out");
  command->add_option("--json", options->json, "Write the results to a file");
  command->add_option("--csv", options->csv, "Write them as a table, one row a figure");
  command->add_option("--html", options->html, "Write them as a page: tables of times and rates");
  command->add_option("--from", options->from, "Show an earlier run's --json instead of measuring");
  command->add_flag("--published", options->published, "Show the results that the handouts show");
  command->footer(kBenchFooter);
  command->callback([&run, options] { run = [options] { return run_bench(*options); }; });
}

}  // namespace course::grader::cli
