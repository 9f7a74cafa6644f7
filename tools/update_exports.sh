#!/bin/bash
# Writes the tables of CUDA's exported names from an installed toolkit: emulator/cudart_names.def,
# emulator/driver_names.def, the version script preload/preload.map, and
# emulator/driver/entry_versions.def. The tables are kept in the tree because the compiler's wheels
# hold no libcuda stub. Usage: tools/update_exports.sh [CUDA_HOME]
set -euo pipefail
export LC_ALL=C

tree=$(cd "$(dirname "$0")/.." && pwd)
cuda=${1:-/usr/local/cuda}
runtime=$(readlink -f "$cuda/lib64/libcudart.so.13")
names=$(mktemp)
trap 'rm -f "$names"' EXIT
driver=$(readlink -f "$cuda/lib64/stubs/libcuda.so")
typedefs="$cuda/include/cudaTypedefs.h"

functions_of() {
  nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort -u
}

write_names() {  # FILE LIBRARY
  echo "Writing $1 from $2"
  {
    echo "// The functions that $(basename "$2") exports, one NAME(x) a row. Written by tools/update_exports.sh."
    functions_of "$2" | sed 's/.*/NAME(&)/'
  } > "$1"
}

write_map() {
  echo "Writing $1"
  {
    echo "# The runtime's names carry libcudart's version node; cu* names and dlsym stay unversioned, as in"
    echo "# libcuda. Written by tools/update_exports.sh."
    echo "libcudart.so.13 {"
    echo "  global:"
    functions_of "$runtime" | sed 's/.*/    &;/'
    echo "  local:"
    echo "    _Z*;  # of the C++ templates that our code instantiates"
    echo "};"
  } > "$1"
}

# Which exported name a (function, version) pair of cuGetProcAddress stands for: the versions that
# cudaTypedefs.h lists, newest first, meet the exported suffixes, newest first.
write_versions() {
  echo "Writing $1 from $typedefs"
  {
    echo "// ENTRY(symbol, version, per_thread, exported name): what cuGetProcAddress answers to whom asks for"
    echo "// that version or a later one. Written by tools/update_exports.sh."
    functions_of "$driver" > "$names"
    grep -o 'PFN_cu[A-Za-z0-9]*_v[0-9]*\(_pt[ds][sz]\)\?)' "$typedefs" | tr -d ')' | sort -u | awk -v names="$names" '
      BEGIN { while ((getline name < names) > 0) exported[name] = 1 }
      {
        symbol = substr($0, 5); suffix = ""
        if (match(symbol, /_pt[ds][sz]$/)) { suffix = substr(symbol, RSTART); symbol = substr(symbol, 1, RSTART - 1) }
        match(symbol, /_v[0-9]+$/)
        number = substr(symbol, RSTART + 2); symbol = substr(symbol, 1, RSTART - 1)
        key = symbol SUBSEP suffix
        versions[key] = versions[key] " " number
      }
      END {
        for (key in versions) {
          split(key, part, SUBSEP); symbol = part[1]; suffix = part[2]
          count = 0; delete candidate
          if ((symbol suffix) in exported) candidate[++count] = symbol suffix
          for (n = 2; n <= 9; n++) if ((symbol "_v" n suffix) in exported) candidate[++count] = symbol "_v" n suffix
          total = split(versions[key], version, " ")
          for (i = 1; i <= total; i++) for (j = i + 1; j <= total; j++)
            if (version[j] + 0 > version[i] + 0) { swap = version[i]; version[i] = version[j]; version[j] = swap }
          for (i = 1; i <= total && i <= count; i++)
            printf "ENTRY(%s, %d, %d, %s)\n", symbol, version[i], suffix != "", candidate[count - i + 1]
        }
      }' | sort -t'(' -k2,2
  } > "$1"
}

write_names "$tree/emulator/cudart_names.def" "$runtime"
write_names "$tree/emulator/driver_names.def" "$driver"
write_map "$tree/preload/preload.map"
write_versions "$tree/emulator/driver/entry_versions.def"
