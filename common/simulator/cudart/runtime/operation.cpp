// SPDX-License-Identifier: MIT
#include "cudart/runtime/operation.hpp"

#include <cstring>

#include "cudart/device_properties.hpp"
#include "cudart/graph/graph.hpp"
#include "cudart/runtime/host/host_access.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/host/never_written.hpp"
#include "cudart/runtime/memory/array.hpp"
#include "cudart/runtime/stream.hpp"
#include "sim/launch_limits.hpp"
#include "sim/timing/timeline.hpp"

namespace course::cudart {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

sim::Dim3 to_sim(dim3 d) {
  return {d.x, d.y, d.z};
}

cudaError_t code_of(sim::LaunchLimit limit) {
  switch (limit) {
    case sim::LaunchLimit::configuration: return cudaErrorInvalidConfiguration;
    case sim::LaunchLimit::value: return cudaErrorInvalidValue;
    case sim::LaunchLimit::resources: return cudaErrorLaunchOutOfResources;
    case sim::LaunchLimit::cluster: return cudaErrorInvalidClusterSize;
    case sim::LaunchLimit::cooperative: return cudaErrorCooperativeLaunchTooLarge;
    case sim::LaunchLimit::endless: break;  // a GPU would begin it
  }
  return cudaSuccess;
}

// Must be called under the context's lock.
Status check_configuration(Context& context, const KernelOp& kernel, sim::KernelId id) {
  const sim::KernelFacts& facts = context.device().facts(id);
  const FunctionSettings& set = kernel.function->on_device[context.ordinal].settings;
  const sim::LaunchSettings settings{set.max_dynamic_shared, set.nonportable_cluster != 0,
                                     set.cluster_must_be_set != 0};
  sim::LaunchRequest request;
  request.grid = kernel.grid;
  request.block = kernel.block;
  request.cluster = kernel.cluster;
  request.dynamic_shared = kernel.shared;
  request.cooperative = kernel.cooperative;
  const auto refusal = sim::check_launch(context.device().options().preset, facts, request, &settings);
  if (!refusal || code_of(refusal->limit) == cudaSuccess) return cudaSuccess;
  return fail(code_of(refusal->limit), "{}: {}", facts.demangled, refusal->text);
}

Status check_kernel(Context& context, const KernelOp& kernel) {
  const std::lock_guard guard(context.lock);
  sim::KernelId id = 0;
  if (Status status = find_kernel(context, *kernel.function, id); !status.ok()) return status;
  return check_configuration(context, kernel, id).of_kernel(context.device().facts(id).demangled);
}

// In a graph, or by a launch's attribute: the event covers the current work and what is before that.
void note_record(CUevent_st& event) {
  if (const Work* work = CurrentWork::current()) event.clock = work->after;
}

// Limits that a kernel exceeds without an error of the runtime.
void check_limits(Context& context, const sim::KernelFacts& kernel, const sim::LaunchResult& result) {
  // The driver increases the stack for what it knows that a kernel needs, and does not take that back.
  std::uint64_t& stack = context.limits[cudaLimitStackSize];
  stack = std::max(stack, kernel.local_bytes);
  if (!checks_host(context)) return;
  const std::uint64_t fifo = context.limits[cudaLimitPrintfFifoSize];
  if (result.printed_bytes > fifo)
    add_host_error(
        context, "printf-overflow",
        fmt::format("a launch of {} prints {} bytes of arguments, but the buffer for them has {}: on a "
                    "GPU, the oldest output is lost. Print less, or call cudaDeviceSetLimit("
                    "cudaLimitPrintfFifoSize, bytes) before the first launch",
                    kernel.demangled, result.printed_bytes, fifo));
  if (result.recursion_bytes > stack)
    add_host_error(
        context, "stack-overflow",
        fmt::format("recursive calls of {} need about {} bytes of stack in a thread, but a stack has {}: "
                    "on a GPU, the launch fails, or overwrites memory. Call cudaDeviceSetLimit("
                    "cudaLimitStackSize, bytes) before the launch",
                    kernel.demangled, result.recursion_bytes, stack));
}

Status execute_kernel(Context& context, const KernelOp& kernel, std::string& name,
                      sim::Footprint& footprint) {
  const std::lock_guard guard(context.lock);
  sim::LaunchRequest request;
  if (Status status = find_kernel(context, *kernel.function, request.kernel); !status.ok()) return status;
  request.grid = kernel.grid;
  request.block = kernel.block;
  if (kernel.cluster.count() != 0) request.cluster = kernel.cluster;
  request.dynamic_shared = kernel.shared;
  request.parameters = kernel.arguments;
  request.cooperative = kernel.cooperative;
  request.overlaps = std::ranges::any_of(kernel.attributes, [](const cudaLaunchAttribute& attribute) {
    return attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
           attribute.val.cooperative != 0;  // the union's first member, as "allowed" is
  });
  (void)context.device().set_other_memory(memory_of_others(context));
  note_activity(Activity::launch);
  sim::LaunchResult result = context.device().launch(request);
  footprint = std::move(result.footprint);
  if (!footprint.empty()) note_launch_wrote(context, request, footprint);
  check_limits(context, context.device().facts(request.kernel), result);
  if (checks_host(context)) {
    kernel_launched(context, context.device().facts(request.kernel).demangled);
    name = fmt::format("kernel {}", context.device().facts(request.kernel).demangled);
  }
  const FaultMeaning meaning = meaning_of(result.fault);
  if (meaning.code != cudaSuccess && !meaning.sticky)
    return Status(meaning.code, result.text).of_kernel(context.device().facts(request.kernel).demangled);
  // With the checks, the report at the end has it; but host code that waits for such a kernel has no end.
  if (!runtime().environment().check && !result.text.empty())
    say(result.text);
  else if (result.fault == sim::Fault::launch_timeout)
    say_briefly(result.text);
  if (result.not_simulated) note_missing();
  if (meaning.sticky) {
    context.sticky = meaning.code;
    return cudaSuccess;
  }
  // A launch may have attributes that record an event when the kernel completes.
  for (const cudaLaunchAttribute& attribute : kernel.attributes) {
    cudaEvent_t event = nullptr;
    if (attribute.id == cudaLaunchAttributeProgrammaticEvent) event = attribute.val.programmaticEvent.event;
    if (attribute.id == cudaLaunchAttributeLaunchCompletionEvent)
      event = attribute.val.launchCompletionEvent.event;
    if (event != nullptr && events().contains(event)) {
      event->recorded = true;
      note_record(*event);
      event->stamp();
    }
  }
  return Status().of_kernel(context.device().facts(request.kernel).demangled);
}

Status execute_host(const HostOp& host) {
  // Not under any lock, because the function may wait for another thread that uses the device.
  const InsideHostFunction inside;
  note_activity(Activity::host_function);
  if (host.function != nullptr) host.function(host.data);
  if (host.callback != nullptr) host.callback(host.stream, cudaSuccess, host.data);
  // The function may have signalled to other host code that the work before it has ended.
  if (const Work* work = CurrentWork::current()) host_may_have_waited_for(work->before);
  return cudaSuccess;
}

Status execute_record(Context& context, const RecordOp& record) {
  if (!events().contains(record.event))
    return fail(cudaErrorInvalidResourceHandle, "the event has been destroyed or never existed");
  const std::lock_guard guard(context.lock);
  record.event->recorded = true;
  note_record(*record.event);
  record.event->stamp();
  return cudaSuccess;
}

Status execute_alloc(const AllocOp& alloc) {
  GraphMemory& memory = *alloc.memory;
  const std::lock_guard guard(memory.context.lock);
  if (memory.live) {
    return fail(cudaErrorInvalidValue,
                "the graph is launched again, but the memory it allocated at {} is not freed",
                memory.address);
  }
  memory.live = true;
  return cudaSuccess;
}

// All graph memory, so that cudaFree finds it by its address. Weak pointers, because the nodes own it.
struct GraphMemoryTable {
  std::mutex lock;
  std::map<const void*, std::weak_ptr<GraphMemory>> by_address;
};
GraphMemoryTable& graph_memory_table() {
  static auto& table = *new GraphMemoryTable;
  return table;
}

}  // namespace

GraphMemory::~GraphMemory() {
  const std::lock_guard guard(context.lock);
  {
    GraphMemoryTable& table = graph_memory_table();
    const std::lock_guard table_guard(table.lock);
    table.by_address.erase(address);
  }
  const auto owned =
      context.owned.find(reinterpret_cast<std::uint64_t>(address));  // NOLINT: an address of our arena
  if (owned == context.owned.end()) return;                          // the device was reset
  if (live) {
    owned->second.origin = Origin::pool;  // it outlives its graph until the user frees it
  } else {
    (void)release(context, owned->first);
  }
}

Status make_graph_memory(Context& context, std::uint64_t n_bytes, AllocOp& out) {
  void* address = nullptr;
  Owned owned;
  owned.origin = Origin::graph;
  owned.call = "cudaMallocAsync";
  if (Status status = allocate(context, n_bytes, sim::MemoryKind::device, owned, &address); !status.ok())
    return status;
  if (address == nullptr) return fail(cudaErrorInvalidValue, "an allocation of 0 bytes");
  out.memory = std::make_shared<GraphMemory>(context, address);
  GraphMemoryTable& table = graph_memory_table();
  const std::lock_guard guard(table.lock);
  table.by_address[address] = out.memory;
  return cudaSuccess;
}

bool free_graph_memory(Context& context, void* address) {
  std::shared_ptr<GraphMemory> memory;
  {
    GraphMemoryTable& table = graph_memory_table();
    const std::lock_guard guard(table.lock);
    const auto found = table.by_address.find(address);
    if (found != table.by_address.end()) memory = found->second.lock();
  }
  if (memory == nullptr || &memory->context != &context) return false;
  const std::lock_guard guard(context.lock);
  if (!memory->live) return false;
  memory->live = false;
  return true;
}

FaultMeaning meaning_of(sim::Fault fault) {
  switch (fault) {
    case sim::Fault::none: return {cudaSuccess, false};
    case sim::Fault::illegal_address: return {cudaErrorIllegalAddress, true};
    case sim::Fault::misaligned_address: return {cudaErrorMisalignedAddress, true};
    case sim::Fault::illegal_instruction: return {cudaErrorIllegalInstruction, true};
    case sim::Fault::launch_timeout: return {cudaErrorLaunchTimeout, true};
    case sim::Fault::device_assert: return {cudaErrorAssert, true};
    case sim::Fault::trap: return {cudaErrorLaunchFailure, true};
    case sim::Fault::invalid_configuration: return {cudaErrorInvalidConfiguration, false};
    case sim::Fault::out_of_resources: return {cudaErrorLaunchOutOfResources, false};
    case sim::Fault::invalid_parameter: return {cudaErrorInvalidValue, false};
  }
  return {cudaErrorUnknown, true};
}

cudaGraphNodeType node_type(const Operation& operation) {
  return std::visit(Overloaded{
                        [](const KernelOp&) { return cudaGraphNodeTypeKernel; },
                        [](const CopyOp&) { return cudaGraphNodeTypeMemcpy; },
                        [](const FillOp&) { return cudaGraphNodeTypeMemset; },
                        [](const HostOp&) { return cudaGraphNodeTypeHost; },
                        [](const EmptyOp&) { return cudaGraphNodeTypeEmpty; },
                        [](const ChildOp&) { return cudaGraphNodeTypeGraph; },
                        [](const RecordOp&) { return cudaGraphNodeTypeEventRecord; },
                        [](const WaitOp&) { return cudaGraphNodeTypeWaitEvent; },
                        [](const AllocOp&) { return cudaGraphNodeTypeMemAlloc; },
                        [](const FreeOp&) { return cudaGraphNodeTypeMemFree; },
                    },
                    operation);
}

Status make_kernel(Context& context, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::uint64_t shared, KernelOp& out) {
  out.function = runtime().registry().find_function(function);
  if (out.function == nullptr) {
    // As in CUDA 13, which takes an unknown address for a kernel handle.
    return fail(function == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle,
                "{} is not a kernel: pass a __global__ function of this program", function);
  }
  out.grid = to_sim(grid);
  out.block = to_sim(block);
  out.shared = shared;

  const std::lock_guard guard(context.lock);
  sim::KernelId id = 0;
  if (Status status = find_kernel(context, *out.function, id); !status.ok()) return status;
  const sim::KernelFacts& facts = context.device().facts(id);
  out.arguments.assign(facts.parameter_bytes, std::byte{0});
  for (std::size_t i = 0; i < facts.parameters.size(); ++i) {
    if (arguments == nullptr || arguments[i] == nullptr) {
      return fail(cudaErrorInvalidValue, "{}: argument {} of {} is missing", facts.demangled, i,
                  facts.parameters.size());
    }
    std::memcpy(out.arguments.data() + facts.parameters[i].offset, arguments[i], facts.parameters[i].size);
  }
  const FunctionSettings& settings = out.function->on_device[context.ordinal].settings;
  if (settings.cluster[0] > 0) {
    const auto size = [&](int axis) {
      return static_cast<std::uint32_t>(std::max(settings.cluster[axis], 1));
    };
    out.cluster = {size(0), size(1), size(2)};
  }
  return cudaSuccess;
}

Status apply_attributes(const cudaLaunchAttribute* attributes, unsigned n, KernelOp& kernel) {
  if (n > 0 && attributes == nullptr)
    return fail(cudaErrorInvalidValue, "{} launch attributes at a null pointer", n);
  for (unsigned i = 0; i < n; ++i) {
    const cudaLaunchAttributeValue& value = attributes[i].val;
    if (attributes[i].id == cudaLaunchAttributeCooperative) kernel.cooperative = value.cooperative != 0;
    if (attributes[i].id == cudaLaunchAttributeClusterDimension) {
      kernel.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      if (kernel.cluster.count() == 0) return fail(cudaErrorInvalidClusterSize, "a cluster without blocks");
    }
    // execute_kernel() looks at programmatic serialization and at events. The other attributes affect
    // scheduling and caching, which do not matter when everything runs in order.
    kernel.attributes.push_back(attributes[i]);
  }
  return cudaSuccess;
}

Status make_copy(const cudaMemcpy3DParms& p, CopyOp& out) {
  // If an array takes part, the extent and the array's position are in elements, otherwise in bytes.
  const cudaArray_const_t array = p.srcArray != nullptr ? p.srcArray : p.dstArray;
  std::uint64_t unit = 1;
  if (array != nullptr) {
    if (!is_array(array))
      return fail(cudaErrorInvalidValue, "that is not an array: freed, or never allocated");
    unit = array->element_bytes();
  }
  const std::uint64_t width = p.extent.width * unit;
  const auto side = [&](cudaArray_const_t a, const cudaPitchedPtr& at, const cudaPos& pos, std::byte*& start,
                        std::uint64_t& pitch, std::uint64_t& slice) -> Status {
    if (a != nullptr) {
      pitch = a->row_bytes();
      slice = a->slice_bytes();
      return array_part(a, pos, {width, p.extent.height, p.extent.depth}, start);
    }
    pitch = at.pitch;
    slice = at.pitch * at.ysize;
    start = static_cast<std::byte*>(at.ptr) + pos.x + pos.y * at.pitch + pos.z * slice;
    return cudaSuccess;
  };
  std::byte* src = nullptr;
  if (Status status = side(p.dstArray, p.dstPtr, p.dstPos, out.dst, out.dst_pitch, out.dst_slice);
      !status.ok())
    return status;
  if (Status status = side(p.srcArray, p.srcPtr, p.srcPos, src, out.src_pitch, out.src_slice); !status.ok())
    return status;
  out.src = src;
  out.width = width;
  out.height = p.extent.height;
  out.depth = p.extent.depth;
  out.kind = p.kind;
  return cudaSuccess;
}

Status make_fill(const cudaMemsetParams& p, FillOp& out) {
  out.dst = static_cast<std::byte*>(p.dst);
  out.pitch = p.pitch;
  out.value = p.value;
  out.element_bytes = p.elementSize;
  out.width = p.width;
  out.height = p.height;
  return cudaSuccess;
}

Status check(Context& context, const Operation& operation) {
  return std::visit(
      Overloaded{
          [&](const KernelOp& kernel) { return check_kernel(context, kernel); },
          [](const CopyOp& copy) { return check_copy(copy); },
          [](const FillOp& fill) { return check_fill(fill); },
          [](const HostOp& host) {
            const bool callable = host.function != nullptr || host.callback != nullptr;
            return callable ? Status() : fail(cudaErrorInvalidValue, "the host function is a null pointer");
          },
          [](const RecordOp& record) {
            return events().contains(record.event) ? Status() : Status(cudaErrorInvalidResourceHandle);
          },
          [](const WaitOp& wait) {
            return events().contains(wait.event) ? Status() : Status(cudaErrorInvalidResourceHandle);
          },
          [](const auto&) { return Status(); },
      },
      operation);
}

Status execute(Context& context, const Operation& operation) {
  return std::visit(Overloaded{
                        [&](const KernelOp& kernel) {
                          std::string name;
                          sim::Footprint footprint;
                          Status status = execute_kernel(context, kernel, name, footprint);
                          // Not under the context's lock, because locks of other contexts are taken.
                          note_wrote_to_peers(context, footprint);
                          work_accessed(context, name, false, std::move(footprint));
                          return status;
                        },
                        [&](const CopyOp& copy) {
                          // Checked again, because a graph may be launched long after it was made.
                          Status status = check_copy(copy);
                          return status.ok() ? run_copy(context, copy) : status;
                        },
                        [&](const FillOp& fill) {
                          Status status = check_fill(fill);
                          return status.ok() ? run_fill(context, fill) : status;
                        },
                        [](const HostOp& host) { return execute_host(host); },
                        [](const EmptyOp&) { return Status(); },
                        [](const ChildOp& child) { return run_graph(*child.graph, false); },
                        [&](const RecordOp& record) { return execute_record(context, record); },
                        [](const WaitOp& wait) {  // wait for what the event covers
                          if (Work* work = CurrentWork::current()) work->after.join(wait.event->clock);
                          return Status();
                        },
                        [](const AllocOp& alloc) { return execute_alloc(alloc); },
                        [&](const FreeOp& free) {
                          if (const auto place = locate(free.address))
                            pool_used(context, kFrees, place->base, place->size);
                          if (free_graph_memory(context, free.address)) return Status();
                          return release_device(free.address);
                        },
                    },
                    operation);
}

}  // namespace course::cudart
