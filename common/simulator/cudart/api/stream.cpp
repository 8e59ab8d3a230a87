// SPDX-License-Identifier: MIT
// Streams, events recorded in them, capture, and asynchronous allocation. Compiled twice, see api.hpp.
#include <algorithm>

#include "cudart/api/api.hpp"
#include "cudart/graph/graph_calls.hpp"
#include "cudart/runtime/device_part.hpp"
#include "cudart/runtime/host/host_checks.hpp"
#include "cudart/runtime/memory/pool.hpp"
#include "cudart/runtime/stream.hpp"

using namespace course::cudart;  // NOLINT: this file is only their exported face

namespace {

// Calls `body` with an existing stream.
template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body&& body, const char* call = CALLER) {
  return device_api(
      [&]() -> Status {
        CUstream_st* stream = nullptr;
        if (Status status = resolve(stream_or_default(handle), stream); !status.ok()) return status;
        return body(*stream);
      },
      call);
}

Status allocate_in(CUstream_st& stream, void** out, size_t n_bytes, CUmemPoolHandle_st* pool) {
  if (Status status = check_out(out); !status.ok()) return status;
  *out = nullptr;
  if (stream.capture != nullptr) {
    AllocOp alloc;
    if (Status status = make_graph_memory(*stream.context, n_bytes, alloc); !status.ok()) return status;
    *out = alloc.memory->address;
    return submit_to(stream, std::move(alloc));
  }
  Owned owned;
  owned.origin = Origin::pool;
  owned.call = "cudaMallocAsync";
  owned.pool = pool;
  if (Status status = allocate(*pool->context, n_bytes, course::sim::MemoryKind::device, owned, out);
      !status.ok())
    return status;
  if (checks_host(*stream.context)) {
    Work work = begin_in(stream);
    const CurrentWork doing(work);
    pool_used(*stream.context, kAllocates, address_of(*out), n_bytes);
  }
  const std::lock_guard guard(pool->context->lock);
  pool->used += n_bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  return cudaSuccess;
}

constexpr unsigned kExternal = 1;  // cudaEventRecordExternal, cudaEventWaitExternal

}  // namespace

CUDART_API TWIN(cudaStreamSynchronize)(cudaStream_t stream) {
  return with_stream(stream, [](CUstream_st& s) {
    Status status = forbid_if_captured(s, "cudaStreamSynchronize");
    if (status.ok()) status = wait_for_parts(s);
    if (status.ok()) status = s.context->synchronise();
    if (status.ok()) host_waited(s);
    return status;
  });
}

CUDART_API TWIN(cudaStreamQuery)(cudaStream_t stream) {
  return with_stream(stream, [](CUstream_st& s) {
    Status status = forbid_if_captured(s, "cudaStreamQuery");
    if (status.ok() && has_parts(s)) return Status(cudaErrorNotReady);
    if (status.ok()) status = s.context->error();
    if (status.ok() && !has_ended(s)) return Status(cudaErrorNotReady);
    if (status.ok()) host_waited(s);  // it answers that all work has ended
    return status;
  });
}

CUDART_API TWIN(cudaStreamWaitEvent)(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return device_api([&] { return wait_event(stream_or_default(stream), event, flags == kExternal); });
}

CUDART_API TWIN(cudaEventRecord)(cudaEvent_t event, cudaStream_t stream) {
  return device_api([&] { return record_event(event, stream_or_default(stream), false); });
}

CUDART_API TWIN(cudaEventRecordWithFlags)(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return device_api([&] { return record_event(event, stream_or_default(stream), flags == kExternal); });
}

CUDART_API TWIN(cudaStreamAddCallback)(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                       unsigned flags) {
  return device_api([&]() -> Status {
    if (flags != 0) return fail(cudaErrorInvalidValue, "flags must be 0");
    HostOp host;
    host.callback = callback;
    host.stream = stream;
    host.data = data;
    return submit(stream_or_default(stream), host);
  });
}

CUDART_API TWIN(cudaStreamAttachMemAsync)(cudaStream_t stream, void* pointer, size_t length, unsigned flags) {
  return with_stream(stream, [&](CUstream_st&) -> Status {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
      return cudaErrorInvalidValue;
    return check_range(pointer, length, "range");
  });
}

CUDART_API TWIN(cudaStreamGetFlags)(cudaStream_t stream, unsigned* flags) {
  return with_stream(stream, [&](CUstream_st& s) { return give(flags, s.flags); });
}

CUDART_API TWIN(cudaStreamGetPriority)(cudaStream_t stream, int* priority) {
  return with_stream(stream, [&](CUstream_st& s) { return give(priority, s.priority); });
}

CUDART_API TWIN(cudaStreamGetId)(cudaStream_t stream, unsigned long long* id) {
  return with_stream(stream, [&](CUstream_st& s) { return give(id, s.id); });
}

CUDART_API TWIN(cudaStreamGetDevice)(cudaStream_t stream, int* device) {
  return with_stream(stream, [&](CUstream_st& s) { return give(device, s.context->ordinal); });
}

CUDART_API TWIN(cudaStreamSetAttribute)(cudaStream_t stream, cudaLaunchAttributeID id,
                                        const cudaLaunchAttributeValue* value) {
  return with_stream(stream, [&](CUstream_st& s) -> Status {
    if (value == nullptr) return cudaErrorInvalidValue;
    s.attributes[id] = *value;
    if (id == cudaLaunchAttributePriority) s.priority = value->priority;
    return cudaSuccess;
  });
}

CUDART_API TWIN(cudaStreamGetAttribute)(cudaStream_t stream, cudaLaunchAttributeID id,
                                        cudaLaunchAttributeValue* value) {
  return with_stream(stream, [&](CUstream_st& s) -> Status {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto found = s.attributes.find(id);
    *value = found != s.attributes.end() ? found->second : cudaLaunchAttributeValue{};
    if (id == cudaLaunchAttributePriority) value->priority = s.priority;
    return cudaSuccess;
  });
}

CUDART_API TWIN(cudaStreamBeginCapture)(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return device_api([&] { return begin_capture(stream_or_default(stream), mode); });
}

CUDART_API TWIN(cudaStreamEndCapture)(cudaStream_t stream, cudaGraph_t* graph) {
  return device_api([&] { return end_capture(stream_or_default(stream), graph); });
}

CUDART_API TWIN(cudaStreamIsCapturing)(cudaStream_t stream, cudaStreamCaptureStatus* out) {
  return with_stream(stream, [&](CUstream_st& s) -> Status {
    if (out == nullptr) return cudaErrorInvalidValue;
    *out = cudaStreamCaptureStatusNone;
    if (s.capture != nullptr)
      *out = s.capture->invalidated() ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

CUDART_API TWIN(cudaGraphLaunch)(cudaGraphExec_t executable, cudaStream_t stream) {
  return with_stream(stream, [&](CUstream_st& s) -> Status {
    if (!executable_graphs().contains(executable)) return no_executable(executable);
    if (s.capture != nullptr) {
      std::shared_ptr<CUgraph_st> child = clone(*executable->graph);
      child->is_child = true;
      return submit_to(s, ChildOp{std::move(child)});
    }
    return submit_graph(s, *executable->graph,
                        (executable->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0);
  });
}

CUDART_API TWIN(cudaGraphUpload)(cudaGraphExec_t executable, cudaStream_t stream) {
  return with_stream(stream, [&](CUstream_st&) -> Status {
    return executable_graphs().contains(executable) ? Status() : no_executable(executable);
  });
}

CUDART_API TWIN(cudaMallocAsync)(void** out, size_t n_bytes, cudaStream_t stream) {
  return with_stream(stream,
                     [&](CUstream_st& s) { return allocate_in(s, out, n_bytes, current_pool(*s.context)); });
}

CUDART_API TWIN(cudaMallocFromPoolAsync)(void** out, size_t n_bytes, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return with_stream(stream, [&](CUstream_st& s) -> Status {
    if (!is_pool(pool)) return fail(cudaErrorInvalidValue, "that is not a memory pool");
    return allocate_in(s, out, n_bytes, pool);
  });
}

CUDART_API TWIN(cudaFreeAsync)(void* pointer, cudaStream_t stream) {
  return with_stream(stream, [&](CUstream_st& s) -> Status {
    if (pointer == nullptr) return cudaSuccess;
    return submit_to(s, FreeOp{pointer});
  });
}
