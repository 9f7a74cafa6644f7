#!/usr/bin/env bash
# Builds the tool for systems from glibc 2.30 on, such as Debian 11, in build-portable, makes packages and a wheel of it,
# and tries the packages in a root of Debian 11, as a user without root. Needs root and the network.
#
#   tools/build_portable.sh [TARGET...]        (default: what is installed)
#
# Only the links are other ones than in build/: with ccache the rest is a matter of minutes. docs/decisions/old-glibc.md.
set -euo pipefail
source "$(dirname "$0")/steps.sh"
build=build-portable
sysroot=$PWD/$build/sysroot
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(barracuda barracuda.cli)

say "A root of Debian 11"
if [ ! -e "$sysroot/libtbb.so.12" ]; then
  command -v debootstrap >/dev/null || apt-get install -q -y --no-install-recommends debootstrap >/dev/null
  rm -rf "$sysroot"
  mkdir -p "$build"
  debootstrap --variant=minbase --include=libc6-dev bullseye "$sysroot" >"$build/debootstrap.log" 2>&1 || { tail "$build/debootstrap.log"; exit 1; }
  # Links of the root lead into the root, for the linker as well.
  find "$sysroot/usr/lib" "$sysroot/usr/lib64" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfr "$sysroot$(readlink "$link")" "$link"
  done
  # Debian 11 has an older TBB of another name; the wheel's needs glibc 2.14.
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$build/tbb" 'tbb==2021.8.0'
  python3 -m zipfile -e "$build"/tbb/tbb-*.whl "$build/tbb"
  strip --strip-unneeded -o "$sysroot/libtbb.so.12" "$build"/tbb/tbb-*.data/data/lib/libtbb.so.12
fi

say "Build"
# The options of the preset ci and the sources of build/, some at a time or not, so that the compiler's cache knows what
# it has compiled there.
unite=$(grep -s '^BARRACUDA_UNITE:BOOL=' build/CMakeCache.txt || echo BARRACUDA_UNITE:BOOL=OFF)
cmake --preset ci -B "$build" -D "$unite" -D BARRACUDA_SYSROOT="$sysroot" >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --parallel "$cores" --target "${targets[@]}"
[ $# -eq 0 ] || exit 0

say "Packages on Debian 11"
# The programs that are tried there need that C library, too.
nvcc=$(sed -n 's/^BARRACUDA_NVCC:[^=]*=//p' "$build/CMakeCache.txt")
libraries=$sysroot/usr/lib/x86_64-linux-gnu
mkdir -p "$build/programs"
for program in shared_sum_race shared_sum_fixed; do
  "$nvcc" -lineinfo -cudart shared -c "examples/$program.cu" -o "$build/programs/$program.o"
  g++ "--sysroot=$sysroot" "-B$libraries" "-L$libraries" -L"$(dirname "$nvcc")/../lib64" -Wl,--allow-shlib-undefined \
    "$build/programs/$program.o" -o "$build/programs/$program" -lcudart
done
BUILD=$build tools/try_packages.sh bullseye
cpack --config "$build/CPackConfig.cmake" -B "$build/packages" >"$build/cpack.log" 2>&1 || { cat "$build/cpack.log"; exit 1; }
wheel=$(python3 tools/make_wheel.py --build "$build" --output "$build/packages")
tools/try_wheel.py --build "$build" --wheel "$wheel"
ls -l "$build"/packages/barracuda-*
