# A machine without an NVIDIA driver: what cannot run there says why, and what to do.
. "$(dirname "$0")/expect.sh"
if [ -e /dev/nvidiactl ] || [ -e /dev/nvidia0 ]; then
  echo "skipped: this machine has a driver"
  finish
fi

run "$barracuda" run -- "$programs/vector_add.static"
expect_status 67 "static cudart"
expect_err 'cudart shared'

run env LD_PRELOAD="$library" "$programs/vector_add.static"
expect_status 67 "static cudart under bare LD_PRELOAD"
expect_err 'NVCC_APPEND_FLAGS="-cudart shared"'

run "$barracuda" run --device gpu -- "$programs/vector_add"
expect_status 67 "device=gpu without a driver"
expect_err 'driver'

run env LD_PRELOAD="$library" "$programs/vector_add"
expect_status 0 "bare LD_PRELOAD"
expect_out '^ok result'
expect_err 'BARRACUDA SUMMARY: 0 races'

run env LD_PRELOAD="$library" "$programs/histogram_race"
expect_status 66 "bare LD_PRELOAD, racy"

# A library that brings its own runtime, in a program that has none.
cat >"$folder/library.cu" <<'SOURCE'
extern "C" int allocate() {
  void* memory = nullptr;
  return cudaMalloc(&memory, 128);
}
SOURCE
"$NVCC" -shared -Xcompiler -fPIC -cudart static "$folder/library.cu" -o "$folder/libown.so"
run "$barracuda" run -- python3 -c \
  'import ctypes, sys; print("returned", ctypes.CDLL(sys.argv[1]).allocate())' "$folder/libown.so"
expect_status 67 "a library with its own copy of the CUDA runtime"
expect_out '^returned [1-9]'
expect_err 'not covered: libown.so contains its own copy of the CUDA runtime'

run "$barracuda" run -- "$programs/no_ptx"
expect_status 67 "a kernel without PTX"
expect_err 'PTX'
expect_err 'kernels 0/1 instrumented'
finish
