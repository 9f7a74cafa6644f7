# Ranks that each have a `run`: findings of one must not make the launcher kill the others.
. "$(dirname "$0")/expect.sh"
if ! command -v mpirun >/dev/null; then
  echo "SKIPPED, nothing was tested: there is no mpirun (Debian: openmpi-bin)"
  exit 77
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Rank 0 finds races and ends at once; rank 1 is clean and takes its time.
cat >"$folder/rank.sh" <<RANK
if [ "\$OMPI_COMM_WORLD_RANK" -eq 0 ]; then exec "$programs/histogram_race"; fi
sleep 4
"$programs/histogram_fixed" && echo "rank 1 has ended"
RANK

run mpirun --oversubscribe -n 2 "$barracuda" run --device cpu --json "$folder/%q{OMPI_COMM_WORLD_RANK}.jsonl" -- sh "$folder/rank.sh"
expect_status 66 "a rank has findings"
expect_out 'rank 1 has ended'
grep -q '"type":"summary".*"races":[1-9]' "$folder/0.jsonl" || fail "no races of rank 0"
grep -q '"type":"summary".*"races":0' "$folder/1.jsonl" || fail "no report of rank 1"

run env OMPI_COMM_WORLD_LOCAL_SIZE=1 "$barracuda" run --device cpu -- "$programs/histogram_race"
expect_status 66 "one rank: nothing is waited for"
finish
