# What is thrown in a hook costs that call its checking, and the program nothing: BARRACUDA_FAIL_HOOK throws in
# the work of a hook (work) or around it (edge), from the N-th call of a function on.
. "$(dirname "$0")/expect.sh"
tool=("$barracuda" run --device cpu --json "$folder/report")

# expect_goes_on POINT PROGRAM FUNCTION...: the program prints and returns what it does without a failure; the
# report names each function.
expect_goes_on() {
  local point=$1 program=$2 function name well
  shift 2
  run "${tool[@]}" --exit-policy none -- "$program"
  cp "$folder/out" "$folder/out.well"
  well=$status
  for function in "$@"; do
    name="$(basename "$program"): $function, $point"
    run env BARRACUDA_FAIL_HOOK="$function:$point:1" "${tool[@]}" --exit-policy none -- "$program"
    expect_status "$well" "$name"
    cmp -s "$folder/out" "$folder/out.well" || fail "$name: it prints something else"
    expect_err "not covered: the tool failed in $function \\(BARRACUDA_FAIL_HOOK says so\\): (one call|[0-9]+ calls) went on without it"
    expect_err 'coverage incomplete'
    grep -q '"coverage":"incomplete"' "$folder/report" || fail "$name: complete coverage in JSON"
  done
}

basic=(cuLibraryLoadData cuMemAlloc_v2 cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemsetD8_v2)
for point in work edge; do
  expect_goes_on $point "$programs/histogram_race" "${basic[@]}"
  expect_goes_on $point "$programs/overlapped_copy_race" cuStreamCreate cuMemcpyAsync cuMemHostAlloc
  expect_goes_on $point "$programs/litmus_pool_free_after_event" cuMemAllocAsync cuMemFreeAsync cuEventRecord \
    cuStreamWaitEvent cuCtxSynchronize
  expect_goes_on $point "$programs/litmus_callback_tells_host" cuLaunchHostFunc
done
expect_goes_on work "$programs/histogram_race" cuLaunchKernel

# A call that needs an instrumented kernel cannot go on without the tool: it fails, and the program is told.
for function in cuLaunchKernel cuKernelGetFunction cuLibraryGetKernel; do
  run env BARRACUDA_FAIL_HOOK="$function:edge:1" "${tool[@]}" --exit-policy none -- "$programs/histogram_race"
  [ "$status" -lt 128 ] || fail "$function refused: the program has crashed ($status)"
  expect_err "not covered: the tool failed in $function"
done

# What was found before a failure stands; what is launched afterwards is not checked, and is named.
run env BARRACUDA_FAIL_HOOK=cuLaunchKernel:work:2 "${tool[@]}" -- "$programs/ends" leave
expect_status 66 "a failure at the second launch"
expect_err 'same_word'
expect_err 'not covered: .*neighbour.*the tool failed on its launch'
run env BARRACUDA_FAIL_HOOK=cuCtxSynchronize:work:1 "${tool[@]}" -- "$programs/ends" leave
expect_status 66 "a failure after the first launch"
expect_err 'same_word'
expect_err 'not covered: .*neighbour.*launched after the tool had failed in cuCtxSynchronize'
finish
