# What is launched in the legacy stream orders blocking streams, whether or not there is anything to check in it.
. "$(dirname "$0")/expect.sh"

for options in '' '--filter auto' '--kernel-name-exclude kne=empty'; do
  run "$barracuda" run --device cpu $options -- "$programs/empty_between" own
  expect_status 66 "$options"
  expect_err 'empty_between.cu:8'
  expect_err 'empty_between.cu:14'
  run "$barracuda" run --device cpu $options -- "$programs/empty_between" legacy
  expect_status 0 "$options"
done
finish
