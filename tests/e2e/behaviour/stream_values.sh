# Streams that wait for values in memory, which streams write: an order of their launches.
. "$(dirname "$0")/expect.sh"

for how in written batch; do
  run "$barracuda" run --device cpu -- "$programs/stream_values" "$how"
  expect_status 0 "$how"
  expect_out '^0 calls failed, cudaSuccess$'
  expect_err 'SUMMARY: 0 races, kernels 2/2 instrumented, coverage complete'
done

for how in unwaited other; do
  run "$barracuda" run --device cpu -- "$programs/stream_values" "$how"
  expect_status 66 "$how"
  expect_out '^0 calls failed, cudaSuccess$'
  expect_err 'inter-kernel race on global memory'
  expect_err 'coverage complete'
done

# What is not known is said.
for how in early host; do
  run "$barracuda" run --device cpu -- "$programs/stream_values" "$how"
  expect_status 0 "$how"
  expect_out '^0 calls failed, cudaSuccess$'
  expect_err 'waits for a value that no stream has written before'
  expect_err 'coverage incomplete'
done
finish
