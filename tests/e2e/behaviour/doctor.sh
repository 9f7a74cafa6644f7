# What `barracuda doctor` says of this machine and of programs with PTX, without PTX, without source lines, with the
# static runtime, and of none; nothing of the program is run.
. "$(dirname "$0")/expect.sh"
export XDG_CACHE_HOME=$folder/cache
export BARRACUDA_OPTIONS=device=cpu

run "$barracuda" doctor
expect_status 0 "the machine alone"
expect_out '^This machine$'
expect_out 'emulated device'
expect_out "the library is beside the command: $library"
expect_out '^BARRACUDA DOCTOR: nothing is in the way$'

run "$barracuda" doctor -- "$programs/shared_sum_race" --no-option-of-ours
expect_status 0 "a program with PTX and lines"
expect_out 'carry PTX, for compute_'
expect_out '1 kernel, with source lines'
expect_out 'block_sum\(int const\*, int\*\): .*bytes of shared memory'
expect_out 'the CUDA runtime is shared: libcudart.so'

run "$barracuda" doctor -- "$programs/no_ptx"
expect_status 67 "a program without PTX"
expect_out 'OBSTACLE .*have no PTX, only machine code for sm_90'
expect_out 'cure: compile with PTX'
expect_out '^BARRACUDA DOCTOR: 1 obstacle$'

run "$barracuda" doctor -- "$programs/shared_sum_race.static"
expect_status 67 "the static runtime without a driver"
expect_out 'cudart shared'

cat >"$folder/plain.cu" <<'CUDA'
__global__ void fill(int* cells) { cells[threadIdx.x] = 1; }
int main() {
  fill<<<1, 1>>>(nullptr);
  return 0;
}
CUDA
"${NVCC:-nvcc}" -cudart shared "$folder/plain.cu" -o "$folder/plain"
run "$barracuda" doctor -- "$folder/plain"
expect_status 0 "a program without lines"
expect_out 'note .*1 of 1 kernel have no source lines'
expect_out 'fill\(int\*\)'
expect_out 'nvcc -lineinfo'

# A library of the program's own without PTX.
cat >"$folder/part.cu" <<'CUDA'
__global__ void part(int* cells) { cells[threadIdx.x] = 1; }
extern "C" void run_part() { part<<<1, 1>>>(nullptr); }
CUDA
echo 'extern "C" void run_part(); int main() { run_part(); }' >"$folder/main.cpp"
"${NVCC:-nvcc}" -shared -Xcompiler -fPIC -cudart shared -gencode arch=compute_90,code=sm_90 "$folder/part.cu" \
  -o "$folder/libpart.so"
"${CXX:-c++}" "$folder/main.cpp" -o "$folder/uses_part" -L"$folder" -lpart -Wl,-rpath,"$folder" \
  -Wl,--allow-shlib-undefined
run "$barracuda" doctor -- "$folder/uses_part"
expect_status 67 "a library without PTX"
expect_out "^Its library $folder/libpart.so$"
expect_out 'OBSTACLE'
# It has no soname: who is linked with its path asks for it by that.
"${CXX:-c++}" "$folder/main.cpp" "$folder/libpart.so" -o "$folder/by_path" -Wl,--allow-shlib-undefined
run "$barracuda" doctor -- "$folder/by_path"
expect_status 67 "a library that is needed by its path"
expect_out "^Its library $folder/libpart.so$"
expect_out 'have no PTX'
rm "$folder/libpart.so"
run "$barracuda" doctor -- "$folder/uses_part"
expect_status 67 "a library that is not there"
expect_out 'libpart.so is not found'
expect_out 'LD_LIBRARY_PATH'
run "$barracuda" doctor -- "$folder/by_path"
expect_status 67 "a path where no library is"
expect_out "$folder/libpart.so is not found"
expect_out 'put it there'

# One that others have made, by its name, with a CUDA runtime of its own.
"${NVCC:-nvcc}" -shared -Xcompiler -fPIC -cudart static -arch=sm_90 -Xlinker -soname=libcublas.so.99 \
  "$folder/part.cu" -o "$folder/libcublas.so.99"
"${CXX:-c++}" "$folder/main.cpp" "$folder/libcublas.so.99" -o "$folder/uses_blas" -Wl,-rpath,"$folder" \
  -Wl,--allow-shlib-undefined
run "$barracuda" doctor -- "$folder/uses_blas"
expect_status 67 "a static runtime in a library of others"
expect_out 'OBSTACLE +libcublas.so.99 contains a CUDA runtime of its own'

# One whose runtime is all that it has of CUDA, and a program of that kind.
echo '#include <cuda_runtime.h>
int part() { return cudaFree(nullptr); }
#ifdef PROGRAM
int main() { return part(); }
#endif' >"$folder/host.cpp"
"${NVCC:-nvcc}" -shared -Xcompiler -fPIC -cudart static "$folder/host.cpp" -o "$folder/libpart.so"
"${NVCC:-nvcc}" -cudart static -D PROGRAM "$folder/host.cpp" -o "$folder/host"
run "$barracuda" doctor -- "$folder/uses_part"
expect_status 67 "a static runtime in a library without device code"
expect_out 'OBSTACLE +it contains a CUDA runtime of its own'
run "$barracuda" doctor -- "$folder/host"
expect_status 67 "a static runtime in a program without device code"
expect_out 'OBSTACLE .*is linked with the static CUDA runtime'

run "$barracuda" doctor -- sh -c 'echo this is not run'
expect_status 0 "a program without device code"
grep -q '^this is not run' "$folder/out" && fail "the program was run"

run "$barracuda" doctor -- "$folder/none"
expect_status 127 "no such program"
run "$barracuda" doctor -- "$folder/plain.cu"
expect_status 126 "a file that may not be executed"
run "$barracuda" doctor --no-option
expect_status 64 "no such option"
TMPDIR=/nowhere run "$barracuda" doctor
expect_out 'TMPDIR=/nowhere will'

run "$barracuda" run -- true
expect_err 'no kernel was launched \(what is in the way: barracuda doctor -- ./app\)'
finish
