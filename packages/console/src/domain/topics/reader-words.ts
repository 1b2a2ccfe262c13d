// A consumer group that reads a topic, in words.

import { counted } from '../words.ts'

export type ReaderFacts = { readonly state: string; readonly members: number | null }

/** What Kafka calls Stable, Empty and so on. */
export function readerWords({ state, members }: ReaderFacts): string {
  if (state === 'not_allowed') return 'Kafka does not tell the retrier'
  if (state === 'Dead') return 'gone'
  if (state === 'Empty' || members === 0) return 'nobody reads'
  const words =
    state === 'Stable'
      ? 'reads'
      : state.startsWith('Preparing') || state.startsWith('Completing')
        ? 'is being divided'
        : state
  return members === null ? words : `${words}, ${counted(members, 'member')}`
}
