# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The image: one static program under two names, the agent and the certificate bundle, nothing else.
#
#   docker build -t jprof .                      from a registry's Debian 12, for this machine
#   docker buildx build --platform linux/amd64,linux/arm64 .   both from an amd64 machine: arm64 is cross-compiled, not emulated
#   buildah bud --build-arg BASE=localhost/debian12:1 .   from a base of your own (tests/image/run does it offline)

ARG BASE=debian:bookworm-slim

FROM --platform=$BUILDPLATFORM ${BASE} AS build
# For which machines, in the builder's words; empty: for machines like this one.
ARG TARGETARCH
ENV LANG=C.UTF-8
WORKDIR /src
# First what changes rarely, so that it is cached: packages and the static libraries.
COPY scripts/install scripts/parts scripts/
COPY scripts/parts.d scripts/parts.d
COPY tests/e2e/kubeall tests/e2e/kubeall
COPY tests/e2e/images.d tests/e2e/images.d
COPY cmake/CrossArm64.cmake cmake/
RUN other=$(dpkg --print-architecture | grep -vx "${TARGETARCH:-.*}" | sed "s/.*/$TARGETARCH/"); \
    scripts/install build ${other:+cross} && scripts/parts "static-libs${other:+-$other}"
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY lib lib
COPY agent agent
COPY sidecar sidecar
COPY plugin plugin
COPY image image
COPY scripts/build scripts/
RUN scripts/build --static ${TARGETARCH}
# An ephemeral container has no volume and any uid: both folders are for its captures. A sidecar mounts volumes there.
# Nobody but root can read the program, so the kernel treats them as not dumpable from their first instruction: the JVM
# next door, of the same user, sees neither their memory nor their files. The agent is what the JVM itself must read.
# The user has an entry, so that a runtime that is given only the uid takes its group too, as it does for most JVM images.
RUN mkdir -p /image/etc/ssl/certs && \
    install -m 0711 build/image*/jprof /image/ && ln -s jprof /image/kubectl-jprof && \
    install -m 0444 build/image*/libjprof.so /image/ && \
    install -m 0444 /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ && \
    echo 'nonroot:x:65532:65532::/:/' >/image/etc/passwd && chmod 0444 /image/etc/passwd && \
    mkdir -p /image/tmp /image/var/lib/jprof && chmod 1777 /image/tmp /image/var/lib/jprof && \
    find /image -exec touch --no-dereference --date=@0 {} +

FROM scratch
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="jprof" \
      org.opencontainers.image.description="On-demand profiler for JVMs in Kubernetes" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image/ /
USER 65532:65532
ENTRYPOINT ["/jprof"]
CMD ["serve"]
