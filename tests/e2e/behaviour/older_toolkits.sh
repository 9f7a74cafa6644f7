# Programs that were built with CUDA 12.9 and 11.8: the emulated device stands in for their libcudart too.
. "$(dirname "$0")/expect.sh"
if [ -e /dev/nvidiactl ] || [ -e /dev/nvidia0 ]; then
  echo "there is a GPU"
  exit 77
fi
tested=0
for version in 12.9 11.8; do
  program=$BUILD/tests/unit/emulator_faces/programs/older_toolkit-$version
  if ! [ -x "$program" ]; then
    echo "Not tested: CUDA $version (tools/install_cuda.sh older)"
    continue
  fi
  tested=$((tested + 1))
  run "$barracuda" run -- "$program"
  expect_status 0 "CUDA $version, without a race"
  run "$barracuda" run -- "$program" racy
  expect_status 66 "CUDA $version, with a race"
  expect_err 'older_toolkit\.cu:[0-9]+'
done
[ "$tested" -gt 0 ] || exit 77
finish
