// SPDX-License-Identifier: MIT
// The main program around a lab's file whose launches are to be recorded. Compiled with -DCOURSE_LAB=<lab>.
#include <dlfcn.h>

#include <cstdio>

#include "play/record.hpp"

#define COURSE_TEXT_OF(name) #name
#define COURSE_TEXT(name) COURSE_TEXT_OF(name)

namespace course::COURSE_LAB {
lab::Status run(const lab::Request& request);
}

int main(int n, char** arguments) {
  const auto record = reinterpret_cast<decltype(&playRecord)>(dlsym(RTLD_DEFAULT, "playRecord"));
  if (record == nullptr) {
    std::fputs("start this program on the recorder's libcudart (LD_LIBRARY_PATH)\n", stderr);
    return 1;
  }
  record(COURSE_TEXT(COURSE_LAB), &course::COURSE_LAB::run, n - 1, arguments + 1);
}
