# The element that a report names is the one that the source accesses: in a kernel's only variable, behind others,
# behind an object of the C++ library, in dynamic memory.
. "$(dirname "$0")/expect.sh"

for program in shared_warps_read_write_race mbarrier_no_wait_race cuda_barrier_block_no_wait_race latch_no_wait_race \
  shared_dynamic_race bulk_store_source_overwritten_race; do
  run "$barracuda" run --device cpu --json "$folder/report" -- "$programs/litmus_$program"
  expect_status 66 "$program"
  # Each has a line NAME[threadIdx.x] = ….
  python3 - "$folder/report" <<'PYTHON' || fail "$program"
import json
import re
import sys

races = [line for line in map(json.loads, open(sys.argv[1])) if line["type"] == "race"]
assert races
for race in races:
    name, index = re.search(r"\((\w+)\[(\d+)\]\)$", race["location"]).groups()
    of_thread = [access for access in race["accesses"] if access["source"].startswith(name + "[threadIdx.x] = ")]
    assert of_thread and int(index) in [access["thread"][0] for access in of_thread], race
PYTHON
done
finish
