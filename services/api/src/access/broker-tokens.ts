// The observability specification's own way to authenticate a deletion: a token of the channel and one of the
// consumer. With both, a request needs no bearer token. They allow that consumer's deletions and nothing else.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { AuthConfig } from 'dlq-core/runtime/config/auth-schema.ts'
import { ApiError } from '../http/api-error.ts'
import { type Access, anonymous } from './access.ts'
import { WrongToken } from './authenticate.ts'

export const brokerHeaders = { channel: 'x-broker-channel-token', consumer: 'x-broker-consumer-token' } as const

type Asked = { path: string; header: (name: string) => string | undefined }

export type BrokerTokens = {
  /** The access that these tokens give. Null where the request carries none. @throws {ApiError} 401 where one is wrong */
  access(asked: Asked): Access | null
  /** Whether the path needs these tokens, even where no other authentication is configured. */
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
      // Both tokens are compared even if the first one is wrong, so that the time of the answer tells nothing.
      const isRight = [
        isTokenOf(channels.get(place.channel), given.channel),
        isTokenOf(consumers.get(keyOf(place)), given.consumer),
      ]
      if (isRight.includes(false))
        throw new WrongToken('the channel’s and the consumer’s tokens are both required, and must be right')
      return { actor: `${place.consumer} of ${place.channel}`, grants: [{ role: 'write', topics: [place.channel] }] }
    },
    guards(path) {
      const place = placeIn(path)
      return place !== null && (channels.has(place.channel) || consumers.has(keyOf(place)))
    },
  }
}

/** The access of these tokens, else that of the API's own authentication. Some paths require these tokens. */
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
