# Kernels of an installed library are counted apart from the program's own.
. "$(dirname "$0")/expect.sh"
nvcc=${NVCC:-nvcc}
mkdir -p "$folder/site-packages/theirs/lib" "$folder/own"
cd "$folder" || exit 1
cat >theirs.cu <<'END'
__global__ void theirs(int* at) { at[threadIdx.x] = 1; }
extern "C" void launch_theirs(int* at) { theirs<<<1, 32>>>(at); }
END
cat >ours.cu <<'END'
#include <dlfcn.h>
__global__ void ours(int* at) { at[threadIdx.x] = 2; }
int main(int, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW);
  auto* const launch = reinterpret_cast<void (*)(int*)>(dlsym(library, "launch_theirs"));
  int* at = nullptr;
  cudaMalloc(&at, 128);
  ours<<<1, 32>>>(at);
  launch(at);
  return cudaDeviceSynchronize();
}
END
"$nvcc" -cudart shared -arch=sm_90 -shared -Xcompiler -fPIC theirs.cu -o site-packages/theirs/lib/libtheirs.so &&
  "$nvcc" -cudart shared -arch=sm_90 ours.cu -o ours -ldl || fail "nvcc"
cp site-packages/theirs/lib/libtheirs.so own/

run "$barracuda" run --device cpu --strict --json installed.json -- ./ours "$PWD/site-packages/theirs/lib/libtheirs.so"
expect_status 0 "an installed library"
expect_err 'kernels 1/1 of the program, 1/1 of libraries, coverage complete$'
grep -q '"program":{"launched":1,"instrumented":1},"libraries":{"libtheirs.so":{"names":\["theirs(int\*)"\]' installed.json ||
  fail "the JSON report: $(cat installed.json)"
run "$barracuda" run --device cpu -- ./ours "$PWD/own/libtheirs.so"
expect_status 0 "a library of the program's"
expect_err 'kernels 2/2 instrumented, coverage complete$'
finish
