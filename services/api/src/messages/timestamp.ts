// Times as the specification writes them: 2026-02-20T10:30:00.000+00:00

import * as v from 'valibot'

export const timestampText = v.pipe(v.string(), v.isoTimestamp())

export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, -1)}+00:00`
}
