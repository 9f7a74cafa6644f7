#!/usr/bin/env bash
# Installs the Debian packages that the build and the tests need; with `lint` also those of the lint, with
# `fuzz` those of the fuzz targets, with `page` a browser for the report's page and what makes the documentation a site, with `campaign` those of tools/try_campaign.sh.
# Takes no time where all are there.
set -euo pipefail

packages=(
  # compiler and build
  g++ libc6-dev cmake ninja-build ccache git
  # libraries
  libtbb-dev libboost1.81-dev libexpected-dev libfmt-dev libcli11-dev nlohmann-json3-dev
  liblz4-dev libzstd-dev libxxhash-dev libdw-dev libelf-dev libbz2-dev liblzma-dev zlib1g-dev
  # tests
  catch2 librapidcheck-dev patch
  # the CUDA compiler, where it comes from PyPI
  python3 python3-pip ca-certificates
)
for extra in "$@"; do
  case $extra in
    lint) packages+=(clang-format-19 clang-tidy-19) ;;
    fuzz) packages+=(clang-19 libclang-rt-19-dev) ;;
    page) packages+=(chromium mkdocs) ;;
    campaign) packages+=(slurm-wlm munge iproute2 python3-venv) ;;
    *) echo "usage: $0 [lint] [fuzz] [page] [campaign]" >&2; exit 64 ;;
  esac
done

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "This script installs Debian packages, and this system has no apt. Install these, or what" >&2
  echo "your system calls them: ${packages[*]}" >&2
  exit 1
fi

installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${packages[@]}" \
  2>/dev/null | awk '$2 == "installed" { print $1 }') || true
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: all ${#packages[@]} are installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing, and only root can install them (there is no sudo here). Run" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    echo "as root, then start again." >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "packages: installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -q -y --no-install-recommends "${missing[@]}"
