# Programs whose host code is built with a sanitizer: the tool finds what it finds, the sanitizer nothing of the
# tool's, under `run` and under bare LD_PRELOAD, whoever built it.
. "$(dirname "$0")/expect.sh"
source=$(cd "$(dirname "$0")/../../.." && pwd)/examples

check() {  # what is run, its verdict, the command that runs it
  run timeout 120 "${@:3}"
  expect_no_err 'Sanitizer'
  if [ "$2" = race ]; then
    expect_status 66 "$1"
    expect_err '#0 .*stencil_race.cu:[0-9]+$'
    [ "$(grep -oE 'stencil_race.cu:[0-9]+$' "$folder/err" | sort -u | wc -l)" -ge 2 ] ||
      fail "$1: not both lines"
  else
    expect_status 0 "$1"
    expect_err 'BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete'
  fi
}

compilers=(g++)
command -v clang++ >/dev/null && compilers+=(clang++)
for compiler in "${compilers[@]}"; do
  for sanitizer in address undefined thread; do
    for verdict in race fixed; do
      program=$folder/program
      # A compiler may come without the runtime.
      "$NVCC" -ccbin "$compiler" -std=c++17 -lineinfo -cudart shared -Xcompiler "-fsanitize=$sanitizer" \
        "$source/stencil_$verdict.cu" -o "$program" 2>"$folder/compiler" || {
        echo "not tested: $compiler -fsanitize=$sanitizer: $(tail -n 1 "$folder/compiler")"
        continue
      }
      name="$verdict, $compiler, $sanitizer"
      check "$name" $verdict "$barracuda" run --device cpu -- "$program"
      check "$name, bare LD_PRELOAD" $verdict env BARRACUDA_OPTIONS=device=cpu LD_PRELOAD="$library" "$program"
    done
  done
done
finish
