// SPDX-License-Identifier: MIT
#include "trace/stepper.hpp"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <span>
#include <string_view>

namespace course::grader {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// While this object exists, the terminal delivers each key at once, and control-C ends the stepping instead
// of the program.
class RawKeys {
 public:
  RawKeys() {
    tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    struct sigaction catcher {};
    catcher.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &catcher, &old_);
  }
  ~RawKeys() {
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
    sigaction(SIGINT, &old_, nullptr);
  }
  RawKeys(const RawKeys&) = delete;
  RawKeys& operator=(const RawKeys&) = delete;

 private:
  termios before_{};
  struct sigaction old_ {};
};

enum class Key { next, back, first, last, end, other };

struct Keys {
  std::string_view characters;
  Key key;
};
constexpr Keys kKeys[] = {
    {" \n\rnj", Key::next}, {"bpk\177", Key::back}, {"g", Key::first}, {"G", Key::last}, {"q\4", Key::end}};
constexpr Keys kArrows[] = {{"AD", Key::back}, {"BC", Key::next}, {"H", Key::first}, {"F", Key::last}};

Key find_key(std::span<const Keys> all, char c) {
  const auto found = std::ranges::find_if(
      all, [&](const Keys& k) { return k.characters.find(c) != std::string_view::npos; });
  return found != all.end() ? found->key : Key::other;
}

Key read_key() {
  char c = 0;
  if (read(STDIN_FILENO, &c, 1) != 1 || interrupted != 0) return Key::end;
  if (c != '\33') return find_key(kKeys, c);
  // An arrow key sends three characters at once. Escape alone ends.
  pollfd more{STDIN_FILENO, POLLIN, 0};
  char rest[2] = {};
  for (char& r : rest)
    if (poll(&more, 1, 50) != 1 || read(STDIN_FILENO, &r, 1) != 1) return Key::end;
  return find_key(kArrows, rest[1]);
}

}  // namespace

void show_steps(const std::vector<std::string>& steps, const std::string& end) {
  const bool by_key = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && !steps.empty();
  if (!by_key) {
    for (const std::string& step : steps) std::printf("\n%s", step.c_str());
    std::printf("%s", end.c_str());
    return;
  }
  interrupted = 0;
  const RawKeys keys;
  std::size_t at = 0;
  constexpr const char* kHelp = "space: next   b: back   g, G: first, last   q: end";
  while (true) {
    std::printf("\n%s%s\n%s", steps[at].c_str(), at + 1 == steps.size() ? end.c_str() : "", kHelp);
    std::fflush(stdout);
    Key key = Key::other;
    while (key == Key::other) key = read_key();
    std::printf("\r\x1b[K");
    if (key == Key::end || (key == Key::next && at + 1 == steps.size())) break;
    if (key == Key::next) ++at;
    if (key == Key::back && at > 0) --at;
    if (key == Key::first) at = 0;
    if (key == Key::last) at = steps.size() - 1;
  }
}

}  // namespace course::grader
