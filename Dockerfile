# One node of OpenPO, on SQLite or PostgreSQL (docs/operating.md).
#
# The authors have not built this image, since no container engine was available. Each step was run by hand, as root and as an
# unprivileged user.
#
#   docker build --tag openpo .
#   docker run --init --publish 127.0.0.1:8080:8080 --volume openpo:/data openpo
#
# The base image is named by tag, not by digest, so that a rebuild brings its security updates. The tests run on Node 24.

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
# The compiler is among what checks the project. Nothing of it is in the image.
COPY test/package.json test/package-lock.json test/install.ts test/
RUN npm ci --prefix test --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json build.ts ./
COPY src src
COPY client client
COPY console console
RUN npm run build

FROM node:24-slim AS dependencies
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production \
    OPENPO_HOST=0.0.0.0 \
    OPENPO_DATA_DIR=/data
# Fonts for documents in Chinese, Japanese, Korean, Arabic, Hebrew, Thai and Devanagari (docs/documents.md).
RUN apt-get update && apt-get install --yes --no-install-recommends fonts-noto-cjk fonts-noto-core && rm -rf /var/lib/apt/lists/*
# The program's files belong to root. The program writes below /data only, and nowhere with OPENPO_DATABASE_URL.
RUN install --directory --owner=node --group=node --mode=0700 /data
WORKDIR /app
COPY --from=dependencies /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json ./
# The user `node`, by number so that Kubernetes can verify that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
# Checks whether the node can serve, database included. An orchestrator that restarts unhealthy containers should check /healthz
# instead: a restart does not bring a database back.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Started without a shell, so that SIGTERM reaches the service. It then has up to 60 seconds to finish running requests.
# A small young generation: see docs/operating.md, "Sizes and limits".
ENTRYPOINT ["node", "--max-semi-space-size=8", "dist/main.js"]
CMD ["serve"]
