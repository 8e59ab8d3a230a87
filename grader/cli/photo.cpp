// SPDX-License-Identifier: MIT
// labcli photo: develops a photo with the labs' kernels, and writes photo.png and photo.html.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "compile/build.hpp"
#include "device.hpp"
#include "grading/session_runner.hpp"
#include "layout.hpp"
#include "photo/develop.hpp"
#include "photo/image.hpp"
#include "photo/page.hpp"
#include "progress.hpp"
#include "report/report_file.hpp"
#include "report/table.hpp"
#include "text.hpp"

namespace course::grader::cli {
namespace {

namespace fs = std::filesystem;

struct PhotoOptions {
  std::string photo = "room", depth, out = ".", device = "auto";
  std::optional<float> focus;
  bool solutions = false, mine = false;
};

constexpr const char* kPhotoFooter = R"(
Each lab develops the photo a little: reduction exposes it, histogram and scans
spread its tones, compaction and radix sort find and correct red eyes, and the
summed area table blurs what is out of focus. A lab that you have not written
passes the photo on.

Examples:
  ./lab photo                            a room; your kernels
  ./lab photo lanterns --solutions
  ./lab photo holiday.jpg --focus 0.6    a photo of your own)";

constexpr std::size_t kMostPixels = 800 * 800;  // larger photos are made smaller

// The photo and its depths: those of the file, of NAME.depth.png beside the photo, or, as in a photo of a
// landscape, the lower the nearer.
lab::Photo load(const PhotoOptions& options, const std::string& path) {
  lab::Photo photo = need(read_photo(path));
  const std::string beside = fs::path(path).replace_extension(".depth.png");
  const std::string depth = options.depth.empty() && fs::is_regular_file(beside) ? beside : options.depth;
  if (!depth.empty()) {
    need(read_depth(depth, photo));
  } else {
    for (std::size_t i = 0; i < photo.n_pixels(); ++i)
      photo.depth.push_back(1 - static_cast<float>(i / photo.width) / static_cast<float>(photo.height));
  }
  std::size_t factor = 1;
  while (photo.n_pixels() / (factor * factor) > kMostPixels) ++factor;
  if (photo.width < factor || photo.height < factor) throw std::runtime_error(path + " is too narrow");
  lab::Photo small = smaller(photo, factor);
  small.focus = options.focus.value_or(small.depth[small.height / 2 * small.width + small.width / 2]);
  return small;
}

// Runs cases in the labs' runners, each started when it is first needed.
RunCase case_runner(const Layout& layout, const RunContext& context,
                    const std::map<std::string, BuildOutcome>& built) {
  auto runners = std::make_shared<std::map<std::string, std::unique_ptr<CaseRunner>>>();
  return [=, make = session_runners(layout, context)](const lab::Problem& problem, const lab::Task& task,
                                                      const lab::Case& c) {
    const std::string lab(problem.manifest().id);
    lab::Outcome outcome;
    if (const BuildOutcome& build = built.at(lab); build.verdict != lab::Verdict::ok) {
      static_cast<lab::Judgement&>(outcome) = lab::judged(build.verdict, "could not be built", build.message);
      return outcome;
    }
    auto& runner = (*runners)[lab];
    if (!runner) runner = make(problem, context.device);
    lab::Measure measure;
    measure.only_verdict = true;
    measure.timed_runs = context.device == lab::DeviceKind::gpu ? 1 : 0;
    return runner->run(problem, task, c, 1, measure);
  };
}

int run_photo(const PhotoOptions& options) {
  const Layout layout = need(find_layout());
  const std::string ours = layout.root + "/grader/photo/pictures/" + options.photo + ".png";
  const bool is_ours = fs::is_regular_file(ours) && !fs::exists(options.photo);
  lab::Photo photo = load(options, is_ours ? ours : options.photo);
  for (const char* file : {"/photo.png", "/photo.html"}) need(check_writable(options.out + file));
  const ChosenDevice device = need(choose_device(options.device, layout));

  Development development;
  development.name = fs::path(options.photo).filename();
  development.device = device.name.empty() ? "the simulator" : device.name;
  development.made_by =
      fmt::format("./lab photo {}{}", options.photo, options.solutions ? " --solutions" : "");
  development.before = photo;
  std::vector<std::string> labs;
  for (const lab::PhotoStage* stage : lab::photo_stages()) labs.emplace_back(stage->problem().manifest().id);
  {
    Progress progress;
    progress.begin("Building", 0);
    BuildOptions how;
    how.solutions = options.solutions;
    how.machine = &isolation_here(layout);
    const auto built = build_runners(layout, labs, how);
    const RunCase run_case = case_runner(layout, {"", 1, options.solutions, device.kind}, built);
    progress.begin("Developing", labs.size());
    for (const lab::PhotoStage* stage : lab::photo_stages()) {
      progress.step(stage->does);
      development.stages.push_back(develop(*stage, photo, run_case));
    }
  }
  development.after = photo;
  for (const DevelopedStage& stage : development.stages) std::fputs(stage_line(stage).c_str(), stdout);
  if (style_for_stdout().colour)
    std::fputs(photo_text(photo, std::min<std::size_t>(terminal_columns(), 100)).c_str(), stdout);
  const std::pair<const char*, std::string> files[] = {{"photo.png", png_of(photo)},
                                                       {"photo.html", photo_html(development)}};
  for (const auto& [name, text] : files) need(write_report(options.out + "/" + name, text));
  fmt::print("{0}/photo.png is the developed photo, {0}/photo.html shows its stages.\n", options.out);
  return kRan;
}

}  // namespace

void add_photo(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("photo", "Develop a photo with your kernels, one stage a lab");
  auto options = std::make_shared<PhotoOptions>();
  command->add_option("PHOTO", options->photo,
                      "room, lanterns, or a file: PNG, JPEG, Radiance HDR or PFM (room)");
  command->add_flag("--mine", options->mine, "Your kernels, as without it");
  command->add_flag("--solutions", options->solutions, "The kernels of the reference solutions")
      ->excludes("--mine");
  command->add_option("--device", options->device, "Where kernels run: auto, sim or gpu")
      ->check(CLI::IsMember({"auto", "sim", "gpu"}))
      ->capture_default_str();
  command->add_option("--depth", options->depth, "The photo's depth map: PNG or PFM, 0 near to 1 far")
      ->type_name("FILE");
  command
      ->add_option("--focus", options->focus, "The depth that is sharp: 0 to 1 (that of the photo's middle)")
      ->check(CLI::Range(0.0f, 1.0f));
  command->add_option("--out", options->out, "The folder of photo.png and photo.html (.)")->type_name("DIR");
  command->footer(kPhotoFooter);
  command->callback([&run, options] { run = [options] { return run_photo(*options); }; });
}

}  // namespace course::grader::cli
