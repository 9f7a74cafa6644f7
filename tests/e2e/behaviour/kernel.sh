# One kernel without a host program: results, findings, and what is said of arguments that do not fit.
. "$(dirname "$0")/expect.sh"
cat >"$folder/sum.cu" <<'CUDA'
__global__ void sum(const int* in, int* out, int n, float scale) {
  __shared__ int s[64];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
#ifdef FIXED
  __syncthreads();
#endif
  if (t < 1) out[blockIdx.x] = (s[t] + s[t + 32]) * scale;
}
__global__ void other(int* out) { out[threadIdx.x] = threadIdx.x; }
CUDA
sed 's/#ifdef FIXED/#if 1/' "$folder/sum.cu" >"$folder/fixed.cu"
kernel() { run "$barracuda" kernel --device cpu "$@"; }
sum_arguments=(--kernel sum --grid 4 --block 64 --arg 's32[256]=1,2' --arg 's32[4]:print' --arg s32=256
               --arg f32=1.5)

kernel "$folder/fixed.cu" "${sum_arguments[@]}" --arg-is-not-an-option
expect_status 64 "unknown option"
run "$barracuda" kernel "$folder/no_such.ptx"
expect_status 64 "a file that is not there"
expect_err "^barracuda: $folder/no_such\.ptx: cannot open: No such file or directory"

kernel "$folder/fixed.cu" "${sum_arguments[@]}"
expect_status 0 "no race"
expect_out '^argument 1$'
expect_out '^0: 3 3 3 3$'
expect_err 'BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete'

kernel "$folder/sum.cu" "${sum_arguments[@]}"
expect_status 66 "the barrier is missing"
expect_err 'sum.cu:4$'
expect_err 'sum.cu:8$'

kernel "$folder/sum.cu" --kernel other --block 3 --arg "u8[12]:save=$folder/saved"
expect_status 0 "another kernel of the file"
[ "$(od -An -tu4 "$folder/saved" | tr -s ' ')" = ' 0 1 2' ] || fail "the saved bytes are not 0 1 2"

kernel "$folder/sum.cu" --kernel other --block 3 --arg "@$folder/saved:print"
expect_status 0 "a buffer from a file"
expect_out '^0: 0x00 0x00 0x00 0x00 0x01'

kernel "$folder/sum.cu" --arg u64=0
expect_status 64 "no kernel chosen"
expect_err '--kernel.*sum.*other'

kernel "$folder/sum.cu" --kernel other
expect_status 64 "an argument is missing"
expect_err 'parameters of other: 1; .* given: 0'

kernel "$folder/sum.cu" --kernel other --arg u32=0
expect_status 64 "a parameter of another size"
expect_err 'parameter 0 has 8 bytes, this has 4'

cat >"$folder/multimem.ptx" <<'PTX'
.version 8.3
.target sm_90
.address_size 64
.visible .entry sums()
{
  .reg .b64 %d;
  .reg .b32 %r;
  mov.u64 %d, 0;
  mov.u32 %r, 1;
  multimem.red.relaxed.sys.global.add.u32 [%d], %r;
  ret;
}
PTX
kernel "$folder/multimem.ptx"
expect_status 67 "an instruction that the emulated device does not have"
expect_err 'a kernel cannot run on the emulated device: .*multimem.red'
expect_err 'BARRACUDA SUMMARY: '

cat >"$folder/structure.cu" <<'CUDA'
struct Work {
  int count;
  float* values;
  short weights[3];
};
__device__ __noinline__ static float weighted(Work work, int i) { return work.values[i % 2] * work.weights[i % 3]; }
__global__ void apply(Work work, float* out) {
  if (threadIdx.x < work.count) out[0] = weighted(work, threadIdx.x);
}
CUDA
kernel "$folder/structure.cu" --block 64 --arg '{s32=2;f32[2]=1,2:print;s16=10,20,30}' --arg 'f32[1]:print'
expect_status 66 "a structure as argument"
expect_out '^argument 0, member 1$'
expect_out '^0: (10|40)$'
expect_err 'argument 1: of zeros. .* races of unequal values stay hidden'
expect_no_err 'barracuda::|_INTERNAL_|launched from'
kernel "$folder/structure.cu" --block 64 --arg '{s32=2;f32[2]=1,2}' --arg 'f32[1]=0'
expect_status 64 "a structure of another size"
expect_err 'parameter 0 has 24 bytes, this has 16'
kernel "$folder/structure.cu" --block 64 --arg '{s32=2;f32[2]=1,2;s16=1,2,3}' --arg 'f32[1]=0'
expect_no_err 'of zeros'

# Without line information: the PTX's lines, and once what gives the source's.
"$NVCC" -ptx "$folder/structure.cu" -o "$folder/structure.ptx"
kernel "$folder/structure.ptx" --block 64 --arg '{s32=2;f32[2]=1,2;s16=1,2,3}' --arg 'f32[1]=0'
expect_status 66 "without line information"
expect_err '#0 apply\(Work, float\*\), st.global.f32 at line [0-9]+ of its PTX$'
[ "$(grep -c -- -lineinfo "$folder/err")" -eq 1 ] || fail "-lineinfo is not named once"

echo 'this is no PTX' >"$folder/bad.ptx"
kernel "$folder/bad.ptx"
expect_status 64 "no PTX"
expect_err 'bad.ptx:1:'

kernel "$folder/sum.cu" --kernel other --block 2048 --arg 'u32[2048]'
expect_status 64 "a block that no device has"
expect_err '--block 2048,1,1: a block has at most 1024 threads'

kernel "$folder/sum.cu" --kernel other --block 3 --shared 999999 --arg 'u32[3]'
expect_status 67 "a launch that the device refuses"
expect_err 'cuFuncSetAttribute: invalid argument'
finish
