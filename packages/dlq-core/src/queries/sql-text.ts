// Statements put together from many small parts. The driver makes a promise of every part, which for a list over
// four statuses were two hundred promises a request and a good part of what it cost; here a part is two arrays,
// and the driver sees one.

import type postgres from 'postgres'
import type { Sql } from './sql.ts'

/** A part of a statement: pieces of SQL, and the values of the parameters between them. */
export type SqlText = { readonly strings: readonly string[]; readonly values: readonly unknown[] }

/** Parts inside parts become one; every other value becomes a parameter. */
export function sqlText(strings: TemplateStringsArray, ...values: readonly unknown[]): SqlText {
  const joined = { strings: [strings[0]!], values: [] as unknown[] }
  values.forEach((value, at) => {
    append(joined, isSqlText(value) ? value : { strings: ['', ''], values: [value] })
    append(joined, { strings: [strings[at + 1]!], values: [] })
  })
  return joined
}

/** SQL as it stands; never with anything in it that somebody has sent. */
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

/** The same one for the same text, because the driver remembers every one that it sees. */
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
