# syntax=docker/dockerfile:1
# The service alone: its database is outside, and so is the npm package that brings a Node.js, as this image has one.
# scripts/check-image.ts runs these steps where no container engine does.
FROM node:24-slim AS console
WORKDIR /console
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY src ./src
COPY console ./console
RUN node console/build.ts

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production
ENV HOST=0.0.0.0
ENV DATA_DIR=/tmp/causeway
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --omit=optional --ignore-scripts
COPY src ./src
COPY embedded ./embedded
COPY connectors ./connectors
COPY generated ./generated
COPY --from=console /console/generated/console ./generated/console
COPY scripts/administer.ts scripts/distribute.ts scripts/organization.ts scripts/rotate-keys.ts ./scripts/
COPY docs ./docs
COPY README.md LICENSE ./
USER node
EXPOSE 8080
HEALTHCHECK --start-period=90s CMD node -e "fetch('http://127.0.0.1:' + (process.env.PORT || 8080) + '/health/live').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
CMD ["node", "--max-semi-space-size=16", "src/main.ts"]
