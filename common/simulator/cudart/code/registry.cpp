// SPDX-License-Identifier: MIT
#include "cudart/code/registry.hpp"

#include <algorithm>

#include "base/demangle.hpp"
#include "cudart/code/fatbin.hpp"
#include "cudart/runtime/runtime.hpp"

namespace course::cudart {

FatBinary* Registry::add_image(const void* image) {
  const std::lock_guard guard(lock_);
  images_.push_back(std::make_unique<FatBinary>());
  images_.back()->image = image;
  live_images_.insert(images_.back().get());
  return images_.back().get();
}

void Registry::remove_image(FatBinary* image) {
  const std::lock_guard guard(lock_);
  if (live_images_.erase(image) == 0) return;
  image->removed = true;
  // Another shared object may later use the same stub addresses.
  for (const Function* function : image->functions) {
    const auto found = function_of_host_.find(function->host);
    if (found != function_of_host_.end() && found->second == function) function_of_host_.erase(found);
    function_handles_.erase(function);
  }
  for (const Variable* variable : image->variables) {
    const auto found = variable_of_host_.find(variable->host);
    if (found != variable_of_host_.end() && found->second == variable) variable_of_host_.erase(found);
  }
}

void Registry::unload_image(FatBinary* image) {
  remove_image(image);
  for (int ordinal = 0; ordinal < runtime().n_devices(); ++ordinal) {
    Context& context = runtime().context(ordinal);
    const std::lock_guard guard(context.lock);
    for (Function* function : image->functions) function->on_device.erase(ordinal);
    const auto here = image->on_device.find(ordinal);
    if (here == image->on_device.end()) continue;
    if (here->second.module) context.device().unload_module(*here->second.module);
    image->on_device.erase(here);
  }
  image->image = nullptr;
  std::string().swap(image->owned_image);  // assigning an empty string would keep its memory
}

Function* Registry::add_function(FatBinary* owner, const void* host, std::string_view name) {
  const std::lock_guard guard(lock_);
  functions_.push_back(std::make_unique<Function>());
  Function* function = functions_.back().get();
  function->owner = owner;
  function->host = host;
  function->name = name;
  owner->functions.push_back(function);
  function_handles_.insert(function);
  if (host != nullptr) function_of_host_.insert_or_assign(host, function);
  return function;
}

Variable* Registry::add_variable(FatBinary* owner, const void* host, std::string_view name,
                                 std::uint64_t bytes, void** managed_pointer) {
  const std::lock_guard guard(lock_);
  variables_.push_back(std::make_unique<Variable>());
  Variable* variable = variables_.back().get();
  variable->owner = owner;
  variable->host = host;
  variable->name = name;
  variable->bytes = bytes;
  variable->managed_pointer = managed_pointer;
  owner->variables.push_back(variable);
  variable_of_host_.insert_or_assign(host, variable);
  return variable;
}

Function* Registry::find_function(const void* key) {
  const std::lock_guard guard(lock_);
  if (const auto found = function_of_host_.find(key); found != function_of_host_.end()) return found->second;
  if (!function_handles_.contains(key)) return nullptr;
  return static_cast<Function*>(const_cast<void*>(key));  // NOLINT: a handle that this class gave out
}

Variable* Registry::find_variable(const void* host) {
  const std::lock_guard guard(lock_);
  const auto found = variable_of_host_.find(host);
  return found != variable_of_host_.end() ? found->second : nullptr;
}

const Variable* Registry::find_shadow(const void* pointer) {
  for (const Variable* variable : variables())
    if (reinterpret_cast<std::uintptr_t>(pointer) -
            reinterpret_cast<std::uintptr_t>(variable->host) <  // NOLINT
        variable->bytes)
      return variable;
  return nullptr;
}

std::vector<const Variable*> Registry::variables() {
  const std::lock_guard guard(lock_);
  std::vector<const Variable*> all;
  for (const auto& [host, variable] : variable_of_host_)
    if (variable->managed_pointer == nullptr) all.push_back(variable);
  return all;
}

bool Registry::is_stub(const void* host) {
  const std::lock_guard guard(lock_);
  // A kernel of cudaLibraryLoadData has no stub.
  return host != nullptr &&
         std::ranges::any_of(functions_, [&](const auto& function) { return function->host == host; });
}

bool Registry::is_library(const FatBinary* image) {
  const std::lock_guard guard(lock_);
  return live_images_.contains(image);
}

void Registry::forget_device(Context& context) {
  const std::lock_guard guard(lock_);
  for (const auto& image : images_) {
    const auto here = image->on_device.find(context.ordinal);
    if (here == image->on_device.end()) continue;
    if (here->second.module) context.device().unload_module(*here->second.module);
    image->on_device.erase(here);
  }
  for (const auto& function : functions_) function->on_device.erase(context.ordinal);
}

std::string readable_name(std::string_view mangled) {
  std::string text = demangled(mangled);
  std::size_t begin = 0;
  for (std::size_t end = text.find("::"); end != std::string::npos; end = text.find("::", begin)) {
    const std::string scope = text.substr(begin, end - begin);
    if (scope.starts_with("_INTERNAL_") || scope == "(anonymous namespace)")
      text.erase(begin, end + 2 - begin);
    else
      begin = end + 2;
  }
  return text;
}

namespace {

// The PTX of a program built with -rdc=true. Its own container holds linked machine code; the PTX is in the
// containers of the linked files. Files without PTX for this chip (the toolkit's device libraries) are left
// out; a call of their functions is reported as missing.
Status read_parts(const std::vector<std::span<const std::byte>>& parts, int compute_capability,
                  std::vector<std::string>& texts) {
  Status missing;
  for (const auto part : parts) {
    const auto entries = parse_fatbin(part);
    if (!entries) return {cudaErrorInvalidKernelImage, entries.error().text};
    const auto chosen = choose_ptx(*entries, compute_capability);
    if (!chosen) {
      missing = Status(cudaErrorNoKernelImageForDevice, chosen.error().text);
      continue;
    }
    auto text = unpack(*chosen);
    if (!text) return {cudaErrorInvalidKernelImage, text.error().text};
    texts.push_back(std::move(*text));
  }
  return texts.empty() ? missing : Status(cudaSuccess);
}

// The PTX of an image for this chip, one text or those of linked parts, and what its machine code for the
// chip uses.
Status read_image(const FatBinary& image, int compute_capability, std::vector<std::string>& ptx,
                  sim::ResourceTable& compiled) {
  std::span<const std::byte> container;
  switch (kind_of_image(image.image)) {
    case CodeImage::ptx_text: ptx = {static_cast<const char*>(image.image)}; return cudaSuccess;
    case CodeImage::container: container = span_of_container(image.image); break;
    case CodeImage::wrapper: {
      const auto found = container_of_wrapper(image.image);
      if (!found) return {cudaErrorInvalidKernelImage, found.error().text};
      container = *found;
      break;
    }
    case CodeImage::unknown:
      return {cudaErrorInvalidKernelImage, "the code image is neither a fat binary nor PTX"};
  }
  const auto entries = parse_fatbin(container);
  if (!entries) return {cudaErrorInvalidKernelImage, entries.error().text};
  const auto linked = kind_of_image(image.image) == CodeImage::wrapper
                          ? linked_containers(image.image)
                          : std::vector<std::span<const std::byte>>{};
  if (linked.empty()) {
    const auto chosen = choose_ptx(*entries, compute_capability);
    if (!chosen) return {cudaErrorNoKernelImageForDevice, chosen.error().text};
    auto text = unpack(*chosen);
    if (!text) return {cudaErrorInvalidKernelImage, text.error().text};
    ptx = {std::move(*text)};
  } else if (Status status = read_parts(linked, compute_capability, ptx); !status.ok()) {
    return status;
  }

  for (const FatbinEntry& entry : *entries) {
    if (entry.kind != FatbinKind::cubin || entry.sm != compute_capability) continue;
    if (const auto elf = unpack(entry)) compiled.merge(resources_of_cubin(*elf));
  }
  return cudaSuccess;
}

// Host code accesses __managed__ variables through a pointer, which must be set before the first access.
void publish_managed_variables(sim::Device& device, const FatBinary& image, sim::ModuleId module) {
  for (const Variable* variable : image.variables) {
    if (variable->managed_pointer == nullptr) continue;
    if (const auto symbol = device.find_symbol(module, variable->name)) {
      *variable->managed_pointer =
          reinterpret_cast<void*>(symbol->address);  // NOLINT: an address of our arena
      device.host_wrote(symbol->address, symbol->size);
    }
  }
}

}  // namespace

Status load_module(Context& context, FatBinary& image, sim::ModuleId& module) {
  const std::lock_guard guard(context.lock);
  FatBinary::OnDevice& here = image.on_device[context.ordinal];
  if (here.module) {
    module = *here.module;
    return cudaSuccess;
  }
  if (!here.failure.ok()) return here.failure.code();  // explained at the first failure
  if (image.removed)
    return fail(cudaErrorInvalidResourceHandle, "the library of this kernel or variable has been unloaded");

  sim::Device& device = context.device();
  const sim::DevicePreset& chip = device.options().preset;
  std::vector<std::string> ptx;
  sim::ResourceTable compiled;
  Status status = read_image(image, chip.compute_major * 10 + chip.compute_minor, ptx, compiled);
  if (status.ok()) {
    auto loaded =
        ptx.size() == 1 ? device.load_module(ptx.front(), compiled) : device.load_linked(ptx, compiled);
    if (loaded) {
      here.module = module = *loaded;
      publish_managed_variables(device, image, module);
      return cudaSuccess;
    }
    status = Status(cudaErrorInvalidPtx, loaded.error().text);
  }
  here.failure = status;
  return status;
}

namespace {

Status find_variable(const void* symbol, const Variable*& variable) {
  variable = runtime().registry().find_variable(symbol);
  if (variable == nullptr)
    return fail(cudaErrorInvalidSymbol, "{} is no __device__ or __constant__ variable", symbol);
  return cudaSuccess;
}

Status find_variable_address(Context& context, const Variable& variable, sim::Device::Symbol& symbol) {
  const std::lock_guard guard(context.lock);
  sim::ModuleId module = 0;
  if (Status status = load_module(context, *variable.owner, module); !status.ok()) return status;
  const auto found = context.device().find_symbol(module, variable.name);
  if (!found) return {cudaErrorInvalidSymbol, found.error().text};
  symbol = *found;
  return cudaSuccess;
}

}  // namespace

Status find_kernel(Context& context, Function& function, sim::KernelId& kernel) {
  const std::lock_guard guard(context.lock);
  Function::OnDevice& here = function.on_device[context.ordinal];
  if (!here.kernel) {
    sim::ModuleId module = 0;
    if (Status status = load_module(context, *function.owner, module); !status.ok()) return status;
    auto found = context.device().find_kernel(module, function.name);
    if (!found) return {cudaErrorInvalidDeviceFunction, found.error().text};
    here.kernel = *found;
  }
  kernel = *here.kernel;
  return cudaSuccess;
}

Status find_symbol(Context& context, const void* symbol, sim::Device::Symbol& found) {
  const Variable* variable = nullptr;
  if (Status status = find_variable(symbol, variable); !status.ok()) return status;
  return find_variable_address(context, *variable, found);
}

Status find_symbol_bytes(Context& context, const void* symbol, std::size_t n_bytes, std::size_t offset,
                         std::byte*& start) {
  const Variable* variable = nullptr;
  if (Status status = find_variable(symbol, variable); !status.ok()) return status;
  sim::Device::Symbol found{};
  if (Status status = find_variable_address(context, *variable, found); !status.ok()) return status;
  if (offset > found.size || n_bytes > found.size - offset) {
    return fail(cudaErrorInvalidValue, "{} bytes at offset {} of {}, which has {} bytes", n_bytes, offset,
                variable->name, found.size);
  }
  start = reinterpret_cast<std::byte*>(found.address + offset);  // NOLINT: an address of our arena
  return cudaSuccess;
}

}  // namespace course::cudart
