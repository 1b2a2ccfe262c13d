// The section "schemas" of a config.yaml, as a service reads it.

import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import type { SchemasConfig } from 'dlq-core/runtime/config/schemas-schema.ts'

/** With one registry "main" for every topic; nothing listens there, unless the test gives another URL. */
export function schemasSection(more: { url?: string; rules?: object[]; timeout?: string } = {}): SchemasConfig {
  const { url = 'http://127.0.0.1:1', rules = [], timeout = '3s' } = more
  const section = { registries: [{ name: 'main', url, timeout }], rules }
  return loadConfig({ env: {}, yaml: JSON.stringify({ schemas: section }), needs: [] }).config.schemas!
}
