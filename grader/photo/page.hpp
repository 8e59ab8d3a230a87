// SPDX-License-Identifier: MIT
// What ./lab photo writes: a page with the photo before and after and a strip of the stages, a line for each
// stage, and the photo in a terminal.
#pragma once

#include <string>

#include "photo/develop.hpp"

namespace course::grader {

struct Development {
  std::string name, device, made_by;  // "room.png", "NVIDIA H200", "./lab photo --solutions"
  lab::Photo before, after;
  std::vector<DevelopedStage> stages;
};

std::string photo_html(const Development& development);
// "Reduction  exposes the photo  OK  single_launch, 1.2 ms"
std::string stage_line(const DevelopedStage& stage);
// Two pixels a character, the upper half in the text's colour, the lower half in the background's.
std::string photo_text(const lab::Photo& photo, std::size_t columns);
}  // namespace course::grader
