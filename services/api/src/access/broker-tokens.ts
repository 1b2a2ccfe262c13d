// The observability specification's own way to authenticate a deletion: a token of the channel and one of the
// consumer. Where both are right nobody needs a bearer token of ours; it opens that consumer's deletions, nothing else.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { AuthConfig } from 'dlq-core/runtime/auth-schema.ts'
import { type Access, anonymous } from './access.ts'
import { ApiError } from './api-error.ts'

export const brokerHeaders = { channel: 'x-broker-channel-token', consumer: 'x-broker-consumer-token' } as const

type Asked = { path: string; header: (name: string) => string | undefined }

export type BrokerTokens = {
  /** Who asks by these tokens; null where the request carries none. @throws {ApiError} 401 where one is wrong */
  access(asked: Asked): Access | null
  /** Whether the path is closed to those who need not authenticate otherwise. */
  guards(path: string): boolean
}

export function createBrokerTokens({
  channel_tokens,
  consumer_tokens,
}: Pick<AuthConfig, 'channel_tokens' | 'consumer_tokens'>): BrokerTokens {
  const channels = new Map(channel_tokens.map(({ channel, sha256 }) => [channel, sha256]))
  const consumers = new Map(
    consumer_tokens.map(({ channel, consumer, sha256 }) => [keyOf({ channel, consumer }), sha256]),
  )
  return {
    access({ path, header }) {
      const place = placeIn(path)
      const given = { channel: header(brokerHeaders.channel), consumer: header(brokerHeaders.consumer) }
      if (place === null || (given.channel === undefined && given.consumer === undefined)) return null
      // Both are looked at whatever the first one says: how long it takes tells nothing.
      const isRight = [
        isTokenOf(channels.get(place.channel), given.channel),
        isTokenOf(consumers.get(keyOf(place)), given.consumer),
      ]
      if (isRight.includes(false))
        throw new ApiError(
          'SYS_DLQ_UNAUTHENTICATED',
          'the channel’s and the consumer’s tokens are both required, and must be right',
        )
      return { actor: `${place.consumer} of ${place.channel}`, role: 'write', topics: [place.channel] }
    },
    guards(path) {
      const place = placeIn(path)
      return place !== null && (channels.has(place.channel) || consumers.has(keyOf(place)))
    },
  }
}

/** The tokens' access, else ours; where only the tokens guard a path, they are required. */
export async function authenticateWith(
  tokens: BrokerTokens,
  asked: Asked,
  authenticate: () => Promise<Access>,
): Promise<Access> {
  const byTokens = tokens.access(asked)
  if (byTokens !== null) return byTokens
  const access = await authenticate()
  if (access === anonymous && tokens.guards(asked.path))
    throw new ApiError('SYS_DLQ_UNAUTHENTICATED', `this needs ${brokerHeaders.channel} and ${brokerHeaders.consumer}`)
  return access
}

type Place = { channel: string; consumer: string }

function placeIn(path: string): Place | null {
  const found = /^\/channel\/([^/]+)\/consumer\/([^/]+)\//.exec(path)
  return found && { channel: decodeURIComponent(found[1]!), consumer: decodeURIComponent(found[2]!) }
}

function keyOf({ channel, consumer }: Place): string {
  return JSON.stringify([channel, consumer])
}

function isTokenOf(sha256: string | undefined, token: string | undefined): boolean {
  const hash = createHash('sha256')
    .update(token ?? '')
    .digest()
  const isEqual = timingSafeEqual(hash, Buffer.from(sha256 ?? '0'.repeat(64), 'hex'))
  return isEqual && sha256 !== undefined && token !== undefined
}
