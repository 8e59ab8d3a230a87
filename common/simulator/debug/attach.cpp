// SPDX-License-Identifier: MIT
// Attaches the debugger when a program that is linked with, or started on, this library begins, if the front
// end's socket is named in the environment.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "debug/session.hpp"

namespace course::debug {
namespace {

class AtStart {
 public:
  AtStart() {
    const char* path = std::getenv("LAB_DEBUG_SOCKET");
    if (path == nullptr) return;
    Channel channel{std::string(path)};
    unsetenv("LAB_DEBUG_SOCKET");  // programs that this one starts are not debugged
    if (!channel.connect()) std::_Exit(2);
    session_ = new Session(std::move(channel));  // lives as long as the process
    sim::attachment = session_;
    std::setvbuf(stdout, nullptr, _IOLBF, 0);  // output appears when it is written, though it goes to a file
    std::atexit([] { session_->program_ends(); });
  }

 private:
  static inline Session* session_ = nullptr;
};
const AtStart at_start;

}  // namespace
}  // namespace course::debug
