// The end of `npm run version`: changesets has given all packages their next version; the root and the chart, which it
// does not know, get the same.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../../../', import.meta.url)

function replaceIn(name: string, pattern: RegExp, text: string): void {
  const path = fileURLToPath(new URL(name, root))
  writeFileSync(path, readFileSync(path, 'utf8').replace(pattern, text))
}

const { version } = JSON.parse(readFileSync(new URL('packages/dlq-client/package.json', root), 'utf8')) as {
  version: string
}
replaceIn('package.json', /"version": ".*?"/, `"version": "${version}"`)
replaceIn('infra/helm/dlq-manager/Chart.yaml', /^version: .*$/m, `version: ${version}`)
replaceIn('infra/helm/dlq-manager/Chart.yaml', /^appVersion: .*$/m, `appVersion: "${version}"`)
console.log(`the version is ${version} everywhere`)
