// SPDX-License-Identifier: MIT
#include "sim/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <thread>

#include "ptx/link.hpp"
#include "ptx/parser/parser.hpp"
#include "sim/decode/decode.hpp"
#include "sim/grid/calm_schedule.hpp"
#include "sim/grid/diagnose.hpp"
#include "sim/grid/grid.hpp"
#include "sim/launch_limits.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/op_table.hpp"
#include "sim/machine/source_places.hpp"
#include "sim/memory/cache.hpp"
#include "sim/memory/memory.hpp"
#include "sim/observation/attachment.hpp"
#include "sim/observation/observers.hpp"
#include "sim/observation/profile.hpp"
#include "sim/observation/report.hpp"
#include "sim/observation/subset.hpp"
#include "sim/timing/model.hpp"
#include "sim/timing/pace.hpp"
#include "sim/timing/timeline.hpp"

namespace course::sim {
namespace {

constexpr std::uint64_t kParameterArea = 32768;  // bytes
constexpr std::uint64_t kMaxThreads = 1 << 20;   // limit of KernelFacts::max_threads

struct LoadedModule {
  ptx::Module module;
  ModuleImage image;
  std::vector<std::uint64_t> owned;  // allocations of the module's variables
  ResourceTable compiled;            // what its machine code uses
  bool live = true;
};

struct Kernel {
  ModuleId module = 0;
  const ptx::Function* function = nullptr;  // nullptr: unloaded
  KernelFacts facts;
  std::unique_ptr<Program> program;  // decoded when it is first needed
  std::string decode_error;
  std::optional<std::vector<Outside>> outside;  // of the program, once somebody has asked
};

// The 32-bit registers that the PTX declares.
int declared_registers(const ptx::Function& f) {
  int registers = 0;
  for (const auto& r : f.registers)
    registers = std::min(registers + (ptx::bits_of(r.type) + 31) / 32, 1 << 20);
  return registers;
}

Fault fault_of(LaunchLimit limit) {
  switch (limit) {
    case LaunchLimit::configuration:
    case LaunchLimit::value:
    case LaunchLimit::cluster: return Fault::invalid_configuration;
    case LaunchLimit::resources:
    case LaunchLimit::cooperative: return Fault::out_of_resources;
    case LaunchLimit::endless: return Fault::launch_timeout;
  }
  return Fault::invalid_configuration;
}

void refuse(LaunchResult& result, const KernelFacts& kernel, const LaunchRefusal& refusal) {
  result.fault = fault_of(refusal.limit);
  result.text = fmt::format("{}: {}", kernel.demangled, refusal.text);
}

}  // namespace

struct Device::Impl {
  explicit Impl(DeviceOptions o)
      : options(std::move(o)),
        arena(options.preset.global_memory),
        timeline(options.preset.timing),
        cache(arena, static_cast<std::uint64_t>(options.preset.timing.l2_share * options.preset.l2_bytes)),
        observers(arena, report.findings, report.trace, !options.check_without_shortcuts) {
    const auto area = arena.allocate(kParameterArea, MemoryKind::module_variable);
    parameter_area = *area;
    arena.make_constant(parameter_area);
    arena.confine(parameter_area, true);  // to those of the current launch
    const auto workspace = arena.allocate(kGridWorkspace, MemoryKind::module_variable);
    grid_workspace = *workspace;
    arena.name(grid_workspace, kGridWorkspace, 4, "grid barrier", false);
  }

  DeviceOptions options;
  Arena arena;
  Timeline timeline;
  double reset_at = 0;  // on the timeline: when the report begins
  Cache cache;
  std::uint64_t parameter_area = 0;
  std::uint64_t grid_workspace = 0;  // where grid.sync() counts arrivals in cooperative launches
  std::deque<LoadedModule> modules;
  std::deque<Kernel> kernels;
  std::map<std::pair<ModuleId, std::string>, KernelId> kernel_ids;
  std::uint32_t mode = kCounters;
  Report report;
  Observers observers;

  void released(const Arena::Range& range) { observers.released(range.address, range.n_bytes); }
  Result<ModuleId> load(ptx::Module&& module, std::string_view ptx_text, const ResourceTable& compiled);
  const Program* program_of(Kernel& kernel, LaunchResult& result);
  GridOptions grid_options(const LaunchRequest& request, int resident);
  const Program* prepare(LaunchRequest& request, LaunchResult& result);
  GridOutcome run_observed(const Program& program, const LaunchRequest& request, GridOptions grid);
  LaunchResult launch(const LaunchRequest& request);
  std::string outside_of_subset(const LaunchRequest& asked);
};

Device::Device(DeviceOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  (void)engine();  // throws if no kernel could run
  impl_->report.device = impl_->options.preset.name;
  impl_->report.memory_gb_per_s = impl_->options.preset.memory_gb_per_s;
}
Device::~Device() = default;

const DeviceOptions& Device::options() const {
  return impl_->options;
}

Result<std::uint64_t> Device::allocate(std::uint64_t n_bytes, MemoryKind kind) {
  auto place = impl_->arena.allocate(n_bytes, kind);
  if (place) impl_->observers.allocated(*place, n_bytes, kind);
  return place;
}
Result<void> Device::release(std::uint64_t address) {
  Arena::Range gone;
  auto released = impl_->arena.release(address, &gone);
  if (released) impl_->released(gone);
  return released;
}
const Allocation* Device::find(std::uint64_t address) const {
  return impl_->arena.find(address);
}
const Allocation* Device::find_named(std::uint64_t address) const {
  return impl_->arena.describe(address);
}
Result<void> Device::set_other_memory(std::vector<OtherMemory> others) {
  impl_->arena.set_others(std::move(others));
  return {};
}

const Allocation* Device::find_freed(std::uint64_t address) const {
  return impl_->arena.find_freed(address);
}
std::uint64_t Device::free_bytes() const {
  return impl_->arena.free_bytes();
}
std::span<std::byte> Device::device_only_memory() const {
  return {reinterpret_cast<std::byte*>(impl_->arena.base()), impl_->arena.device_only_bytes()};
}
Result<void> Device::set_heap_bytes(std::uint64_t n_bytes) {
  return impl_->arena.set_heap_bytes(n_bytes);
}
void Device::empty_heap() {
  impl_->released(impl_->arena.empty_heap());
}
void Device::name_buffer(std::uint64_t address, std::uint64_t n_bytes, std::uint32_t element_bytes,
                         std::string name, bool is_data) {
  impl_->arena.name(address, n_bytes, element_bytes, std::move(name), is_data);
}
void Device::confine(std::uint64_t address, bool to_parts) {
  impl_->arena.confine(address, to_parts);
}
Result<void> Device::copy(std::byte* dst, const std::byte* src, std::uint64_t n_bytes) {
  // memmove, because overlapping copies are undefined in CUDA but must not be undefined behaviour here; nor a
  // copy of no bytes, whose pointers may be null.
  if (n_bytes != 0) std::memmove(dst, src, n_bytes);
  if (attachment != nullptr) attachment->copies(reinterpret_cast<std::uint64_t>(dst), {dst, n_bytes});
  return {};
}
Result<void> Device::fill(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes,
                          std::uint64_t count) {
  fill_elements(dst, value, element_bytes, count);
  if (attachment != nullptr)
    attachment->fills(reinterpret_cast<std::uint64_t>(dst), value, element_bytes, count);
  ++impl_->report.fills;
  return {};
}
void Device::host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
  impl_->observers.host_wrote(address, n_bytes);
  if ((impl_->mode & kAllChecks) == 0) return;
  for (const Allocation& input : impl_->arena.data_ranges()) {
    if (address >= input.base + input.size || address + n_bytes <= input.base) continue;
    Finding finding;
    finding.kind = "written-input";
    finding.object = input.name;
    finding.message = fmt::format(
        "a copy or a fill by host code writes to {}; a task may only read its inputs", input.name);
    add_finding(std::move(finding));
  }
}
std::vector<ByteRange> Device::never_written(std::uint64_t address, std::uint64_t n_bytes) const {
  return impl_->observers.never_written(address, n_bytes);
}
void Device::forget_writes(std::uint64_t address, std::uint64_t n_bytes) {
  impl_->observers.forget_writes(address, n_bytes);
}

// --- code --------------------------------------------------------------------------------------------------

Result<ModuleId> Device::Impl::load(ptx::Module&& module, std::string_view ptx_text,
                                    const ResourceTable& compiled) {
  LoadedModule& loaded = modules.emplace_back();
  loaded.module = std::move(module);
  loaded.compiled = compiled;
  loaded.image.module = &loaded.module;
  loaded.image.parameter_area = parameter_area;
  // All variables, each with the prefix of its name in the image.
  std::vector<std::pair<const ptx::Variable*, std::string>> variables;
  for (const auto& v : loaded.module.variables) variables.emplace_back(&v, "");
  for (const auto& f : loaded.module.functions)
    for (const auto& v : f.variables) variables.emplace_back(&v, scope_of_variables(f));
  for (const auto& [variable, scope] : variables) {
    const ptx::Variable& v = *variable;
    if ((v.space != ptx::Space::global && v.space != ptx::Space::constant) || v.is_extern) continue;
    auto place = arena.allocate(std::max<std::uint64_t>(v.size, 1),
                                v.managed ? MemoryKind::managed : MemoryKind::module_variable);
    if (!place) return place.error();
    loaded.owned.push_back(*place);
    if (v.space == ptx::Space::constant) arena.make_constant(*place);
    arena.name(*place, v.size, static_cast<std::uint32_t>(std::max(ptx::bits_of(v.type) / 8, 1)), v.name,
               false);
    std::copy_n(v.initial.begin(), std::min<std::uint64_t>(v.initial.size(), v.size),
                reinterpret_cast<decltype(v.initial)::value_type*>(*place));
    observers.host_wrote(*place, v.size);
    loaded.image.variables.emplace(scope + v.name, *place);
  }
  for (const auto& [variable, scope] : variables) {
    const ptx::Variable& v = *variable;
    for (const auto& r : v.relocations) {
      std::uint64_t value = 0;
      auto it = loaded.image.variables.find(scope + std::string(r.symbol));
      if (it == loaded.image.variables.end()) it = loaded.image.variables.find(std::string(r.symbol));
      if (it != loaded.image.variables.end())
        value = it->second;
      else if (const ptx::Function* f = loaded.module.find_function(r.symbol))
        value = function_address(loaded.module, *f);
      else
        return Error{fmt::format("the initial value of '{}' names '{}', which this module does not define",
                                 v.name, r.symbol)};
      value = (value + static_cast<std::uint64_t>(r.addend)) >> r.shift;
      std::memcpy(reinterpret_cast<char*>(loaded.image.variables.at(scope + v.name)) + r.offset, &value,
                  static_cast<std::size_t>(r.bytes));
    }
  }
  if (attachment != nullptr) attachment->module_loaded(loaded.image, ptx_text);
  return static_cast<ModuleId>(modules.size() - 1);
}

Result<ModuleId> Device::load_module(std::string_view ptx_text, const ResourceTable& compiled) {
  auto parsed = ptx::parse(ptx_text);
  if (!parsed) return parsed.error();
  return impl_->load(std::move(*parsed), ptx_text, compiled);
}

Result<ModuleId> Device::load_linked(std::span<const std::string> ptx_texts, const ResourceTable& compiled) {
  auto linked = ptx::link(ptx_texts);
  if (!linked) return Error{"linking the program's PTX: " + linked.error().text};
  return impl_->load(std::move(*linked), "", compiled);
}

void Device::unload_module(ModuleId id) {
  LoadedModule& loaded = impl_->modules[id];
  if (!loaded.live) return;
  loaded.live = false;
  for (const std::uint64_t address : loaded.owned) static_cast<void>(impl_->arena.release(address));
  // Findings, traces and counters per line are stored as text, so between launches only the caches of the
  // observers refer to the code.
  impl_->observers.code_unloaded();
  const auto first = impl_->kernel_ids.lower_bound({id, ""}),
             last = impl_->kernel_ids.lower_bound({id + 1, ""});
  for (auto it = first; it != last; ++it) {
    Kernel& kernel = impl_->kernels[it->second];
    kernel.function = nullptr;
    kernel.program.reset();
  }
  impl_->kernel_ids.erase(first, last);
  loaded = LoadedModule{.module = {}, .image = {}, .owned = {}, .compiled = {}, .live = false};
}

Result<KernelId> Device::find_kernel(ModuleId id, std::string_view mangled_name) {
  const auto key = std::pair(id, std::string(mangled_name));
  if (const auto it = impl_->kernel_ids.find(key); it != impl_->kernel_ids.end()) return it->second;
  const LoadedModule& loaded = impl_->modules[id];
  const ptx::Function* f = loaded.module.find_function(mangled_name);
  if (f == nullptr || !f->is_entry)
    return Error{fmt::format("no kernel '{}' in this module", demangled(key.second))};
  Kernel& kernel = impl_->kernels.emplace_back();
  kernel.module = id;
  kernel.function = f;
  KernelFacts& facts = kernel.facts;
  facts.name = f->name;
  facts.demangled = demangled(f->name);
  facts.parameter_bytes = f->parameter_bytes();
  for (const auto& p : f->parameters) facts.parameters.push_back({p.offset, p.size});
  for (const auto& v : f->variables) {
    if (v.space == ptx::Space::shared && !v.is_extern) facts.static_shared += v.size;
    if (v.space == ptx::Space::local) facts.local_bytes += v.size;
  }
  facts.ptx_version = loaded.module.compute_capability();
  const auto product = [](const std::vector<std::uint32_t>& dims) {
    std::uint64_t n = 1;  // at most kMaxThreads: all blocks are smaller
    for (const auto d : dims) n = std::min<std::uint64_t>(n * d, kMaxThreads);
    return static_cast<int>(n);
  };
  if (!f->required_threads.empty())
    facts.max_threads = product(f->required_threads);
  else if (!f->max_threads.empty())
    facts.max_threads = product(f->max_threads);
  const auto compiled = loaded.compiled.find(f->name);
  if (compiled != loaded.compiled.end() && compiled->second.registers != 0) {
    facts.registers = compiled->second.registers;
    facts.local_bytes = compiled->second.frame_bytes;
  } else {
    facts.registers = estimated_registers(impl_->options.preset, declared_registers(*f), facts.max_threads,
                                          f->min_blocks.value_or(1));
  }
  const auto number = static_cast<KernelId>(impl_->kernels.size() - 1);
  impl_->kernel_ids.emplace(key, number);
  return number;
}

const KernelFacts& Device::facts(KernelId kernel) const {
  return impl_->kernels[kernel].facts;
}

Result<Device::Symbol> Device::find_symbol(ModuleId id, std::string_view mangled_name) {
  const LoadedModule& loaded = impl_->modules[id];
  const auto it = loaded.image.variables.find(std::string(mangled_name));
  const ptx::Variable* v = loaded.module.find_variable(mangled_name);
  if (it == loaded.image.variables.end() || v == nullptr)
    return Error{fmt::format("no variable '{}' in this module", mangled_name)};
  return Symbol{it->second, v->size};
}

// --- execution ---------------------------------------------------------------------------------------------

// The kernel's program, decoded when it is first needed. nullptr if it cannot be run; then `result` has the
// fault.
const Program* Device::Impl::program_of(Kernel& kernel, LaunchResult& result) {
  if (!kernel.program && kernel.decode_error.empty()) {
    const ModuleImage& image = modules[kernel.module].image;
    SlotNames names;
    auto program = decode(image, *kernel.function, *engine().table, attachment != nullptr ? &names : nullptr);
    if (program) {
      const sim::ResourceTable& compiled = modules[kernel.module].compiled;
      std::uint64_t declared = 0, frames = 0;
      for (const ProgramFunction& f : program->functions) {
        declared += f.frame_bytes;
        if (const auto known = compiled.find(f.source->name); known != compiled.end())
          frames += known->second.frame_bytes;
      }
      program->spilled_bytes = frames - std::min(frames, declared);
      program->locals_in_registers = frames == 0 && compiled.contains(kernel.function->name);
      set_pace(*program, options.preset.timing);
      kernel.program = std::make_unique<Program>(std::move(*program));
      if (attachment != nullptr) attachment->kernel_decoded(*kernel.program, image, std::move(names));
    } else
      kernel.decode_error = program.error().text;
  }
  if (!kernel.program) {
    result.fault = Fault::illegal_instruction;
    result.text = kernel.decode_error;
    result.not_simulated = true;
  }
  return kernel.program.get();
}

// Options for a launch of which `resident` blocks fit on a multiprocessor; the caller adds the observers.
GridOptions Device::Impl::grid_options(const LaunchRequest& request, int resident) {
  GridOptions grid;
  grid.host_threads = options.host_threads > 0
                          ? options.host_threads
                          : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  grid.resident_blocks = std::max(options.preset.multiprocessors * std::max(1, resident),
                                  static_cast<int>(request.cluster.count()));
  grid.cache = &cache;
  grid.counting = (mode & kCounters) != 0;
  grid.schedule_seed = options.schedule_seed;
  grid.any_start_order = options.any_start_order;
  grid.short_turns = options.short_turns;
  // Blocks that poll for each other behave differently when they are interleaved, so counted launches are not
  // (calm_schedule.hpp). A trace shows what can happen between blocks, so it is.
  const bool natural = (grid.counting && (mode & kTrace) == 0) || is_calm(options.schedule_seed);
  grid.interleave = !natural && ((mode & kAllChecks) != 0 || options.schedule_seed != 0);
  grid.watchdog_seconds = options.watchdog_seconds * ((mode & kAllChecks) != 0 ? kSlowdownByCheckers : 1);
  grid.seconds_after_error = options.watchdog_seconds / kShareAfterError;
  grid.patience = options.patience;
  if (request.cooperative) {
    std::memset(reinterpret_cast<void*>(grid_workspace), 0, kGridWorkspace);
    observers.host_wrote(grid_workspace, kGridWorkspace);
    grid.grid_workspace = grid_workspace;
  }
  return grid;
}

std::string Device::Impl::outside_of_subset(const LaunchRequest& asked) {
  if (kernels[asked.kernel].function == nullptr) return "";
  LaunchResult result;
  LaunchRequest request = asked;
  const Program* program = prepare(request, result);
  if (program == nullptr) return result.fault == Fault::illegal_instruction ? result.text : "";
  if (const auto found = outside_of(*program, request); !found.empty()) return describe(found.front());
  Kernel& kernel = kernels[asked.kernel];
  if (!kernel.outside) kernel.outside = outside_of(*program, *engine().table);
  return kernel.outside->empty() ? "" : describe(kernel.outside->front());
}

// The program of a launch that may run, after adding to `request` what the kernel itself says. nullptr if it
// may not; then `result` has the fault.
const Program* Device::Impl::prepare(LaunchRequest& request, LaunchResult& result) {
  Kernel& kernel = kernels[request.kernel];
  if (kernel.function == nullptr) {
    result.fault = Fault::invalid_parameter;
    result.text = fmt::format("{}: its module has been unloaded", kernel.facts.demangled);
    return nullptr;
  }
  if (const auto& c = kernel.function->required_cluster; request.cluster.count() <= 1 && !c.empty())
    request.cluster = {c[0], c.size() > 1 ? c[1] : 1, c.size() > 2 ? c[2] : 1};
  if (const auto refusal = check_launch(options.preset, kernel.facts, request, nullptr)) {
    refuse(result, kernel.facts, *refusal);
    return nullptr;
  }
  const Program* program = program_of(kernel, result);
  if (program == nullptr) return nullptr;
  // The module's variables and those of called functions, which the kernel's own facts do not count.
  if (const auto refusal = check_shared(options.preset, program->static_shared - program->reserved_shared,
                                        request.dynamic_shared, nullptr)) {
    refuse(result, kernel.facts, *refusal);
    return nullptr;
  }
  return program;
}

// Runs a launch with the observers that the mode asks for: several times, if the checkers ask for it.
GridOutcome Device::Impl::run_observed(const Program& program, const LaunchRequest& request,
                                       GridOptions grid) {
  // The checkers support only accesses to a block's own shared memory, not those to other blocks of a
  // cluster.
  const unsigned watched =
      request.cluster.count() > 1 ? mode & ~static_cast<unsigned>(kAllChecks | kTrace) : mode;
  if ((mode & kAllChecks) != 0)
    for (std::string& what : unchecked_of(program, request, grid.interleave))
      ++report.unchecked[std::move(what)];
  grid.observer = observers.begin(watched, program, request, options.schedule_seed);
  if (grid.counting) cache.launch_begins();
  // A launch on several host threads may have to be repeated, for which only the arena can be restored.
  if (!arena.shares_memory())
    grid.parallel = observers.begin_parallel(watched, program, request, grid.host_threads);
  const auto cached =
      grid.counting && !grid.parallel.empty() ? cache.copy(arena) : std::vector<Cache::Copy>{};
  const auto run = [&] { return run_grid(program, request, arena, options.preset, engine(), grid); };
  GridOutcome outcome = run();
  while (!grid.parallel.empty() && observers.must_see_again(outcome.fault != Fault::none)) {
    cache.put_back(cached);
    grid.parallel = observers.begin_parallel(watched, program, request, grid.host_threads);
    outcome = run();
  }
  std::fputs(outcome.output.c_str(), stdout);
  if (!outcome.output.empty()) std::fflush(stdout);
  observers.end(outcome.counters);
  return outcome;
}

LaunchResult Device::Impl::launch(const LaunchRequest& asked) {
  LaunchResult result;
  LaunchRequest request = asked;
  const Program* program = prepare(request, result);
  const Kernel& kernel = kernels[request.kernel];
  if (program == nullptr) {
    if (result.not_simulated) {
      Finding finding;
      finding.checker = Checker::execution;
      finding.kind = "not-simulated";
      finding.kernel = kernel.facts.demangled;
      finding.message = "the kernel did not run: " + result.text;
      sim::add_finding(report.findings, std::move(finding));
    }
    return result;
  }
  std::copy_n(request.parameters.begin(), std::min<std::size_t>(request.parameters.size(), kParameterArea),
              reinterpret_cast<std::byte*>(parameter_area));
  arena.name(parameter_area, request.parameters.size(), 1, "kernel parameters", false);
  observers.host_wrote(parameter_area, request.parameters.size());

  const int registers = kernel.facts.registers;
  const std::uint64_t shared = kernel.facts.static_shared + request.dynamic_shared;
  const int block_threads = static_cast<int>(request.block.count());
  const int resident = blocks_per_multiprocessor(options.preset, block_threads, registers, shared);
  const GridOptions grid = grid_options(request, resident);
  GridOutcome outcome = run_observed(*program, request, grid);
  result.footprint = observers.take_footprint();
  result.footprint.forget(parameter_area, kParameterArea);
  result.footprint.forget(grid_workspace, kGridWorkspace);
  result.counters = outcome.counters;
  if (grid.counting)
    cache.launch_ends(outcome.counters.memory_read_sectors + outcome.counters.memory_write_sectors);
  const Modelled modelled = model_time(options.preset, request, outcome.counters, outcome.busiest_block);
  result.modelled_us = modelled.us;
  result.bound_by = modelled.bound_by;
  if ((mode & kProfile) != 0) add_to_profile(report.lines, *program, outcome);
  result.children = std::move(outcome.children);
  result.printed_bytes = outcome.printed_bytes;
  result.recursion_bytes = outcome.recursion_bytes;
  result.fault = outcome.fault;
  if (outcome.fault != Fault::none) {
    Finding finding = diagnose(*program, request, outcome, arena);
    result.text = finding.message;
    sim::add_finding(report.findings, std::move(finding));
  }
  const int warp_threads = (block_threads + kLanes - 1) / kLanes * kLanes;
  timeline.launch(result.modelled_us);
  report.add({kernel.facts.demangled, request.grid, request.block, result.modelled_us, result.bound_by,
              result.counters, resident,
              static_cast<double>(resident * warp_threads) / options.preset.max_threads_per_multiprocessor,
              registers, shared});
  report.modelled_us = timeline.device() - reset_at;
  return result;
}

Timeline& Device::timeline() {
  return impl_->timeline;
}

void Device::count_sent(std::uint64_t n_messages, std::uint64_t n_bytes) {
  ++impl_->report.traffic.operations;
  impl_->report.traffic.messages += n_messages;
  impl_->report.traffic.bytes_sent += n_bytes;
}

LaunchResult Device::check(const LaunchRequest& asked) {
  LaunchResult result;
  LaunchRequest request = asked;
  impl_->prepare(request, result);
  return result;
}
LaunchResult Device::launch(const LaunchRequest& request) {
  if (attachment != nullptr && !attachment->runs(request, facts(request.kernel))) return {};
  LaunchResult result = impl_->launch(request);
  run_children(result, request.kernel, 1);
  return result;
}

void Device::run_children(LaunchResult& parent, KernelId kernel, int depth) {
  constexpr int kMaxDepth = 24;
  std::vector<ChildLaunch> children = std::exchange(parent.children, {});
  std::stable_partition(children.begin(), children.end(), [](const ChildLaunch& c) { return !c.last; });
  const ModuleId module = impl_->kernels[kernel].module;
  const auto refuse = [&](const std::string& why) {
    Finding finding;
    finding.kind = "api-error";
    finding.kernel = impl_->kernels[kernel].facts.demangled;
    finding.message = fmt::format("a kernel that {} launches does not run: {}", finding.kernel, why);
    add_finding(std::move(finding));
  };
  for (const ChildLaunch& child : children) {
    if (parent.fault != Fault::none) return;
    const auto& functions = impl_->modules[module].module.functions;
    const std::uint64_t number = (child.function - kFunctionWindow) / 16;
    if (child.function < kFunctionWindow || number >= functions.size() || !functions[number].is_entry) {
      refuse("its address is not that of a kernel");
      continue;
    }
    if (depth > kMaxDepth) {
      refuse(fmt::format("more than {} kernels have launched each other", kMaxDepth));
      continue;
    }
    const auto known = find_kernel(module, functions[number].name);
    if (!known) {
      refuse(known.error().text);
      continue;
    }
    LaunchRequest request;
    request.kernel = *known;
    request.grid = child.grid;
    request.block = child.block;
    request.dynamic_shared = child.dynamic_shared;
    request.parameters =
        std::span(child.parameters)
            .first(std::min<std::size_t>(child.parameters.size(), facts(*known).parameter_bytes));
    LaunchResult result = impl_->launch(request);
    run_children(result, *known, depth + 1);
    if (result.fault == Fault::invalid_configuration || result.fault == Fault::out_of_resources) {
      refuse(result.text);
      continue;
    }
    parent.footprint.add(result.footprint);
    parent.counters += result.counters;
    parent.modelled_us += result.modelled_us;
    parent.fault = result.fault;
    parent.text = std::move(result.text);
    parent.not_simulated = result.not_simulated;
  }
}

std::string Device::outside_of_subset(const LaunchRequest& request) {
  return impl_->outside_of_subset(request);
}

int Device::occupancy(KernelId kernel, int threads_per_block, std::uint64_t dynamic_shared) const {
  const KernelFacts& facts = impl_->kernels[kernel].facts;
  if (threads_per_block > facts.max_threads) return 0;
  return blocks_per_multiprocessor(impl_->options.preset, threads_per_block, facts.registers,
                                   facts.static_shared + dynamic_shared);
}

// --- observation -------------------------------------------------------------------------------------------

void Device::set_mode(std::uint32_t mode) {
  impl_->mode = mode;
  impl_->observers.prepare(mode);
}
void Device::set_schedule(std::uint64_t seed, bool any_start_order) {
  impl_->options.schedule_seed = seed;
  impl_->options.any_start_order = any_start_order;
}
std::uint32_t Device::mode() const {
  return impl_->mode;
}
const std::vector<Finding>& Device::findings() const {
  return impl_->report.findings;
}
void Device::add_finding(Finding finding) {
  sim::add_finding(impl_->report.findings, std::move(finding));
}
void Device::withdraw_finding(const Finding& finding) {
  std::vector<Finding>& all = impl_->report.findings;
  const auto known = std::ranges::find_if(all, [&](const Finding& f) {
    return f.kind == finding.kind && f.kernel == finding.kernel &&
           one_line(f.where) == one_line(finding.where) && (!f.where.empty() || f.message == finding.message);
  });
  if (known != all.end() && --known->times == 0) all.erase(known);
}
void Device::find_heap_leaks() {
  for (Allocation& a : impl_->arena.take_made_by_kernels()) {
    Finding f;
    f.checker = Checker::leakcheck;
    f.kind = "leak";
    f.kernel = a.made_by;
    f.where = std::move(a.made_at);
    f.thread = a.maker;
    f.object = fmt::format("an allocation of {} bytes", a.size);
    f.message = fmt::format("{} allocates {} bytes at {}, which are never freed", describe_thread(a.maker),
                            a.size, one_line(f.where));
    add_finding(std::move(f));
  }
}
FindingsText Device::text_of(const std::vector<Finding>& findings) {
  return to_text(findings);
}
std::string Device::unchecked_text() const {
  std::string text;
  for (const auto& [what, n] : impl_->report.unchecked)
    text += fmt::format("{} launch{} {}\n", n, n == 1 ? "" : "es", what);
  return text;
}
const TraceLog& Device::trace() const {
  return impl_->report.trace;
}
std::string Device::report_json() const {
  // A memset or a collective operation after the last launch counts, too.
  if (impl_->report.fills + impl_->report.traffic.operations > 0)
    impl_->report.modelled_us = impl_->timeline.work_ended() - impl_->reset_at;
  return to_json(impl_->report, impl_->mode);
}
void Device::reset_report() {
  impl_->report = Report{};
  impl_->report.device = impl_->options.preset.name;
  impl_->report.memory_gb_per_s = impl_->options.preset.memory_gb_per_s;
  impl_->cache.forget();
  impl_->timeline.synchronise();
  impl_->reset_at = impl_->timeline.device();
  impl_->observers.reset();
}

}  // namespace course::sim
