#!/usr/bin/env bash
# The packages on machines that have nothing: makes the tarball and the DEB, installs each in a fresh root
# of a Debian release (the DEB by the steps of the Dockerfile), runs the demo's programs there as a user without
# root, removes it, and looks for what was left behind. Needs root and the network.
#
#   [BUILD=folder] tools/try_packages.sh [RELEASE...]      (default: bookworm trixie; bullseye: tools/build_portable.sh)
set -euo pipefail
source "$(dirname "$0")/steps.sh"
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
roots=$(mktemp -d)
# A root that a failure leaves has /proc in it: out first, and nothing of another file system is removed.
trap 'umount "$roots"/*/proc 2>/dev/null || true; rm -rf --one-file-system "$roots"' EXIT

command -v debootstrap >/dev/null || apt-get install -q -y --no-install-recommends debootstrap >/dev/null
build=${BUILD:-build}
cpack --config "$build/CPackConfig.cmake" -B "$roots/packages" >"$roots/log" 2>&1 || { cat "$roots/log"; exit 1; }
deb=$(ls "$roots"/packages/barracuda-*.deb)
tarball=$(ls "$roots"/packages/barracuda-*[0-9].tar.gz)
ls -l "$deb" "$tarball"

# A racy program and its fixed twin under the tool, as the user nobody.
try() {  # ROOT COMMAND
  local root=$1 command=$2 program expected status
  for program in shared_sum_race:66 shared_sum_fixed:0; do
    expected=${program#*:} status=0
    chroot "$root" setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp PATH=/usr/bin:/bin \
      "$command" run --device cpu -- "/programs/${program%:*}" >"$root/log" 2>&1 || status=$?
    if [ "$status" -ne "$expected" ]; then
      echo "FAILED: $command with ${program%:*}: exit status $status, expected $expected"
      cat "$root/log"
      failed=$((failed + 1))
    else
      passed=$((passed + 1))
    fi
  done
}

# The steps of the Dockerfile in a root, which stands for its base; its entry point goes into $entry.
run_dockerfile() {  # ROOT
  local root=$1 step rest
  while read -r step rest; do
    case $step in
      "" | "#"* | ARG | FROM | CMD) ;;
      COPY) cp "$deb" "$root/${rest##* }" ;;
      RUN) chroot "$root" sh -c "$rest" >"$roots/log" 2>&1 || { tail "$roots/log"; return 1; } ;;
      ENTRYPOINT) entry=$(tr -d '[]"' <<<"$rest") ;;
      *) echo "Dockerfile: what is $step?"; return 1 ;;
    esac
  done <Dockerfile
}

for release in "${releases[@]}"; do
  say "$release"
  root=$roots/$release
  debootstrap --variant=minbase "$release" "$root" >"$roots/log" 2>&1 || { tail "$roots/log"; exit 1; }
  mkdir "$root/programs"
  cp "$build"/programs/shared_sum_{race,fixed} "$root/programs"
  mount -t proc proc "$root/proc"
  find "$root" -xdev -not -path "$root/var/*" | sort >"$roots/before"

  mkdir "$root/tmp/tool"
  tar -xzf "$tarball" -C "$root/tmp/tool" --strip-components=1
  chroot "$root" sh -c 'apt-get -q -y install --no-install-recommends libstdc++6 >/dev/null 2>&1' || true
  try "$root" /tmp/tool/bin/barracuda
  rm -rf "$root/tmp/tool"

  run_dockerfile "$root"
  try "$root" "$entry"
  chroot "$root" apt-get -q -y remove barracuda >>"$roots/log" 2>&1
  # With what is the user's, whose home it was: the caches of ~/.cache/barracuda.
  rm -rf "$root/tmp" "$root/log"
  mkdir -m 1777 "$root/tmp"
  find "$root" -xdev -not -path "$root/var/*" | sort >"$roots/after"
  umount "$root/proc"
  if left=$(comm -13 "$roots/before" "$roots/after" | grep -i barracuda); then
    echo "FAILED: $release: left behind: $left"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
