// Builds statements from many small parts. The driver would make a promise of every part: two hundred for a list over
// four statuses, and a good part of the request's cost. Here a part is two arrays, and the driver sees one statement.

import type postgres from 'postgres'
import type { Sql } from './sql.ts'

/** A part of a statement: pieces of SQL, and the values of the parameters between them. */
export type SqlText = { readonly strings: readonly string[]; readonly values: readonly unknown[] }

/** Nested parts become one part. Every other value becomes a parameter. */
export function sqlText(strings: TemplateStringsArray, ...values: readonly unknown[]): SqlText {
  const joined = { strings: [strings[0]!], values: [] as unknown[] }
  values.forEach((value, at) => {
    append(joined, isSqlText(value) ? value : { strings: ['', ''], values: [value] })
    append(joined, { strings: [strings[at + 1]!], values: [] })
  })
  return joined
}

/** Literal SQL. It must never contain text from a request. */
export function sqlWords(words: string): SqlText {
  return { strings: [words], values: [] }
}

export function joinSql(parts: readonly SqlText[], separator: string): SqlText {
  const joined = { strings: [''], values: [] as unknown[] }
  parts.forEach((part, at) => {
    if (at > 0) append(joined, sqlWords(separator))
    append(joined, part)
  })
  return joined
}

/** For the driver: a query, or a part of one. */
export function toQuery(sql: Sql, { strings, values }: SqlText): postgres.PendingQuery<postgres.Row[]> {
  return sql(templateOf(strings), ...(values as postgres.ParameterOrFragment<never>[]))
}

const templates = new Map<string, TemplateStringsArray>()

/** Returns the same array for the same text, because the driver keeps every array that it sees. */
function templateOf(strings: readonly string[]): TemplateStringsArray {
  const key = strings.join('\0')
  let template = templates.get(key)
  if (!template) {
    template = Object.assign([...strings], { raw: strings })
    templates.set(key, template)
  }
  return template
}

function append(to: { strings: string[]; values: unknown[] }, { strings, values }: SqlText): void {
  to.strings[to.strings.length - 1] += strings[0]!
  to.strings.push(...strings.slice(1))
  to.values.push(...values)
}

function isSqlText(value: unknown): value is SqlText {
  return typeof value === 'object' && value !== null && 'strings' in value && 'values' in value
}
