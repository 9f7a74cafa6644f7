#!/usr/bin/env bash
# Installs Slurm and Dask (Debian's packages; PyPI, into build/campaign-venv) and tries barracuda campaign with each of its
# runners. Prints what died and was repeated, and a table. Needs a build, a network, and root. Two to eight minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

export BUILD=${BUILD:-$PWD/build}
if [ ! -x "$BUILD/bin/barracuda" ] || [ ! -x "$BUILD/programs/handover_race" ]; then
  echo "$0: nothing is built in $BUILD: cmake --preset ci && ninja -C build barracuda barracuda.programs" >&2
  exit 1
fi
tools/install_packages.sh campaign
venv=$BUILD/campaign-venv
if ! "$venv/bin/python3" -c 'import distributed, dask_jobqueue' 2>/dev/null; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet distributed dask-jobqueue
fi
export PATH=$venv/bin:$PATH

echo "Slurm $(dpkg-query --show --showformat='${Version}' slurm-wlm), dask.distributed $(python3 -c 'import distributed; print(distributed.__version__)')," \
  "dask-jobqueue $(python3 -c 'import dask_jobqueue; print(dask_jobqueue.__version__)')," \
  "Python $(python3 -c 'import platform; print(platform.python_version())'), $(nproc) cores"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rows=() failed=0
for runner in result local slurm dask; do
  status=0 began=$SECONDS
  python3 -B -u "tests/e2e/campaign/${runner}_test.py" -v >"$log" 2>&1 || status=$?
  [ "$runner" = result ] || printf '\n== %s\n' "$runner"
  grep -oE 'BARRACUDA: task.*|^two addresses.*' "$log" || true
  tests=$(sed -nE 's/^Ran ([0-9]+) tests? .*/\1/p' "$log")
  skipped=$(sed -nE 's/^OK \(skipped=([0-9]+)\)$/\1/p' "$log")
  rows+=("$(printf '%-8s %5s %8s %8d s  %s' "$runner" "${tests:-0}" "${skipped:-0}" $((SECONDS - began)) \
    "$([ $status -eq 0 ] && echo passed || echo "FAILED (status $status)")")")
  if [ $status -ne 0 ]; then
    failed=1
    cat "$log"
  fi
done
printf '\n%-8s %5s %8s %10s\n' runner tests skipped time
printf '%s\n' "${rows[@]}"
exit $failed
