# How the text report is laid out: width, frames, names and paths; a finding in CUB is short.
. "$(dirname "$0")/expect.sh"

widest() { sed '/^BARRACUDA SUMMARY/d' "$1" | wc -L; }
export LC_ALL=C.UTF-8

cat >"$folder/reduce.cu" <<'CUDA'
#include <cub/cub.cuh>

template <typename Policy, typename Value>
struct a_rather_long_name_of_a_structure_that_templates_are_made_of {};

template <typename Kind>
__global__ void sum(int* cells) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage storage;
  const int first = Reduce(storage).Sum(cells[threadIdx.x]);
  const int second = Reduce(storage).Sum(first);  // no __syncthreads() before it
  cells[threadIdx.x] = second;
}

int main() {
  int* cells;
  cudaMalloc(&cells, 64 * sizeof(int));
  using Long = a_rather_long_name_of_a_structure_that_templates_are_made_of<
      a_rather_long_name_of_a_structure_that_templates_are_made_of<int, float>, unsigned long long>;
  sum<Long><<<1, 64>>>(cells);
  return cudaDeviceSynchronize() != cudaSuccess;
}
CUDA
"${NVCC:-nvcc}" -std=c++17 -lineinfo -cudart shared "$folder/reduce.cu" -o "$folder/reduce" >"$folder/out" 2>"$folder/err" ||
  fail "nvcc"
cd "$folder" || exit 1

run "$barracuda" run --device cpu --seed 1 -- ./reduce
expect_status 66 "by default"
expect_err ' at reduce\.cu:[0-9]+'
expect_err 'frames of CUDA.s headers'
expect_err 'sum<…>'
[ "$(widest err)" -le 160 ] || fail "a line of $(widest err) columns"
longest=$(awk '/^=+$/ { if (inside && NR - begin > most) most = NR - begin - 1; inside = !inside; begin = NR } END { print most }' err)
[ "$longest" -le 25 ] || fail "a finding of $longest lines"

run "$barracuda" run --device cpu --seed 1 --width 70 -- ./reduce
[ "$(widest err)" -le 70 ] || fail "--width 70: a line of $(widest err) columns"
expect_err '^BARRACUDA SUMMARY: .*kernels 1/1 instrumented, coverage complete$'

run "$barracuda" run --device cpu --seed 1 --frames all --demangle full --strip-paths none --width 0 -- ./reduce
expect_no_err 'frames of CUDA.s headers'
expect_err "at $folder/reduce\.cu:[0-9]+"
expect_err 'a_structure_that_templates_are_made_of<int, float>, unsigned long long> ?>'

run "$barracuda" run --device cpu --seed 1 --strip-paths "${folder%/*}/" -- ./reduce
expect_err " at ${folder##*/}/reduce\.cu:[0-9]+"

run "$barracuda" run --width 39 -- ./reduce
expect_status 64 "too narrow"
finish
