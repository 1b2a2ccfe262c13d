// What somebody's token sees, where a page would otherwise say that there is nothing.

import { listed } from '../words.ts'

/** Null where it sees all topics: then there is nothing indeed. */
export function noneSeenWords(topics: readonly string[] | null, kind: 'dlq' | 'original'): string | null {
  const what = kind === 'dlq' ? 'DLQ topic' : 'original topic'
  return topics === null
    ? null
    : `Your token sees the topics ${listed(topics)} alone, and no ${what} of these is known yet.`
}
