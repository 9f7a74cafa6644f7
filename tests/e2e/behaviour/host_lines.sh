# Lines of host code: of the program's own call, whatever the host compiler inlined around it, with
# libdw.so.1 and without.
. "$(dirname "$0")/expect.sh"
nvcc=${NVCC:-nvcc}

cat >"$folder/host.cu" <<'CUDA'
#include <cuda_runtime.h>

__global__ void write(int* cells, int value) {
  cells[threadIdx.x / 32] = value + threadIdx.x;
}

template <typename T>
__global__ void write_any(T* cells) {
  cells[threadIdx.x / 32] = T(threadIdx.x);
}

volatile int launched = 0;

void launch(int* cells) {
  write_any<int><<<1, 64>>>(cells);  // LAUNCH
  launched = 1;  // else its frame is gone when the kernel is launched
}

int* make() {
  int* cells = nullptr;
  cudaMalloc(&cells, 64);  // ALLOCATED
  launched = 1;
  return cells;
}

int main() {
  int* cells = make();  // MAKE
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  write<<<1, 64>>>(cells, 1);  // MAIN
  cudaDeviceSynchronize();
  launch(cells + 4);
  cudaDeviceSynchronize();
  write<<<1, 32>>>(cells + 8, 1);
  cudaMemsetAsync(cells + 8, 0, 4, stream);  // MEMSET
  return cudaDeviceSynchronize() != cudaSuccess;
}
CUDA
"$nvcc" -std=c++17 -O2 -g -lineinfo -cudart shared "$folder/host.cu" -o "$folder/host" >"$folder/out" 2>"$folder/err" || fail "nvcc"
line_of() { grep -n "// $1" "$folder/host.cu" | cut -d: -f1; }
expect_lines() {
  expect_err "Location: byte .* \\(cudaMalloc from make\\(\\) at [^ ]*host\\.cu:$(line_of ALLOCATED), called from main\\(\\) at [^ ]*host\\.cu:$(line_of MAKE)\\)"
  expect_err "write\(int\*, int\), launch 1 on stream 0, launched from main\(\) at .*host\.cu:$(line_of MAIN)$"
  expect_err "write_any.*, launched from launch\(int\*\) at .*host\.cu:$(line_of LAUNCH)$"
  expect_err "#0 main\(\) at .*host\.cu:$(line_of MEMSET)$"
}

# A library that cannot be loaded hides the one that can.
mkdir "$folder/none"
: >"$folder/none/libdw.so.1"
hidden=$folder/none${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

run env LD_LIBRARY_PATH="$hidden" "$barracuda" run --device cpu --json "$folder/hidden.json" -- "$folder/host"
expect_status 66 "without libdw"
expect_lines
expect_no_err 'libdw'
prints() { sed -n 's/.*"fingerprint":"\([0-9a-f]*\)".*/\1/p' "$1" | sort; }
without=$(prints "$folder/hidden.json")

run "$barracuda" run --device cpu --json "$folder/shown.json" -- "$folder/host"
expect_status 66 "with libdw where it is installed"
expect_lines
[ "$(prints "$folder/shown.json")" = "$without" ] || fail "other fingerprints than without libdw"

# Under a bare LD_PRELOAD nobody has it linked in: then the report says what is missing.
run env LD_LIBRARY_PATH="$hidden" LD_PRELOAD="$library" BARRACUDA_OPTIONS=device=cpu "$folder/host"
expect_status 66 "bare, without libdw"
expect_err 'launched from .* \(host\+0x[0-9a-f]+\)$'
expect_err 'BARRACUDA: lines of host code need libdw\.so\.1 here \(Debian and Ubuntu: libdw1, .*\), or barracuda run'
finish
