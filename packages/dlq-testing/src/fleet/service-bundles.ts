// Our services as a few files each. Most of a service's start is finding a thousand modules, and tests start services
// two hundred times: bundled, a start takes half of the CPU. What ships, and what the soak starts, are the sources.

import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { serviceMain, serviceNames } from './service-process.ts'

/** Packages that read files beside their own, are native, or have parts that we take by path. They stay where they are. */
const external = /^(@opentelemetry\/(?!api$)|graphile-worker|kafkajs|lz4-napi|pino|piscina|snappy)/

/** A part of the retrier, which its own tests start as often as the fleet's tests start services. */
const testWorker = join(dirname(serviceMain('retrier')), 'worker/test-worker.ts')

const keepPlaces: Plugin = {
  name: 'keep-places',
  async resolveId(name, importer) {
    if (importer === undefined || isBuiltin(name) || !external.test(name)) return null
    const found = await this.resolve(name, importer, { skipSelf: true })
    return found && { id: pathToFileURL(found.id).href, external: true }
  },
  /** A module finds its files where its source is, and is never the program itself. */
  transform(code, id) {
    if (!code.includes('import.meta')) return null
    const url = JSON.stringify(pathToFileURL(id).href)
    return code.replaceAll('import.meta.url', url).replaceAll('import.meta.main', 'false')
  },
}

/** Writes `ingester.mjs`, `retrier.mjs`, `api.mjs` and `test-worker.mjs`, with what they share, into `dir`. Takes two seconds. */
export async function bundleServices(dir: string): Promise<void> {
  const services = Object.fromEntries(serviceNames.map((name) => [name, serviceMain(name)]))
  const input = { ...services, 'test-worker': testWorker }
  await using bundle = await rolldown({ input, platform: 'node', plugins: [keepPlaces], logLevel: 'warn' })
  await bundle.write({ dir, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
}
