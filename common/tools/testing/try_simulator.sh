#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The simulator without the course, in an empty Debian: builds and installs common/simulator alone, runs a faulty program
# with the installed `cusan`, and with --tests the simulator's own tests.
#   common/tools/testing/try_simulator.sh [--tests] [--suite SUITE] [--dir DIR] [--copy PATH[=THERE]]… [--env NAME[=VALUE]]…
# The toolkit is this machine's: the one of the nvcc on PATH.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/try_tree.sh"
tests=false packages=(g++ ninja-build pkg-config meson ca-certificates binutils libfmt-dev nlohmann-json3-dev libzstd-dev liblz4-dev)
while (($# > 0)); do
  case $1 in
    --tests) tests=true packages+=(libgtest-dev libgmock-dev python3) && shift ;;
    *) tree_option "$@" && shift 2 ;;
  esac
done
nvcc=$(readlink -f "$(command -v nvcc)") || { echo 'try_simulator: there is no nvcc on PATH' >&2 && exit 2; }
make_tree simulator
install_there "${packages[@]}"
git clone -q --no-hardlinks "$root" "$tree/course"
cuda=(--bind "$(dirname "$(dirname "$nvcc")")=/usr/local/cuda" --env PATH=/usr/local/cuda/bin:/usr/bin:/bin --env CUDA_HOME=/usr/local/cuda)
cat >"$tree/racy.cu" <<'EOF'
__global__ void reverse(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
  int* out = nullptr;
  cudaMalloc(&out, 256);
  reverse<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
EOF
in_tree "${cuda[@]}" --at /course bash -c "
  set -e
  meson setup build -Dsimulator_alone=true -Dtests=$tests --prefix /root/cusan --libdir lib
  ninja -C build
  meson install --quiet -C build
  [[ $tests = false ]] || meson test -C build --print-errorlogs --suite base --suite ptx --suite sim --suite cudart --suite nccl
  nvcc -gencode arch=compute_90,code=[sm_90,compute_90] -lineinfo -cudart shared /racy.cu -o /racy
  rc=0; /root/cusan/bin/cusan /racy 2>/said.txt || rc=\$?
  cat /said.txt
  [[ \$rc = 86 ]] && grep -q 'shared-race.*/racy.cu:4' /said.txt" </dev/null
rm -rf --one-file-system "$tree"
echo 'All ended as they should.'
