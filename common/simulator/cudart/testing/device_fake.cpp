// SPDX-License-Identifier: MIT
#include "cudart/testing/device_fake.hpp"

#include <cstdlib>
#include <cstring>

#include "sim/observation/report.hpp"
#include "sim/timing/timeline.hpp"

namespace course::sim {
namespace {

constexpr double kLaunchUs = 10;
constexpr std::size_t kAlignment = 256;
constexpr std::uint64_t kCapacity = std::uint64_t{1} << 30;

}  // namespace

Fake& fake() {
  static Fake instance;
  return instance;
}

namespace {
const Allocation* containing(const std::map<std::uint64_t, Allocation>& all, std::uint64_t address) {
  const auto after = all.upper_bound(address);
  if (after == all.begin()) return nullptr;
  const Allocation& candidate = std::prev(after)->second;
  return address < candidate.base + candidate.size ? &candidate : nullptr;
}
}  // namespace

struct Device::Impl {
  Timeline timeline{Timing{}};
  DeviceOptions options;
  std::map<std::uint64_t, Allocation> allocations, parts;
  std::vector<std::string> kernels;  // by id
  std::map<KernelId, KernelFacts> facts;
  std::map<std::pair<ModuleId, std::string>, Symbol> symbols;
  std::map<ModuleId, bool> modules;
  ModuleId next_module = 1;
  std::vector<Finding> findings;
};

Device::Device(DeviceOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
}

Device::~Device() {
  for (const auto& [base, allocation] : impl_->allocations) std::free(reinterpret_cast<void*>(base));
}

const DeviceOptions& Device::options() const {
  return impl_->options;
}

Result<std::uint64_t> Device::allocate(std::uint64_t n_bytes, MemoryKind kind) {
  if (n_bytes > free_bytes()) return Error{"the fake device is full"};
  const std::size_t rounded = (n_bytes + kAlignment - 1) / kAlignment * kAlignment;
  const auto base = reinterpret_cast<std::uint64_t>(std::aligned_alloc(kAlignment, rounded));
  Allocation allocation;
  allocation.base = base;
  allocation.size = n_bytes;
  allocation.kind = kind;
  impl_->allocations[base] = allocation;
  return base;
}

Result<void> Device::release(std::uint64_t address) {
  if (impl_->allocations.erase(address) == 0) return Error{"not a base address"};
  std::free(reinterpret_cast<void*>(address));
  return {};
}

const Allocation* Device::find(std::uint64_t address) const {
  const Allocation* whole = containing(impl_->allocations, address);
  return whole != nullptr && whole->only_parts ? containing(impl_->parts, address) : whole;
}

std::uint64_t Device::free_bytes() const {
  std::uint64_t used = 0;
  for (const auto& [base, allocation] : impl_->allocations) used += allocation.size;
  return kCapacity - used;
}

std::span<std::byte> Device::device_only_memory() const {
  return {};
}

void Device::name_buffer(std::uint64_t address, std::uint64_t n_bytes, std::uint32_t, std::string name,
                         bool) {
  Allocation& part = impl_->parts[address];
  part.base = address;
  part.size = n_bytes;
  part.name = name;
  if (const auto whole = impl_->allocations.find(address); whole != impl_->allocations.end())
    whole->second.name = std::move(name);
}
void Device::confine(std::uint64_t address, bool to_parts) {
  impl_->allocations.at(address).only_parts = to_parts;
}

Result<void> Device::copy(std::byte* dst, const std::byte* src, std::uint64_t n_bytes) {
  if (!fake().copy_failure.empty()) return Error{fake().copy_failure};
  std::memmove(dst, src, n_bytes);
  return {};
}
Result<void> Device::fill(std::byte* dst, std::uint32_t value, std::uint32_t element_bytes,
                          std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(dst + i * element_bytes, &value, element_bytes);
  return {};
}

void Device::host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
  fake().writes.emplace_back(address, n_bytes);
}

void Device::forget_writes(std::uint64_t address, std::uint64_t n_bytes) {
  fake().forgotten.emplace_back(address, n_bytes);
}

Result<ModuleId> Device::load_module(std::string_view ptx_text, const ResourceTable&) {
  if (!fake().load_failure.empty()) return Error{fake().load_failure};
  fake().modules.emplace_back(ptx_text);
  impl_->modules[impl_->next_module] = true;
  return impl_->next_module++;
}

Result<ModuleId> Device::load_linked(std::span<const std::string> ptx_texts, const ResourceTable& registers) {
  return load_module(ptx_texts.front(), registers);
}

void Device::unload_module(ModuleId module) {
  impl_->modules.erase(module);
}

Result<KernelId> Device::find_kernel(ModuleId, std::string_view mangled_name) {
  const auto known = fake().kernels.find(std::string(mangled_name));
  if (known == fake().kernels.end()) return Error{"no such kernel"};
  impl_->kernels.emplace_back(mangled_name);
  const auto id = static_cast<KernelId>(impl_->kernels.size() - 1);
  impl_->facts[id] = known->second;
  return id;
}

const KernelFacts& Device::facts(KernelId kernel) const {
  return impl_->facts.at(kernel);
}

Result<Device::Symbol> Device::find_symbol(ModuleId module, std::string_view mangled_name) {
  const std::string name(mangled_name);
  if (!fake().symbols.contains(name)) return Error{"no such variable"};
  const auto key = std::make_pair(module, name);
  if (!impl_->symbols.contains(key)) {
    const std::uint64_t size = fake().symbols[name];
    const auto base = allocate(size, MemoryKind::module_variable);
    if (!base) return base.error();
    impl_->symbols[key] = {*base, size};
  }
  return impl_->symbols[key];
}

LaunchResult Device::launch(const LaunchRequest& request) {
  const std::vector<std::byte> parameters(request.parameters.begin(), request.parameters.end());
  FakeLaunch launch{impl_->kernels.at(request.kernel),
                    request.grid,
                    request.block,
                    request.cluster,
                    request.dynamic_shared,
                    parameters,
                    request.cooperative};
  fake().launches.push_back(launch);
  if (fake().run) {
    const LaunchResult result = fake().run(launch);
    impl_->timeline.launch(result.modelled_us);
    return result;
  }
  LaunchResult result;
  result.modelled_us = kLaunchUs;
  impl_->timeline.launch(result.modelled_us);
  return result;
}

Timeline& Device::timeline() {
  return impl_->timeline;
}

int Device::occupancy(KernelId, int, std::uint64_t) const {
  return fake().occupancy;
}
void Device::set_mode(std::uint32_t mode) {
  fake().mode = mode;
}
void Device::set_schedule(std::uint64_t seed, bool) {
  impl_->options.schedule_seed = seed;
}
std::uint32_t Device::mode() const {
  return fake().mode;
}
const std::vector<Finding>& Device::findings() const {
  return impl_->findings;
}
Result<void> Device::set_other_memory(std::vector<OtherMemory>) {  // NOLINT: as declared
  return {};
}
const Allocation* Device::find_named(std::uint64_t address) const {
  const Allocation* found = find(address);
  return found != nullptr ? found : containing(impl_->allocations, address);
}
const Allocation* Device::find_freed(std::uint64_t) const {
  return nullptr;
}
std::vector<ByteRange> Device::never_written(std::uint64_t, std::uint64_t) const {
  return {};
}
void Device::count_sent(std::uint64_t, std::uint64_t) {}
void Device::add_finding(Finding) {}  // NOLINT: as declared
void Device::withdraw_finding(const Finding&) {}
void Device::find_heap_leaks() {}
Result<void> Device::set_heap_bytes(std::uint64_t) {
  return {};
}
void Device::empty_heap() {}
FindingsText Device::text_of(const std::vector<Finding>&) {
  return {};
}
std::string Device::unchecked_text() const {
  return "";
}
std::string Device::report_json() const {
  return R"({"device": "fake"})";
}
void Device::reset_report() {}

}  // namespace course::sim
