// SPDX-License-Identifier: MIT
#include "sim/grid/diagnose.hpp"

#include <fmt/format.h>

#include <vector>

#include "sim/machine/describe.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/provenance.hpp"

namespace course::sim {
namespace {

const char* kind_of(const GridOutcome& o, const Program& program, const Arena& arena) {
  switch (o.fault) {
    case Fault::illegal_address: {
      if (o.address >= kSharedWindow && o.address < kSharedWindow + kWindowSize)
        return "out-of-bounds-shared";
      if (o.address >= kLocalWindow && o.address < kLocalWindow + kWindowSize) return "out-of-bounds-local";
      if (arena.find_freed(o.address) != nullptr && arena.find(o.address) == nullptr) return "use-after-free";
      if (const OtherMemory* other = arena.find_other(o.address))
        return other->memory.kind == MemoryKind::module_variable ? "host-variable" : "no-peer-access";
      static_cast<void>(program);
      return "out-of-bounds";
    }
    case Fault::misaligned_address: return "misaligned";
    case Fault::launch_timeout: return "no-progress";
    case Fault::device_assert: return "assert";
    case Fault::trap: return "trap";
    default: return "fault";
  }
}

}  // namespace

Finding diagnose(const Program& program, const LaunchRequest& launch, const GridOutcome& o,
                 const Arena& arena) {
  Finding f;
  const bool memory = o.fault == Fault::illegal_address || o.fault == Fault::misaligned_address;
  f.checker = memory ? Checker::memcheck : Checker::execution;
  f.kind = kind_of(o, program, arena);
  f.kernel = program.demangled;
  f.where = o.where;
  f.thread = o.thread;
  if (o.fault == Fault::launch_timeout) {
    f.message = fmt::format("{}: {}", program.demangled, o.text);
    return f;
  }
  if (memory && o.address != 0) {
    const auto origins =
        o.op == nullptr ? std::vector<std::uint64_t>{} : pointers_behind(program, launch, *o.op);
    f.object = describe_address(program, arena, o.address, o.op == nullptr ? 0 : o.op->width, origins);
  }
  if (memory && o.address == 0) f.object = "a null pointer";
  f.message = fmt::format("{} at {}: {}{}{}", describe_thread(o.thread), one_line(o.where), o.text,
                          f.object.empty() ? "" : ": ", f.object);
  return f;
}

}  // namespace course::sim
