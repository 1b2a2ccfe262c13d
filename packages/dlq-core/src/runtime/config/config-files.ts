// Reads the configuration of a process from its config.yaml, its environment and the files of its secrets, and
// reads it again when one of those files has changed.

import { existsSync, readFileSync } from 'node:fs'
import { type ConfigSource, loadConfig, readSecretFile } from './config.ts'
import type { Config } from './config-schema.ts'

export type ConfigFiles = {
  config: Config
  warnings: string[]
  /**
   * The present configuration, or null if no file has changed since the last call. Only secrets may
   * change while a service runs. Throws if the configuration is faulty.
   */
  reread(): Config | null
}

/** The given file, else DLQ_CONFIG's, else config.yaml in the working directory if it exists. */
export function configPath(named: string | undefined, env: ConfigSource['env']): string | null {
  const path = named || env.DLQ_CONFIG
  if (path) return path
  return existsSync('config.yaml') ? 'config.yaml' : null
}

/** @throws {ConfigError} with every fault; or what reading `path` throws */
export function readConfig(path: string | null, { env, needs }: Pick<ConfigSource, 'env' | 'needs'>): ConfigFiles {
  const readYaml = () => (path === null ? null : readFileSync(path, 'utf8'))
  let yaml = readYaml()
  const named = path === null ? {} : { yamlName: path }
  const loaded = loadConfig({ env, yaml, needs, ...named })
  let { files } = loaded
  return {
    config: loaded.config,
    warnings: loaded.warnings,
    reread() {
      const text = readYaml()
      const isSame = text === yaml && [...files].every(([file, content]) => readSecretFile(file) === content)
      if (isSame) return null
      const fresh = loadConfig({ env, yaml: text, needs, ...named })
      yaml = text
      files = fresh.files
      return fresh.config
    },
  }
}
