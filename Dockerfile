# An image with the tool, from the Debian package that `cpack --config build/CPackConfig.cmake -B build/packages` makes:
#
#   docker build -t barracuda --build-arg BASE=nvidia/cuda:13.0.0-runtime-ubuntu24.04 .
#   docker run --rm -v "$PWD":/work -w /work barracuda run -- ./app        # with a GPU: --gpus all
#
# tools/try_packages.sh runs these steps in roots of Debian releases.
ARG BASE=debian:12-slim
FROM ${BASE}
COPY build/packages/barracuda-*.deb /tmp/barracuda.deb
RUN apt-get -q update && apt-get -q -y install --no-install-recommends /tmp/barracuda.deb && rm -rf /tmp/barracuda.deb /var/lib/apt/lists/*
ENTRYPOINT ["barracuda"]
CMD ["help"]
