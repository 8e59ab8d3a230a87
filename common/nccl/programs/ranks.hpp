// SPDX-License-Identifier: MIT
// How the processes of a program find each other: rank and size from the variables of Slurm's srun or Open
// MPI's mpirun, the unique id through a file that rank 0 writes. It works with NVIDIA's library, too.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "check.hpp"

struct Process {
  int rank = 0, size = 1;
  int local = 0;  // the rank among the processes of this host
};

inline int number_of(const char* slurm, const char* open_mpi, int otherwise) {
  for (const char* name : {slurm, open_mpi})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return otherwise;
}

inline Process this_process() {
  return {number_of("SLURM_PROCID", "OMPI_COMM_WORLD_RANK", 0),
          number_of("SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", 1),
          number_of("SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", 0)};
}

// Rank 0 makes the id and writes it to the file; the others wait for the file. `path` must be new.
inline ncclUniqueId share_id(const Process& process, const std::string& path) {
  ncclUniqueId id;
  if (process.rank == 0) {
    NCCL(ncclGetUniqueId(&id));
    const std::string unfinished = path + ".part";
    std::ofstream(unfinished, std::ios::binary).write(id.internal, sizeof id.internal);
    EXPECT(std::rename(unfinished.c_str(), path.c_str()) == 0);
    return id;
  }
  while (!std::ifstream(path, std::ios::binary).read(id.internal, sizeof id.internal))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return id;
}
