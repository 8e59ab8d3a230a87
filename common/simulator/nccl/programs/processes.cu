// SPDX-License-Identifier: MIT
// One rank of a communicator of several processes (ranks.hpp), right and wrong; one case an argument.
// processes_test.py starts the processes and says what they must print.
// usage: processes CASE ID_FILE
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "ranks.hpp"

namespace {

constexpr std::size_t kN = 1024;

__global__ void fill(float* out, float value, std::size_t n) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

struct Rank {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float *a = nullptr, *b = nullptr;
};
Process g_process;
std::string g_id_file;
Rank g_rank;  // the only one of this process, except in several_ranks_each

void print(const char* what, ncclResult_t result) {
  std::printf("%s: %s\n", what, ncclGetErrorString(result));
}

void set_up(Rank& rank, int device) {
  CUDA(cudaSetDevice(device));
  CUDA(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking));
  CUDA(cudaMalloc(&rank.a, kN * sizeof(float)));
  CUDA(cudaMalloc(&rank.b, kN * sizeof(float)));
  CUDA(cudaMemset(rank.a, 0, kN * sizeof(float)));
  CUDA(cudaMemset(rank.b, 0, kN * sizeof(float)));
  CUDA(cudaDeviceSynchronize());
}

// The device of this process, as programs for several processes choose it.
void choose_device() {
  int n_devices = 0;
  CUDA(cudaGetDeviceCount(&n_devices));
  set_up(g_rank, g_process.local % n_devices);
}

void join() {
  choose_device();
  const ncclUniqueId id = share_id(g_process, g_id_file);
  NCCL(ncclCommInitRank(&g_rank.comm, g_process.size, id, g_process.rank));
}

void leave(Rank& rank) {
  NCCL(ncclCommDestroy(rank.comm));
  CUDA(cudaFree(rank.a));
  CUDA(cudaFree(rank.b));
  CUDA(cudaStreamDestroy(rank.stream));
}

ncclResult_t all_reduce(std::size_t count = kN, ncclDataType_t type = ncclFloat) {
  return ncclAllReduce(g_rank.a, g_rank.b, count, type, ncclSum, g_rank.comm, g_rank.stream);
}
ncclResult_t broadcast(int root = 0) {
  return ncclBroadcast(g_rank.a, g_rank.b, kN, ncclFloat, root, g_rank.comm, g_rank.stream);
}
ncclResult_t send(int to, std::size_t count = kN) {
  return ncclSend(g_rank.a, count, ncclFloat, to, g_rank.comm, g_rank.stream);
}
ncclResult_t receive(int from, std::size_t count = kN) {
  return ncclRecv(g_rank.b, count, ncclFloat, from, g_rank.comm, g_rank.stream);
}

void synchronise() {
  std::printf("stream: %s\n", cudaGetErrorName(cudaStreamSynchronize(g_rank.stream)));
  ncclResult_t later = ncclSuccess;
  NCCL(ncclCommGetAsyncError(g_rank.comm, &later));
  print("later", later);
}

// A rank that does not call. It sleeps until its process is ended.
void sleep_for_ever() {
  while (true) pause();
}

void work_for(int seconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::seconds(seconds)) continue;
}

// A case in which this process joins, calls, and then waits for its stream.
std::function<void()> joined(const std::function<void()>& call) {
  return [=] {
    join();
    call();
    synchronise();
  };
}

float first_of(const Rank& rank) {
  float value = 0;
  CUDA(cudaMemcpyAsync(&value, rank.b, sizeof value, cudaMemcpyDeviceToHost, rank.stream));
  CUDA(cudaStreamSynchronize(rank.stream));
  return value;
}

const std::map<std::string, std::function<void()>> kCases{
    // --- right
    {"right",
     [] {
       join();
       fill<<<kN / 256, 256, 0, g_rank.stream>>>(g_rank.a, static_cast<float>(g_process.rank + 1), kN);
       NCCL(all_reduce());
       fill<<<kN / 256, 256, 0, g_rank.stream>>>(g_rank.a, 0, kN);
       std::printf("sum %g\n", first_of(g_rank));
       leave(g_rank);
     }},
    {"times",
     [] {
       join();
       for (const std::size_t n : {std::size_t{4}, std::size_t{64} << 20}) {
         float *big = nullptr, ms = 0;
         cudaEvent_t start, stop;
         CUDA(cudaMalloc(&big, n));
         CUDA(cudaEventCreate(&start));
         CUDA(cudaEventCreate(&stop));
         CUDA(cudaEventRecord(start, g_rank.stream));
         NCCL(ncclAllReduce(big, big, n / 4, ncclFloat, ncclSum, g_rank.comm, g_rank.stream));
         CUDA(cudaEventRecord(stop, g_rank.stream));
         CUDA(cudaEventSynchronize(stop));
         CUDA(cudaEventElapsedTime(&ms, start, stop));
         std::printf("%zu bytes: %.0f us\n", n, static_cast<double>(ms) * 1000);
         CUDA(cudaFree(big));
       }
       leave(g_rank);
     }},
    // Each process has two ranks, which it calls in groups; the ranks of both processes alternate.
    {"several_ranks_each",
     [] {
       constexpr int kEach = 2;
       Rank ranks[kEach];
       const int n = kEach * g_process.size;
       const auto number = [](int i) { return i * g_process.size + g_process.rank; };
       const ncclUniqueId id = share_id(g_process, g_id_file);
       NCCL(ncclGroupStart());
       for (int i = 0; i < kEach; ++i) {
         set_up(ranks[i], i);
         NCCL(ncclCommInitRank(&ranks[i].comm, n, id, number(i)));
       }
       NCCL(ncclGroupEnd());
       const auto all = [&](auto call) {
         NCCL(ncclGroupStart());
         for (int i = 0; i < kEach; ++i) call(ranks[i], number(i));
         NCCL(ncclGroupEnd());
       };
       for (int i = 0; i < kEach; ++i) {
         CUDA(cudaSetDevice(i));
         fill<<<kN / 256, 256, 0, ranks[i].stream>>>(ranks[i].a, static_cast<float>(number(i) + 1), kN);
       }
       all([](const Rank& r, int) {
         NCCL(ncclAllReduce(r.a, r.b, kN, ncclFloat, ncclSum, r.comm, r.stream));
       });
       for (const Rank& rank : ranks) std::printf("sum %g\n", first_of(rank));
       all([&](const Rank& r, int rank) {
         NCCL(ncclSend(r.a, kN, ncclFloat, (rank + 1) % n, r.comm, r.stream));
         NCCL(ncclRecv(r.b, kN, ncclFloat, (rank + n - 1) % n, r.comm, r.stream));
       });
       for (const Rank& rank : ranks) std::printf("from the left %g\n", first_of(rank));
       for (Rank& rank : ranks) leave(rank);
     }},
    // Two communicators, whose ids come from different processes.
    {"two_communicators",
     [] {
       join();
       Process other = g_process;
       other.rank = g_process.size - 1 - g_process.rank;
       const ncclUniqueId id = share_id(other, g_id_file + ".other");
       ncclComm_t reversed = nullptr;
       NCCL(ncclCommInitRank(&reversed, other.size, id, other.rank));
       fill<<<kN / 256, 256, 0, g_rank.stream>>>(g_rank.a, static_cast<float>(g_process.rank), kN);
       NCCL(broadcast(0));
       std::printf("from rank 0: %g\n", first_of(g_rank));
       NCCL(ncclBroadcast(g_rank.a, g_rank.b, kN, ncclFloat, 0, reversed, g_rank.stream));
       std::printf("from the last rank: %g\n", first_of(g_rank));
       NCCL(ncclCommDestroy(reversed));
       leave(g_rank);
     }},
    {"slow_rank",
     [] {
       join();
       if (g_process.rank == 1) work_for(3);
       NCCL(all_reduce());
       synchronise();
       leave(g_rank);
     }},
    {"busy", [] { work_for(100); }},
    {"slow_start",
     [] {
       if (g_process.rank == 1) work_for(6);
       join();
       leave(g_rank);
     }},
    // The process that made the id has nothing more to do, but the others have.
    {"first_rank_leaves_first",
     [] {
       join();
       NCCL(all_reduce());
       synchronise();
       if (g_process.rank > 0) {
         usleep(300'000);
         NCCL(g_process.rank == 1 ? send(2) : receive(1));
         synchronise();
       }
       leave(g_rank);
     }},
    {"never_destroyed", joined([] { NCCL(all_reduce()); })},
    {"does_not_block",
     [] {
       choose_device();
       const ncclUniqueId id = share_id(g_process, g_id_file);
       ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
       config.blocking = 0;
       ncclResult_t state = ncclCommInitRankConfig(&g_rank.comm, g_process.size, id, g_process.rank, &config);
       while (state == ncclInProgress) NCCL(ncclCommGetAsyncError(g_rank.comm, &state));
       print("state", state);
       NCCL(all_reduce());
       while (cudaStreamQuery(g_rank.stream) == cudaErrorNotReady) continue;
       synchronise();
       leave(g_rank);
     }},
    // --- ranks that do not agree
    {"other_count", joined([] { (void)all_reduce(g_process.rank == 1 ? 20 : 10); })},
    // --- calls that do not come
    {"missing_rank", joined([] {
       if (g_process.rank == 1) sleep_for_ever();
       (void)all_reduce();
     })},
    {"missing_rank_polled",
     [] {
       join();
       if (g_process.rank == 0) sleep_for_ever();
       (void)all_reduce();
       ncclResult_t error = ncclSuccess;
       while (error == ncclSuccess) NCCL(ncclCommGetAsyncError(g_rank.comm, &error));
       print("later", error);
     }},
    {"both_send_first", joined([] {
       (void)send(1 - g_process.rank);
       (void)receive(1 - g_process.rank);
     })},
    {"refused", joined([] {
       print("call", all_reduce(g_process.rank == 1 ? kN + 1 : kN));
       if (g_process.rank == 1) sleep_for_ever();
     })},
    {"does_not_join",
     [] {
       if (g_process.rank == 1) sleep_for_ever();
       choose_device();
       const ncclUniqueId id = share_id(g_process, g_id_file);
       print("join", ncclCommInitRank(&g_rank.comm, g_process.size, id, g_process.rank));
     }},
    // --- processes that end
    {"killed",
     [] {
       join();
       NCCL(all_reduce());
       synchronise();
       if (g_process.rank == 1) {
         usleep(200'000);
         (void)kill(getpid(), SIGKILL);
       }
       (void)all_reduce();
       synchronise();
       print("again", all_reduce());
     }},
    {"first_killed",
     [] {
       join();
       if (g_process.rank == 0) {
         usleep(200'000);
         (void)kill(getpid(), SIGKILL);
       }
       (void)all_reduce();
       synchronise();
       print("again", all_reduce());
     }},
    {"killed_before_joining",
     [] {
       if (g_process.rank == 1) (void)kill(getpid(), SIGKILL);
       choose_device();
       const ncclUniqueId id = share_id(g_process, g_id_file);
       print("join", ncclCommInitRank(&g_rank.comm, g_process.size, id, g_process.rank));
     }},
    {"ends_early",
     [] {
       join();
       if (g_process.rank == 1) return;
       (void)all_reduce();
       synchronise();
     }},
    {"abort",
     [] {
       join();
       if (g_process.rank == 0) {
         usleep(200'000);
         print("abort", ncclCommAbort(g_rank.comm));
         return;
       }
       (void)all_reduce();
       synchronise();
       print("abort", ncclCommAbort(g_rank.comm));
     }},
    // --- arguments
    {"same_device",
     [] {
       set_up(g_rank, 0);
       const ncclUniqueId id = share_id(g_process, g_id_file);
       print("join", ncclCommInitRank(&g_rank.comm, g_process.size, id, g_process.rank));
     }},
    {"other_size",
     [] {
       choose_device();
       const ncclUniqueId id = share_id(g_process, g_id_file);
       if (g_process.rank == 1) usleep(200'000);
       print("join", ncclCommInitRank(&g_rank.comm, g_process.size + g_process.rank, id, g_process.rank));
     }},
    {"id_of_an_ended_process",
     [] {
       Process later;
       later.rank = 1;
       (void)share_id(g_process, g_id_file);
       if (g_process.rank == 0) return;
       usleep(300'000);
       choose_device();
       print("join", ncclCommInitRank(&g_rank.comm, 2, share_id(later, g_id_file), 1));
     }},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    for (const auto& [name, run] : kCases) std::printf("%s\n", name.c_str());
    return 0;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  g_process = this_process();
  g_id_file = argv[2];
  kCases.at(argv[1])();
  return 0;
}
