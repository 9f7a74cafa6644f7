# What the emulated device does not do is named, and makes coverage incomplete.
. "$(dirname "$0")/expect.sh"

run "$barracuda" run --device cpu -- "$programs/lifecycle" unsupported
expect_status 0 "a call that is not supported"
expect_out '^cudaErrorNotSupported$'
expect_err 'cudaGraphicsUnregisterResource was called 2 times and is not supported'
expect_err 'BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage incomplete'

run "$barracuda" run --device cpu --strict -- "$programs/lifecycle" unsupported
expect_status 67 "the same with strict=1"
finish
