// SPDX-License-Identifier: MIT
// How the processes of a program find each other: rank and size from the variables of Open MPI's mpirun,
// MPICH's mpiexec or Slurm's srun, the unique id through a file that rank 0 writes. It works with NVIDIA's
// library, too.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>

#include "check.hpp"

struct Process {
  int rank = 0, size = 1;
  int local = 0;  // the rank among the processes of this host
};

// The first of these variables that is set.
inline int number_of(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return otherwise;
}

// Slurm's variables come last: in a batch script of Slurm, mpirun's processes also have those of the script.
inline Process this_process() {
  return {number_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}, 0),
          number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}, 1),
          number_of({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, 0)};
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
