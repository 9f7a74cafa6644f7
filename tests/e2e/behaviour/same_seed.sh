# The same seed gives the same interleaving and the same report, to the last byte but for the numbers of
# processes, also where a queue has many laps.
. "$(dirname "$0")/expect.sh"

# Where a container forbids to keep addresses, only they may differ.
if setarch -R true 2>/dev/null; then
  comparable() { sed -E 's/"pid":[0-9]+//g' "$1"; }
else
  comparable() { sed -E 's/"(address|pid)":[0-9]+//g; s/0x[0-9a-f]+//g' "$1"; }
fi

report() {  # program, seed, more options
  program=$1 seed=$2
  shift 2
  run "$barracuda" run --device cpu --seed "$seed" --json "$folder/report" "$@" -- "$programs/$program"
  [ "$status" -eq 66 ] || echo "exit status $status ($RANDOM)"  # unlike any other report
  comparable "$folder/report"
}

for program in histogram_race spin_lock_race last_block_no_fence_race shared_sum_race; do
  first=$(report $program 1)
  for _ in 2 3 4 5; do
    [ "$(report $program 1)" = "$first" ] || fail "$program: seed 1 gives two reports"
  done
done
[ "$(run "$barracuda" run --device cpu --schedule random --json "$folder/report" -- "$programs/histogram_race"
  comparable "$folder/report")" = "$(report histogram_race 1)" ] || fail "schedule=random alone is not seed=1"
run "$barracuda" run --device cpu --seed 3 --workers 4 -- "$programs/histogram_race"
expect_err 'with a seed one host thread executes all blocks, not workers=4'
run "$barracuda" run --device cpu --schedule round-robin --seed 1 -- "$programs/histogram_race"
expect_status 64 "taking turns by a seed"
[ "$(report histogram_race 1 --queue-slots 128 --queues 3)" = "$(report histogram_race 1)" ] ||
  fail "the queues change what a seed gives"
finish
