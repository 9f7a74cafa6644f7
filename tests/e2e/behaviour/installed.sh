# Installed into a folder that is then moved, the tool works, and a project elsewhere tests with it.
. "$(dirname "$0")/expect.sh"

cmake --install "$BUILD" --prefix "$folder/first" >"$folder/out" 2>"$folder/err" || fail "cmake --install"
mv "$folder/first" "$folder/moved"
for file in LICENSE README.md docs/OPTIONS.md; do
  [ -s "$folder/moved/share/doc/barracuda/$file" ] || fail "$file is not installed"
done
run "$folder/moved/bin/barracuda" run --device cpu -- "$programs/shared_sum_race"
expect_status 66 "installed"
expect_err 'intra-block race on shared memory'

mkdir "$folder/project"
cat >"$folder/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(elsewhere NONE)
enable_testing()
find_package(barracuda 0.1 REQUIRED)
barracuda_add_test(NAME racy COMMAND ${PROGRAMS}/shared_sum_race SEEDS 3 OPTIONS device=cpu)
barracuda_add_test(NAME fixed COMMAND ${PROGRAMS}/shared_sum_fixed SEEDS 3 OPTIONS device=cpu)
barracuda_add_test(NAME known COMMAND ${PROGRAMS}/shared_sum_race SUPPRESSIONS known.supp SEVERITY error OPTIONS device=cpu)
CMAKE
echo 'function:block_sum' >"$folder/project/known.supp"
run cmake -S "$folder/project" -B "$folder/project/build" -D "PROGRAMS=$programs" -D "CMAKE_PREFIX_PATH=$folder/moved"
expect_status 0 "find_package"
run ctest --test-dir "$folder/project/build"
expect_status 8 "ctest of the project"
expect_out '1/3 Test .*racy .*\*\*\*Failed'
expect_out '2/3 Test .*fixed .*Passed'
expect_out '3/3 Test .*known .*Passed'
finish
