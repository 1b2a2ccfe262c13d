// Writes the effective configuration as an equivalent config.yaml, without its secrets.

import { stringify } from 'yaml'
import { formatDuration } from '../../domain/retry/duration.ts'
import { type Config, configSchema, type SectionSchema, secretSettings, sectionSchema } from './config-schema.ts'
import { isDuration } from './config-values.ts'

const hidden = '***'

/** YAML with every setting, durations as people write them, secrets as "***". */
export function describeConfig(config: Config): string {
  return stringify(describeSection(config, configSchema, []), { nullStr: '', lineWidth: 0 })
}

function describeSection(section: object, schema: SectionSchema, path: readonly string[]): Record<string, unknown> {
  const described: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(section)) {
    if (value === undefined) continue
    const at = [...path, key]
    const entry = schema.entries[key]
    const inner = sectionSchema(entry)
    if (inner !== null) described[key] = describeSection(value, inner, at)
    else if (isSecret(at)) described[key] = hide(value)
    else described[key] = isDuration(entry) && typeof value === 'number' ? formatDuration(value) : value
  }
  return described
}

/** User names are no secrets, although they may be in files like secrets. */
function isSecret(path: readonly string[]): boolean {
  const last = path.at(-1) ?? ''
  return !/^user(name)?$/.test(last) && secretSettings.some((secret) => secret.join('.') === path.join('.'))
}

/** Masks only the password of a URL. */
function hide(value: unknown): unknown {
  if (typeof value !== 'string' || value === '') return value
  if (!/^[a-z]+:\/\//i.test(value)) return hidden
  if (!URL.canParse(value)) return hidden
  const url = new URL(value)
  if (url.password) url.password = hidden
  return url.href
}
