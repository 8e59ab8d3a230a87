/* SPDX-License-Identifier: MIT
 * What the simulator's libcudart exports for libnccl.so.2 (common/simulator/nccl): operations in which
 * several devices take part. Each device's share of an operation is a part. A part is entered into a stream
 * when the rank calls NCCL. It is executed when all ranks of the operation have arrived, by the thread of the
 * last one, or by one that receives messages of another process. Until then work that is submitted to the
 * stream waits, and so does the host when it synchronises.
 * Plain C. Thread-safe. Functions that return int return a cudaError_t, 0 for success. */
#ifndef COURSE_SIM_PARTS_H
#define COURSE_SIM_PARTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SimPart SimPart;

/* Memory that a part reads or writes. */
struct SimRange {
  const void* start;
  size_t n_bytes;
  int writes;
};

struct SimPartWork {
  SimPart* part;
  const struct SimRange* ranges;
  size_t n_ranges;
  unsigned long long after_parts; /* bit i: it ends after the work before part i, one of the first 64 */
  unsigned long long n_messages, bytes_sent;
};

/* Called when the host, or later work of the stream, needs the end of part `id`. block != 0: returns 1 when
 * the part has ended. block == 0: returns at once whether it has ended. No lock is held. */
typedef int (*SimWait)(void* user, unsigned long long id, int block);

/* Checks that the stream (0: the default stream of `device`) belongs to the device, which must have no error,
 * and is not captured, and waits for its earlier parts. After an error `why` holds one sentence. */
int simPrepareStream(void* stream, int device, char* why, size_t capacity);
/* Enters a part, which `what` names in messages. The pointer is valid until the part has ended. */
SimPart* simEnterPart(void* stream, int device, const char* what, SimWait wait, void* user,
                      unsigned long long id);
/* The modelled time, in microseconds, at which the device of a part is ready for it. */
double simPartReady(SimPart* part);
/* Executes an operation: calls move(user), which moves the data, and ends its parts. In modelled time, all
 * parts begin at `start`, or later if a device is not ready, and take `us` microseconds. */
void simRunParts(const struct SimPartWork* work, size_t n_parts, double start, double us,
                 void (*move)(void* user), void* user);
/* Ends a part that will never be executed. fault != 0: as if its kernel had hung, so that the device's later
 * calls return cudaErrorLaunchTimeout. */
void simFailPart(SimPart* part, int fault);
/* Checks that kernels of `device` may access these bytes. After an error `why` holds one sentence. */
int simCheckMemory(const void* start, size_t n_bytes, int device, char* why, size_t capacity);
/* Copies bytes that simCheckMemory has accepted. Only calls of libcudart may access memory of the device. */
void simReadMemory(void* to, const void* from, size_t n_bytes);
/* Adds the message to the device's findings and prints it on stderr; without `prints` only with SIM_CHECK=1.
 * `code` and `other_code`, which may be 0, are addresses of the host's instructions that caused it. */
void simReportFault(int device, const char* kind, const char* message, const void* code,
                    const void* other_code, int prints);
/* Writes the source line of a host instruction, "program.cu:31", or "" if it is not known. */
void simPlaceOfCode(const void* code, char* text, size_t capacity);
/* The name of the simulated chip. */
const char* simChipName(void);

/* One rank's part of an operation whose data another process moves. The numbers are those of nccl/operation/call.hpp
 * and nccl.h. */
struct SimOperand {
  unsigned kind, type, reduction;
  int rank, n_ranks, peer, device;
  unsigned reserved;
  unsigned long long send, receive, count;
};
/* Only the libcudart of a process whose devices are in another process (common/harness/remote) has this function: it
 * asks that process to move the data. */
void simOperate(const struct SimOperand* operands, size_t n);

#ifdef __cplusplus
}
#endif
#endif
