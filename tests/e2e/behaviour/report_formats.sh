# The report where others show it: SARIF, JUnit, compilers' messages, GitHub's annotations.
. "$(dirname "$0")/expect.sh"
source=$(realpath "$(dirname "$0")/../../../examples/shared_sum_race.cu")
line=$(grep -n 'partial\[thread\] += ' "$source" | cut -d: -f1)

cd "$(dirname "$source")/.." || exit 1
run "$barracuda" run --device cpu --sarif "$folder/race.sarif" --junit "$folder/race.xml" --format gcc -- "$programs/shared_sum_race"
expect_status 66 "gcc"
expect_err "^examples/shared_sum_race.cu:$line: error: intra-block race on shared memory \([0-9]+ occurrences\): .* \[race\]$"
expect_err "^examples/shared_sum_race.cu:$line: note: (Read|Write) of 4 bytes at byte"
expect_err "note: missing order: .*__syncthreads"
expect_err "^BARRACUDA SUMMARY: 1 race"

# What GitHub's upload asks for: a location in the repository, a rule that exists, a fingerprint.
python3 - "$folder/race.sarif" "$folder/race.xml" "$line" <<'PYTHON' >"$folder/out" 2>"$folder/err" || fail "SARIF or JUnit"
import json, sys, xml.etree.ElementTree as tree
log = json.load(open(sys.argv[1]))
assert log["version"] == "2.1.0" and len(log["runs"]) == 1
run = log["runs"][0]
rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
(result,) = run["results"]
assert result["ruleId"] in rules and result["level"] == "error" and result["message"]["text"]
assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
places = [place["physicalLocation"] for place in result["locations"] + result["relatedLocations"]]
assert len(places) == 2
for place in places:
    assert place["artifactLocation"] == {"uri": "examples/shared_sum_race.cu", "uriBaseId": "SRCROOT"}, place
    assert place["region"]["startLine"] == int(sys.argv[3])
    assert "partial[thread] +=" in place["region"]["snippet"]["text"]
assert len(result["codeFlows"][0]["threadFlows"]) == 2
suite = tree.parse(sys.argv[2]).getroot().find("testsuite")
assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
assert len(suite.findall("testcase")) == 2 and suite.find("testcase/failure") is not None
PYTHON

run "$barracuda" run --device cpu --format github -- "$programs/shared_sum_race"
expect_err "^::error file=examples/shared_sum_race.cu,line=$line,title=intra-block race on shared memory::"

run "$barracuda" run --device cpu --format github --strip-paths none -- "$programs/shared_sum_race"
expect_err "^::error file=$source,line=$line,.* at $source:$line"
run "$barracuda" run --device cpu --format gcc --strip-paths "${source%/*}/" -- "$programs/shared_sum_race"
expect_err "^shared_sum_race.cu:$line: error: "

run "$barracuda" run --device cpu --sarif "$folder/clean.sarif" --junit "$folder/clean.xml" -- "$programs/shared_sum_fixed"
expect_status 0 "clean"
grep -q '"results": \[\]' "$folder/clean.sarif" || fail "a clean run has results"
grep -q 'failures="0"' "$folder/clean.xml" || fail "a clean run has failures"

run "$barracuda" run --device cpu --sarif /nonexistent/race.sarif -- "$programs/shared_sum_fixed"
expect_status 70 "a file that cannot be written"
run "$barracuda" run --format word -- true
expect_status 64 "a format that there is not"
run "$barracuda" expose --sarif "$folder/no.sarif" -- "$programs/shared_sum_race"
expect_status 64 "expose writes no SARIF"
expect_err "unknown option '--sarif'"
finish
