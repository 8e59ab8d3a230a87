// SPDX-License-Identifier: MIT
#include "verifier/failure_message.hpp"

#include <fmt/format.h>

namespace course::lab {

std::string rerun_command(const Manifest& manifest, const Task& task, const Case& c, std::uint64_t seed,
                          const std::string& flags) {
  return fmt::format("./lab grade {} --task {} --case {} --seed {}{}{}", manifest.id, task.id, c.name, seed,
                     flags.empty() ? "" : " ", flags);
}

std::string failure_message(const Manifest& manifest, const Task& task, const Case& c, std::uint64_t seed,
                            const std::string& flags, const Failure& failure) {
  std::string text = fmt::format("{} / {}: case {} {}\n", manifest.id, task.id, c.name, failure.headline);
  text += fmt::format("  run it again:  {}\n", rerun_command(manifest, task, c, seed, flags));
  if (failure.mismatch) {
    const Mismatch& m = *failure.mismatch;
    text += fmt::format("  {}[{}]{}: expected {}, got {}\n", m.buffer, m.index,
                        m.position.empty() ? "" : fmt::format(" ({})", m.position), m.expected, m.got);
    if (m.n_total > 1) {
      text += fmt::format("  {} of {} elements are wrong{}{}\n", m.n_wrong, m.n_total,
                          m.pattern.empty() ? "" : ": ", m.pattern);
    }
  }
  for (const auto& note : failure.notes) text += fmt::format("  {}\n", note);
  if (!failure.cause.empty())
    text += fmt::format("  {}: {}\n", failure.proved ? "cause" : "likely cause", failure.cause);
  text += fmt::format("  read:  {}\n", task.section);
  return text;
}

}  // namespace course::lab
