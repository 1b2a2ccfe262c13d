// What somebody sees of messages' content: of each topic, and of all topics together. A role says nothing about it; the
// token does (`payloads`), and the masks of the configuration.

import { hidesAll, type Mask, type MaskedTopics, type Masks } from 'dlq-core/domain/masks/create-masks.ts'
import type { KeySeal } from 'dlq-core/domain/masks/seal-key.ts'
import type { Acting } from '../access/access.ts'
import { ApiError } from '../http/api-error.ts'

export type Sight = {
  /** What is hidden of a message of these topics. Null: nothing. */
  maskOf(topics: MaskedTopics): Mask | null
  /** What is hidden of any message that the request could reach. Null: nothing. */
  readonly anywhere: Mask | null
  /** Opens the pseudonyms of keys; null where there are none. */
  readonly seal: KeySeal | null
  /** Is told which messages are shown although a mask goes for them. Null: nobody has asked to see behind masks. */
  readonly unmasked: UnmaskedMessages | null
}

/** The messages of one answer that were shown without their masks. */
export type UnmaskedMessages = {
  /** `id`: null where the row is of no single message. */
  note(id: string | null, topics: MaskedTopics | null): void
  readonly ids: ReadonlySet<string>
  /** Whether anything was shown. */
  readonly isAny: boolean
  /**
   * Says how many messages a stream has shown in the end. Waits for `recorded`, because a stream is produced as soon as it is
   * made, and a short one has ended before that.
   */
  ended(shown: number): Promise<void>
  /** The read is recorded; `onEnd` is what `ended` does. */
  recorded(onEnd: (shown: number) => Promise<void>): void
}

export const seesAll: Sight = { maskOf: () => null, anywhere: null, seal: null, unmasked: null }

const seesNothing: Sight = { maskOf: () => hidesAll, anywhere: hidesAll, seal: null, unmasked: null }

/** `unmask`: the request has asked for it. @throws {ApiError} 403 where the token may not see behind masks */
export function sightOf(masks: Masks | null, { payloads }: Pick<Acting, 'payloads'>, unmask: boolean): Sight {
  if (unmask && payloads !== 'full' && (masks !== null || payloads === 'none'))
    throw new ApiError(
      'SYS_DLQ_FORBIDDEN',
      `unmask: this token has payloads: ${payloads}; only one with payloads: full sees behind masks`,
    )
  if (payloads === 'none') return seesNothing
  if (masks === null) return seesAll
  const { maskOf, anywhere, seal } = masks
  if (!unmask) return { maskOf, anywhere, seal, unmasked: null }
  return { maskOf: () => null, anywhere: null, seal, unmasked: collectUnmasked(maskOf) }
}

/** Of an export, whose messages may be millions, the read keeps the filter. */
const maxNoted = 1000

function collectUnmasked(maskOf: Masks['maskOf']): UnmaskedMessages {
  const ids = new Set<string>()
  let isAny = false
  const recorded = Promise.withResolvers<(shown: number) => Promise<void>>()
  return {
    note(id, topics) {
      if (topics !== null && maskOf(topics) === null) return
      isAny = true
      if (id !== null && ids.size < maxNoted) ids.add(id)
    },
    ids,
    get isAny() {
      return isAny
    },
    ended: async (shown) => (await recorded.promise)(shown),
    recorded: recorded.resolve,
  }
}
