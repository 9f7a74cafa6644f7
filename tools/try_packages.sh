#!/usr/bin/env bash
# The packages on machines that have nothing: makes the tarball and the DEB, installs each in a fresh root
# of a Debian release, runs the demo's programs there as a user without root, removes it, and looks
# for what was left behind. Needs root and the network.
#
#   tools/try_packages.sh [bookworm] [trixie]
set -euo pipefail
source "$(dirname "$0")/steps.sh"
releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
roots=$(mktemp -d)
trap 'rm -rf "$roots"' EXIT

command -v debootstrap >/dev/null || apt-get install -q -y --no-install-recommends debootstrap >/dev/null
(cd build && cpack --config CPackConfig.cmake >cpack.log 2>&1) || { cat build/cpack.log; exit 1; }
deb=$(ls -t build/barracuda-*.deb | head -1)
tarball=$(ls -t build/barracuda-*.tar.gz | head -1)
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

for release in "${releases[@]}"; do
  say "$release"
  root=$roots/$release
  debootstrap --variant=minbase "$release" "$root" >"$roots/log" 2>&1 || { tail "$roots/log"; exit 1; }
  mkdir "$root/programs"
  cp build/programs/shared_sum_{race,fixed} "$root/programs"
  mount -t proc proc "$root/proc"
  find "$root" -xdev -not -path "$root/var/*" | sort >"$roots/before"

  mkdir "$root/tmp/tool"
  tar -xzf "$tarball" -C "$root/tmp/tool" --strip-components=1
  chroot "$root" sh -c 'apt-get -q -y install --no-install-recommends libstdc++6 >/dev/null 2>&1' || true
  try "$root" /tmp/tool/bin/barracuda
  rm -rf "$root/tmp/tool"

  cp "$deb" "$root/tmp/barracuda.deb"
  chroot "$root" apt-get -q -y install --no-install-recommends /tmp/barracuda.deb >"$roots/log" 2>&1 || { tail "$roots/log"; exit 1; }
  try "$root" barracuda
  chroot "$root" apt-get -q -y remove barracuda >>"$roots/log" 2>&1
  rm -rf "$root"/tmp/* "$root/log"
  find "$root" -xdev -not -path "$root/var/*" | sort >"$roots/after"
  umount "$root/proc"
  if left=$(comm -13 "$roots/before" "$roots/after" | grep -i barracuda); then
    echo "FAILED: $release: left behind: $left"
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
