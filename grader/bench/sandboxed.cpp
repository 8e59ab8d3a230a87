// SPDX-License-Identifier: MIT
#include "bench/sandboxed.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "compile/session_runner.hpp"
#include "text.hpp"

namespace course::grader {
namespace fs = std::filesystem;

namespace {

// The folder in which a student's program may write its results. The program sees it as /results where there
// are namespaces.
class ResultsFolder {
 public:
  ResultsFolder() : path_((fs::temp_directory_path() / "lab-bench-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
    std::error_code ignored;
    fs::permissions(path_, fs::perms::all, ignored);  // the program may run as another user
  }
  ~ResultsFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ResultsFolder(const ResultsFolder&) = delete;
  ResultsFolder& operator=(const ResultsFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Reads at most kMax bytes of a regular file. The student's program may have made a link, a pipe or an
// endless file.
std::string written_by_others(const std::string& path) {
  constexpr std::size_t kMax = 16u << 20;
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  std::string text;
  if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    text.resize(kMax);
    std::size_t n_read = 0;
    for (ssize_t n = 1; n > 0 && n_read < kMax; n_read += static_cast<std::size_t>(std::max<ssize_t>(n, 0)))
      n = read(fd, text.data() + n_read, kMax - n_read);
    text.resize(n_read);
  }
  if (fd >= 0) close(fd);
  return text;
}

}  // namespace

Result<std::string> run_sandboxed(const Layout& layout, std::vector<std::string> command,
                                  lab::DeviceKind device, const std::string& libraries, ProcessOptions how,
                                  bool several_devices) {
  const ResultsFolder folder;
  if (folder.path().empty()) return Error{"No temporary folder can be made."};
  const sandbox::Machine& machine = isolation_here(layout);
  const bool gpu = device == lab::DeviceKind::gpu;
  sandbox::View view = view_for(layout, command.front(), device);
  std::istringstream folders(libraries);
  for (std::string one; std::getline(folders, one, ':');) view.read_only.push_back(one);
  view.placed = {{folder.path(), "/results"}};
  sandbox::Bounds bounds;
  if (gpu) bounds.memory_bytes = kHostMemoryWithGpu;
  const sandbox::Sandbox around(machine, purpose_of(device, several_devices), std::move(view), bounds);
  const bool placed = machine.namespaces != sandbox::Namespaces::none;
  command.insert(command.end(), {"--json", (placed ? "/results" : folder.path()) + "/bench.json"});
  command.insert(command.begin(), around.launcher().begin(), around.launcher().end());
  how.own_environment = false;
  for (const char* kept : {"PATH", "CUDA_VISIBLE_DEVICES", "NCCL_NVLS_ENABLE"}) {
    if (const char* value = std::getenv(kept); value != nullptr)
      how.environment.push_back(fmt::format("{}={}", kept, value));
  }
  const auto ran = run_process(command, how);
  if (!ran) return ran.error();
  if (ran->timed_out) return Error{"took too long: fewer --sizes"};
  if (ran->exit_code != 0)
    return Error{fmt::format("ended with code {}:\n{}", ran->exit_code, first_lines(tame(ran->output), 40))};
  return written_by_others(folder.path() + "/bench.json");
}

}  // namespace course::grader
