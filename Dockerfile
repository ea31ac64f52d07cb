# Builds hone's bundle and an image that runs a server: docs/operations/container/README.md.
#   docker build -t hone .
#   docker build -t hone:cuda --build-arg BASE=nvidia/cuda:13.0.1-devel-ubuntu24.04 .

# The image that hone runs on: Debian 12 or newer, or Ubuntu 24.04 or newer.
ARG BASE=debian:12-slim

FROM debian:12-slim AS build
WORKDIR /src
COPY . .
RUN scripts/setup --yes
RUN scripts/bundle --no-tarball --output /bundle && mv /bundle/hone-* /bundle/hone

FROM ${BASE}
# The judge compiles submissions.
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 5917 --user-group --home-dir /var/lib/hone --shell /usr/sbin/nologin hone \
    && install -d -m 0700 -o hone -g hone /var/lib/hone
# Not below /usr or /opt: sandboxed compilers can read those, and share/ holds references and golden answers.
COPY --from=build /bundle/hone /srv/hone
COPY docs/operations/container/server.yaml /etc/hone/server.yaml
COPY --chmod=0755 docs/operations/container/start /srv/hone/start

USER 5917:5917
# Keys and the journal.
VOLUME /var/lib/hone
WORKDIR /var/lib/hone
ENV PATH=/srv/hone:$PATH
EXPOSE 5917 5918
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["hone", "status", "--endpoint", "tcp://127.0.0.1:5918", "--key", "/var/lib/hone/monitor.key"]
ENTRYPOINT ["/srv/hone/start"]
CMD ["serve", "-c", "/etc/hone/server.yaml"]
