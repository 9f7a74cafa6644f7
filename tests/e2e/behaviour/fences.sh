# Fences are put into a program and taken out of it before it runs: the options fences and fence-places.
. "$(dirname "$0")/expect.sh"
race=$programs/litmus_flag_atomic_reader_fence_race  # its writer lacks a fence, its reader has one

run "$barracuda" run --device cpu --seed 1 --fence-places "$folder/places" -- "$race"
expect_status 66 "the program as it is"
source=$(dirname "$0")/../../../litmus_suite/suite/flag_atomic_reader_fence_race.cu
line=$(grep -n 'x\[0\] = 42;' "$source" | cut -d: -f1)
grep -qE "^\+_Z6litmusPiS_S_#[0-9]+ sc gpu  # place=1 kernel=_Z6litmusPiS_S_ space=global op=store at=.*\.cu:$line\$" \
  "$folder/places" || fail "the store is not among the places"
[ "$(grep -c '^+' "$folder/places")" -eq 5 ] || fail "there are not five places: $(cat "$folder/places")"

# One place at a time: only a fence behind the first store makes the message safe.
grep '^+' "$folder/places" >"$folder/all"
number=0
while read -r line; do
  number=$((number + 1))
  echo "$line" >"$folder/one"
  run "$barracuda" run --device cpu --seed 1 --fences "$folder/one" -- "$race"
  if [ $number -eq 1 ]; then expect_status 0 "a fence at $line"; else expect_status 66 "a fence at $line"; fi
  expect_err 'coverage complete'
done <"$folder/all"
run "$barracuda" run --device cpu --seed 1 --fences "$folder/places" -- "$race"
expect_status 0 "a fence at every place"

# The places are those of the program as it was built, whatever fences are put in.
run "$barracuda" run --device cpu --seed 1 --fences "$folder/places" --fence-places "$folder/again" -- "$race"
cmp -s "$folder/places" "$folder/again" || fail "the places are others with fences"

# The file of a process that launches nothing is not written; %p is the process.
run "$barracuda" run --device cpu --fence-places "$folder/places.%p" -- sh -c "true; $race"
[ "$(find "$folder" -name 'places.[0-9]*' | wc -l)" -eq 1 ] || fail "there is not one file of places"

# What does not fit is said, and the rest is done.
{ head -1 "$folder/all"; echo '+_Z6litmusPiS_S_#9999 sc gpu'; echo '-nobody#3'; } >"$folder/odd"
run "$barracuda" run --device cpu --seed 1 --fences "$folder/odd" -- "$race"
expect_status 0 "two of three lines do not fit"
expect_err "not covered: option fences: $folder/odd:2: _Z6litmusPiS_S_#9999 does not fit the program: its function has fewer instructions"
expect_err "not covered: option fences: $folder/odd:3: nobody#3 does not fit the program"
run "$barracuda" run --device cpu --seed 1 --strict --fences "$folder/odd" -- "$race"
expect_status 67 "with strict that is a status"

echo 'nonsense' >"$folder/bad"
run "$barracuda" run --device cpu --fences "$folder/bad" -- "$race"
expect_status 64 "a file that is none"
expect_err "option fences: $folder/bad:1: 'nonsense' is no fence"
run env BARRACUDA_OPTIONS="device=cpu:fences='$folder/bad'" LD_PRELOAD="$library" "$race"
expect_status 64 "the same without barracuda run"
run "$barracuda" run --device cpu --fences "$folder/none" -- "$race"
expect_status 64 "a file that is not there"

# The fences of a plan.
store=$(sed -n '1s/^+\([^ ]*\) .*/\1/p' "$folder/all")
printf '%s\n' 'barracuda-plan 1' 'seed 1' "fence after=$store kind=acq_rel scope=gpu" >"$folder/plan"
run "$barracuda" run --device cpu --weakness "$folder/plan" -- "$race"
expect_status 0 "a plan with the fence"
expect_err 'coverage complete'
run env BARRACUDA_OPTIONS="device=cpu:weakness='$folder/plan'" LD_PRELOAD="$library" "$race"
expect_status 0 "the same without barracuda run"
sed -i "s/$store/${store}9999/" "$folder/plan"
run "$barracuda" run --device cpu --weakness "$folder/plan" -- "$race"
expect_status 66 "a plan whose fence does not fit"
expect_err "not covered: option weakness: $folder/plan:3: ${store}9999 does not fit the program"
echo 'barracuda-plan 9' >"$folder/plan"
run "$barracuda" run --device cpu --weakness "$folder/plan" -- "$race"
expect_status 64 "a plan of another version"
expect_err "option weakness: $folder/plan:1: this is a plan of version '9'"

finish
