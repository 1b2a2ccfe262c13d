// What is said about a topic that looks like a DLQ topic.

import { counted, numberText } from '../words.ts'

type Said = {
  confidence: 'headers' | 'name' | 'weak'
  family: string | null
  read_by: readonly string[]
  cleanup_policy: string | null
}

/** Why it is on the list, and what speaks against ingesting it. */
export function candidateMarks({ confidence, family, read_by: readers, cleanup_policy: cleanup }: Said): string[] {
  const why = {
    headers: `headers of ${family ?? 'a dead letter'}`,
    name: 'by its name',
    weak: 'its name may mean this',
  }
  return [
    why[confidence],
    ...(readers.length === 0
      ? []
      : [`read by ${readers.slice(0, 2).join(', ')}${readers.length > 2 ? ' and others' : ''}`]),
    ...(cleanup?.includes('compact') ? ['compacted: one dead letter per key'] : []),
  ]
}

/** How long the reading takes, and what it needs in PostgreSQL. */
export function estimateText({ records, seconds, bytes }: { records: string; seconds: number; bytes: string }): string {
  if (records === '0') return 'It holds no records now.'
  const megabytes = Number(bytes) / 1_000_000
  const size = megabytes < 1 ? 'less than a megabyte' : `about ${numberText(Math.round(megabytes))} MB`
  const time = seconds < 90 ? counted(Math.max(1, seconds), 'second') : counted(Math.round(seconds / 60), 'minute')
  return `At most ${counted(Number(records), 'record')}: about ${time}, and ${size} in PostgreSQL.`
}

type Shares = { origin: number; group: number; key: number }

/** What the sampled records say of themselves. */
export function sharesText({ origin, group, key }: Shares): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`
  return `${percent(origin)} name their original topic, ${percent(group)} their consumer group, ${percent(key)} have a key.`
}
