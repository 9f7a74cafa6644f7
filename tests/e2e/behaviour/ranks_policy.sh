# Which status ranks give that each have a `run` (exit-policy), under a launcher that does what mpirun,
# srun and torchrun do: when one rank ends with a status that is not 0, it ends the others.
. "$(dirname "$0")/expect.sh"
export TMPDIR=$folder/tmp
mkdir "$TMPDIR"

# launch SCRIPT...: one rank for each; their statuses in ${statuses[@]}, "killed" for those that were ended.
# A rank that is through may be waited for behind the one that its launcher ends it for: its own status counts.
launch() {
  local script ended pids=() rank=0 left=$# begin=$SECONDS
  statuses=()
  for script in "$@"; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_LOCAL_SIZE=$# bash -c "$script" >"$folder/out.$rank" 2>"$folder/err.$rank" &
    pids[rank]=$!
    rank=$((rank + 1))
  done
  while [ "$left" -gt 0 ]; do
    wait -n -p ended "${pids[@]}"
    status=$?
    left=$((left - 1))
    for rank in "${!pids[@]}"; do
      if [ "${pids[rank]}" = "$ended" ]; then
        [ "$status" -ne $((128 + 15)) ] || status=killed
        statuses[rank]=$status
        unset "pids[rank]"
      fi
    done
    if [ "$status" != 0 ] && [ "${#pids[@]}" -gt 0 ]; then
      kill -TERM "${pids[@]}" 2>/dev/null
    fi
  done
  seconds=$((SECONDS - begin))
  cat "$folder"/out.* >"$folder/out"
  cat "$folder"/err.* >"$folder/err"
  rm -f "$folder"/out.* "$folder"/err.*
}

expect_statuses() { [ "${statuses[*]}" = "$1" ] || fail "statuses ${statuses[*]}, expected $1 ($2)"; }
expect_within() { [ "$seconds" -le "$1" ] || fail "took $seconds s, expected $1 at most ($2)"; }

tool="exec $barracuda run --device cpu"
racy="-- $programs/histogram_race"
slow="-- sh -c 'sleep 3; $programs/histogram_fixed && echo it has ended'"

launch "$tool $racy" "$tool $slow"
expect_out 'it has ended'
case "${statuses[*]}" in
  '66 0') ;;
  *) fail "statuses ${statuses[*]}: any gives the rank with findings 66" ;;
esac

launch "$tool --exit-policy last $racy" "$tool --exit-policy last $slow"
expect_statuses '0 66' "last: the rank that ends last gives what the other one found"
expect_out 'it has ended'
grep -q 'BARRACUDA SUMMARY: [1-9]' "$folder/err" || fail "no report of the rank with findings"

launch "$tool --exit-policy last $racy" "$tool --exit-policy last $racy" "$tool --exit-policy last $racy"
[ "$(printf '%s\n' "${statuses[@]}" | grep -c '^66$')" -eq 1 ] || fail "statuses ${statuses[*]}: one rank is the last"
launch "$tool --exit-policy last -- $programs/histogram_fixed" "$tool --exit-policy last $slow"
expect_statuses '0 0' "last, nothing found"

launch "$tool --exit-policy none $racy" "$tool --exit-policy none $slow"
expect_statuses '0 0' "none"
expect_within 15 "none waits for nobody"

# A rank without kernels coordinates the others; where no rank has any, nothing was checked.
for policy in any last; do
  launch "$tool --exit-policy $policy -- true" "$tool --exit-policy $policy -- $programs/histogram_fixed"
  expect_statuses '0 0' "a coordinator, $policy"
done
launch "$tool --exit-policy last -- true" "$tool --exit-policy last -- sleep 1"
expect_statuses '0 67' "no rank was checked"

# A program that fails is not held back: the others may wait for it.
launch "$tool -- sh -c '$programs/histogram_race; exit 3'" "$tool -- sleep 60"
expect_statuses '66 killed' "a rank that fails"
expect_within 20 "a rank that fails"

# A script between the launcher and the rank.
launch "PMIX_NAMESPACE=job1 $barracuda run --device cpu $racy; exit \$?" "PMIX_NAMESPACE=job1 $barracuda run --device cpu $slow; exit \$?"
expect_out 'it has ended'

# Several schedules of a rank.
launch "$tool --seeds 2 $racy" "$tool $slow"
expect_out 'it has ended'

# One that waits for a rank that hangs can be interrupted, and goes on when the other one is killed.
for how in 'kill -TERM $waiting' 'kill -HUP $waiting' 'kill -KILL $hanging'; do
  export OMPI_COMM_WORLD_LOCAL_SIZE=2
  "$barracuda" run --device cpu -- sleep 60 2>"$folder/err" &
  hanging=$!
  "$barracuda" run --device cpu $racy >"$folder/out" 2>"$folder/err" &
  waiting=$!
  unset OMPI_COMM_WORLD_LOCAL_SIZE
  for _ in $(seq 200); do
    ! grep -q 'BARRACUDA SUMMARY' "$folder/err" || break
    sleep 0.1
  done
  sleep 0.5
  kill -0 $waiting 2>/dev/null || fail "a rank with findings has not waited ($how)"
  begin=$SECONDS
  eval "$how"
  wait $waiting
  status=$?
  expect_status 66 "$how"
  seconds=$((SECONDS - begin))
  expect_within 5 "$how"
  kill -KILL $hanging 2>/dev/null
  wait $hanging 2>/dev/null
  rm -rf "${TMPDIR:?}"/barracuda-*  # of the one that was killed
done

# Slurm says for all nodes how many ranks they have.
begin=$SECONDS
SLURM_STEP_TASKS_PER_NODE='2(x2),1' SLURM_NODEID=2 run "$barracuda" run --device cpu $racy
expect_status 66 "one rank on the third node"
seconds=$((SECONDS - begin))
expect_within 8 "nobody is waited for"

# Without ranks.
run "$barracuda" run --device cpu --exit-policy none --json "$folder/races.json" -- sh -c "$programs/histogram_race; exit 3"
expect_status 3 "none without ranks"
grep -q '"type":"race"' "$folder/races.json" || fail "no races in JSON"
run "$barracuda" run --device cpu --exit-policy last $racy
expect_status 66 "last without ranks"
run "$barracuda" run --device cpu --exit-policy first $racy
expect_status 64 "a policy that there is not"
expect_err "option exit-policy: 'first' is not one of any, last, none"
run "$barracuda" run --device cpu --exit-polcy none $racy
expect_status 64 "a typo in the option"

rmdir "$TMPDIR" || fail "folders are left: $(ls "$TMPDIR")"
finish
