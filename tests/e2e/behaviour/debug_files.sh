# The tarball is stripped, and the one beside it has the debug files: by build-id, with lines.
. "$(dirname "$0")/expect.sh"

cpack --config "$BUILD/CPackConfig.cmake" -G TGZ -B "$folder/packages" >"$folder/out" 2>"$folder/err" || fail "cpack"
mkdir "$folder/tool" "$folder/debug"
tar -xzf "$folder"/packages/barracuda-*[0-9].tar.gz -C "$folder/tool" --strip-components=1
tar -xzf "$folder"/packages/barracuda-*-debug.tar.gz -C "$folder/debug" --strip-components=1

for pair in bin/barracuda:main:cli/main.cpp "lib/libbarracuda.so:cuLaunchKernel:(emulator|preload)/"; do
  IFS=: read -r binary symbol place <<<"$pair"
  readelf --wide --sections "$folder/tool/$binary" | grep -q debug_info && fail "$binary is not stripped"
  id=$(readelf --notes "$folder/tool/$binary" | sed -n 's/.*Build ID: //p')
  file=$folder/debug/lib/debug/.build-id/${id:0:2}/${id:2}.debug
  [ -n "$id" ] && [ -s "$file" ] || fail "$binary has no debug file"
  address=$(nm "$file" | awk -v symbol="$symbol" '$2 == "T" && $3 == symbol { print $1 }')
  run addr2line -e "$file" "$address"
  expect_out "$place[^ ]*:[1-9]"
done
finish
