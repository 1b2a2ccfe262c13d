#!/bin/sh
# assemble.sh DEST: lays out in DEST (made here) what the services and the migrator need to run: their sources
# without tests, and their production dependencies as pnpm-lock.yaml has them. The Dockerfile runs this, and so does
# the test that runs a fleet from the result. Needs Node 20 or later and a POSIX shell.
set -eu
cd "$(dirname "$0")/../.."
mkdir "$1"
dest=$(cd "$1" && pwd)

copy() {
  for path in "$@"; do
    mkdir -p "$dest/$(dirname "$path")"
    cp "$path" "$dest/$path"
  done
}

copy package.json pnpm-workspace.yaml pnpm-lock.yaml patches/*.patch
for folder in db infra/image packages/dlq-core packages/saga-core services/ingester services/retrier services/api; do
  [ -d "$folder" ] || continue
  find "$folder" \( -name node_modules -o -name fixtures \) -prune -o -type f \
    \( -name '*.ts' -o -name '*.sql' -o -name package.json \) ! -name '*.test.ts' ! -name 'test-*.ts' -print |
    while read -r file; do copy "$file"; done
done

# The console is built apart, from all packages, because building it needs what running does not.
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cp package.json pnpm-workspace.yaml pnpm-lock.yaml tsconfig.json "$build"
tar -cf - --exclude node_modules --exclude dist patches packages db | tar -xf - -C "$build"
(
  cd "$build"
  npx -y pnpm@12.21.0 install --frozen-lockfile --ignore-scripts --reporter=silent --filter console...
  npm run -s --prefix packages/console build -- --logLevel warn
)
mkdir -p "$dest/packages/console"
cp -R "$build/packages/console/dist" "$dest/packages/console/dist"

cd "$dest"
npx -y pnpm@12.21.0 install --prod --frozen-lockfile --reporter=silent \
  --filter './services/*' --filter './packages/*' --filter ./db --filter ./infra/image
npx -y pnpm@12.21.0 sbom --prod --sbom-format cyclonedx --sbom-type application --out "$dest/sbom.cdx.json" \
  --filter './services/*' --filter './packages/*' --filter ./db --filter ./infra/image >/dev/null
# The workspace's root depends on Node itself, which the image has; the rest is read by compilers and debuggers.
rm -rf node_modules/node node_modules/.bin/node node_modules/.pnpm/node@* node_modules/.pnpm/node_modules/node
find node_modules -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' \) -delete
rm -rf pnpm-workspace.yaml pnpm-lock.yaml patches
