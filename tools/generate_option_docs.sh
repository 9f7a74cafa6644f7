#!/bin/sh
# Writes docs/OPTIONS.md from base/options.def, through the built command.
# Usage: tools/generate_option_docs.sh [BARRACUDA]   (default: build/bin/barracuda)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
"${1:-$root/build/bin/barracuda}" help --markdown >"$root/docs/OPTIONS.md.new"
mv "$root/docs/OPTIONS.md.new" "$root/docs/OPTIONS.md"
