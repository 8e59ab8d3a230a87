// SPDX-License-Identifier: MIT
// For shortcuts_test.cpp: a kernel that executes a script, so that a test can generate any accesses. In step
// k, what[k] is the operation and at[k * n_threads + thread] is the word that each thread accesses; kNone: no
// access.

inline constexpr unsigned kNone = ~0u;
inline constexpr int kSharedWords = 256;

extern "C" __global__ void script(const unsigned* what, const unsigned* at, unsigned* memory, unsigned* sink,
                                  int n_steps) {
  __shared__ __align__(128) unsigned s_memory[kSharedWords];
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, n_threads = gridDim.x * blockDim.x;
  unsigned seen = 0;
  for (int k = 0; k < n_steps; ++k) {
    const unsigned todo = what[k], word = at[k * n_threads + thread];
    if (todo == 0) __syncthreads();
    if (todo == 1) __syncwarp();
    if (todo == 2) __threadfence();
    if (word == kNone) continue;
    volatile unsigned* const v_memory = memory;
    switch (todo) {
      case 3: seen += s_memory[word]; break;
      case 4: s_memory[word] = thread; break;
      case 5: seen += memory[word]; break;
      case 6: memory[word] = thread; break;
      case 7: {
        const uint2 pair = reinterpret_cast<const uint2*>(memory)[word / 2];
        seen += pair.x ^ pair.y;
        break;
      }
      case 8: reinterpret_cast<uint2*>(memory)[word / 2] = make_uint2(thread, seen); break;
      case 9: {
        const uint4 four = reinterpret_cast<const uint4*>(memory)[word / 4];
        seen += four.x ^ four.y ^ four.z ^ four.w;
        break;
      }
      case 10: reinterpret_cast<uint4*>(memory)[word / 4] = make_uint4(thread, seen, k, 0); break;
      case 11: {
        const uint2 pair = reinterpret_cast<const uint2*>(s_memory)[word / 2];
        seen += pair.x ^ pair.y;
        break;
      }
      case 12: reinterpret_cast<uint4*>(s_memory)[word / 4] = make_uint4(thread, seen, k, 0); break;
      case 13: seen += atomicAdd(&s_memory[word], 1); break;
      case 14: seen += atomicAdd(&memory[word], 1); break;
      case 15: seen += reinterpret_cast<const unsigned char*>(s_memory)[word]; break;
      case 16: reinterpret_cast<unsigned char*>(memory)[word] = static_cast<unsigned char>(k); break;
      case 17: seen += v_memory[word]; break;
      case 18: v_memory[word] = thread; break;
      case 19: seen += *((thread & 1) != 0 ? &s_memory[word] : &memory[word]); break;
      default: break;
    }
  }
  sink[thread] = seen;
}
