// SPDX-License-Identifier: MIT
// printf in a kernel: the program runs itself with its output redirected to a file and compares it with the
// expected output.
#include <cstring>
#include <string>

#include "check.hpp"

__global__ void hello(double x, const char* word) {
  if (threadIdx.x % 2 == 0) {
    printf("block %d thread %u: %s %5.2f %c %lld %x%%\n", int(blockIdx.x), threadIdx.x, word, x, 'z',
           -5000000000ll, 255u);
  }
  if (threadIdx.x == 1) printf("no arguments\n");
}

__device__ char word[8] = "word";

int main(int, char** argv) {
  if (std::getenv("PRINTING_CHILD") != nullptr) {
    void* address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, word));
    hello<<<1, 4>>>(3.14159, static_cast<const char*>(address));
    CHECK(cudaDeviceSynchronize());
    std::puts("host");
    return 0;
  }
  const std::string command = std::string("PRINTING_CHILD=1 '") + argv[0] + "'";
  std::FILE* pipe = popen(command.c_str(), "r");
  EXPECT(pipe != nullptr);
  std::string output;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  EXPECT(pclose(pipe) == 0);
  // Lanes of one warp print in lane order, statement by statement.
  EXPECT(output.find("block 0 thread 0: word  3.14 z -5000000000 ff%\n") != std::string::npos);
  EXPECT(output.find("block 0 thread 2: word  3.14 z -5000000000 ff%\n") != std::string::npos);
  EXPECT(output.find("thread 1:") == std::string::npos && output.find("thread 3:") == std::string::npos);
  EXPECT(output.find("no arguments\n") != std::string::npos);
  EXPECT(output.size() > 5 &&
         output.compare(output.size() - 5, 5, "host\n") == 0);  // flushed by the synchronisation
  std::puts("ok");
}
