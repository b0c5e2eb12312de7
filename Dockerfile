# One node of OpenPO, for either engine (docs/operating.md).
#
# Not built by those who wrote it: no container engine ran there. Each step was run by hand, as root and as an unprivileged user.
#
#   docker build --tag openpo .
#   docker run --init --publish 127.0.0.1:8080:8080 --volume openpo:/data openpo
#
# By tag and not by digest: a rebuild brings the base image's security updates, and 24 is the Node that the tests run on.

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json build.ts ./
COPY src src
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production \
    OPENPO_HOST=0.0.0.0 \
    OPENPO_DATA_DIR=/data
# What the program is made of belongs to root; what it writes is below /data, and nothing is there with OPENPO_DATABASE_URL.
RUN install --directory --owner=node --group=node --mode=0700 /data
WORKDIR /app
COPY --from=dependencies /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json ./
# The user node; by number, so that Kubernetes can tell that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
# Whether it can serve, database included. An orchestrator that restarts what is unhealthy should ask /healthz instead: a restart
# does not bring a database back.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No shell between: SIGTERM reaches the service, which then has up to 60 seconds to finish what runs.
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
