// SPDX-License-Identifier: MIT
// Prints the values and layouts that a program compiled with a nccl.h relies on; abi_test.py compares what it
// prints with our header and with NVIDIA's. Compiled against the header only, without the library.
#include <nccl.h>

#include <cstddef>
#include <cstdio>

#define VALUE(name) std::printf(#name " %ld\n", static_cast<long>(name))

int main() {
  VALUE(ncclSuccess), VALUE(ncclUnhandledCudaError), VALUE(ncclSystemError), VALUE(ncclInternalError);
  VALUE(ncclInvalidArgument), VALUE(ncclInvalidUsage), VALUE(ncclRemoteError), VALUE(ncclInProgress);
  VALUE(ncclSum), VALUE(ncclProd), VALUE(ncclMax), VALUE(ncclMin), VALUE(ncclAvg), VALUE(ncclNumOps);
  VALUE(ncclMaxRedOp);
  VALUE(ncclInt8), VALUE(ncclChar), VALUE(ncclUint8), VALUE(ncclInt32), VALUE(ncclInt), VALUE(ncclUint32);
  VALUE(ncclInt64), VALUE(ncclUint64), VALUE(ncclFloat16), VALUE(ncclHalf), VALUE(ncclFloat32);
  VALUE(ncclFloat), VALUE(ncclFloat64), VALUE(ncclDouble), VALUE(ncclBfloat16), VALUE(ncclFloat8e4m3);
  VALUE(ncclFloat8e5m2), VALUE(ncclNumTypes);
  VALUE(NCCL_UNIQUE_ID_BYTES), VALUE(NCCL_CONFIG_UNDEF_INT);
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;  // not every version names its magic number
  VALUE(config.magic);
  VALUE(sizeof(ncclUniqueId)), VALUE(sizeof(ncclResult_t)), VALUE(sizeof(ncclRedOp_t));
  VALUE(sizeof(ncclDataType_t)), VALUE(sizeof(ncclComm_t));
  VALUE(offsetof(ncclConfig_t, size)), VALUE(offsetof(ncclConfig_t, magic));
  VALUE(offsetof(ncclConfig_t, version)), VALUE(offsetof(ncclConfig_t, blocking));
  VALUE(offsetof(ncclConfig_t, maxCTAs)), VALUE(offsetof(ncclConfig_t, netName));
  VALUE(offsetof(ncclConfig_t, splitShare));
}
