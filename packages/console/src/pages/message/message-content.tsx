// The value and the key of a message: decoded, as bytes, or as far as masks leave them. What is hidden is said to be hidden.

import { useQuery } from '@tanstack/react-query'
import { DecodedView } from '../../components/message/decoded-view.tsx'
import { type ValueLook, ValueView } from '../../components/message/value-view.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { apiBase } from '../../data/api.ts'
import { useSlow } from '../../data/live.ts'
import { useUnmask } from '../../data/queries/content/masked.ts'
import { bytesPath, bytesQuery, jsonValueQuery, type MessageDetail } from '../../data/queries/messages.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { decodingText } from '../../domain/payload/decoding.ts'
import { hiddenParts } from '../../domain/payload/hidden-parts.ts'
import { bytesText, listed } from '../../domain/words.ts'
import styles from './message-page.module.css'

/** The value as JSON, where it was decoded, or the reason why it was not. Nothing for plain JSON and text. */
export function DecodedValue({ message }: { message: MessageDetail }) {
  const { payloads } = useStore(settings)
  const { decoding } = message
  const unmask = useUnmask(message.id)
  const decoded = useQuery({ ...jsonValueQuery(message, unmask), enabled: decoding?.state === 'decoded' })
  const slow = useSlow(decoded.isFetching && decoded.data === undefined)
  if (decoding === null) return null
  if (decoded.error !== null) return <QueryFault query={decoded} what="The value cannot be decoded" />
  const json = decoded.data ?? null
  return (
    <DecodedView
      said={slow ? `${decodingText(decoding)} · being read …` : decodingText(decoding)}
      what="decoded"
      json={json}
      hidden={payloads === 'hidden'}
    />
  )
}

type Props = {
  message: MessageDetail
  part: 'value' | 'key'
  look: ValueLook | null
  onLook: (look: ValueLook) => void
}

export function MessageBytes({ message, part, look, onLook }: Props) {
  const { id, edits, key, value_bytes: size } = message
  const hidden = hiddenParts(message.hidden)
  const unmask = useUnmask(id)
  const isHidden = part === 'value' ? hidden.value : hidden.key
  const isAbsent = !isHidden && (part === 'value' ? size === null : key === null)
  const bytes = useQuery({ ...bytesQuery(id, part, { edits, unmask }), enabled: !isHidden && !isAbsent })
  const slow = useSlow(bytes.isFetching && bytes.data === undefined)
  const { payloads } = useStore(settings)
  if (message.erased_at !== null) return <p className={styles.quiet}>The {part} was erased.</p>
  if (isHidden) return part === 'value' ? <MaskedValue message={message} /> : <MaskedKey message={message} />
  if (bytes.error !== null) return <QueryFault query={bytes} what={`The ${part} cannot be read`} />
  if (bytes.data === undefined && !isAbsent)
    return slow ? (
      <p role="status" className={styles.quiet}>
        {part === 'value' && size !== null ? `The value of ${bytesText(size)}` : `The ${part}`} is being read …
      </p>
    ) : null
  return (
    <ValueView
      bytes={bytes.data ?? null}
      what={part}
      look={look}
      onLook={onLook}
      hidden={payloads === 'hidden'}
      download={`${apiBase}${bytesPath(id, part, unmask)}`}
    />
  )
}

/** What masks leave of the value: its bytes are not given out. */
function MaskedValue({ message }: { message: MessageDetail }) {
  const { payloads } = useStore(settings)
  const { wholeValue, places } = hiddenParts(message.hidden)
  const isDecoded = message.decoding?.state === 'decoded'
  const json = useQuery({ ...jsonValueQuery(message, null), enabled: !wholeValue && !isDecoded })
  const slow = useSlow(json.isFetching && json.data === undefined)
  if (wholeValue) return <p>The value is hidden from you by a mask. It is there, and a retry sends it whole.</p>
  const said =
    places.length === 0
      ? 'Nothing in this value is hidden from you; only its bytes are.'
      : `Hidden from you by a mask: ${listed(places)}.`
  if (isDecoded) return <p className={styles.quiet}>{said}</p>
  if (json.error !== null) return <QueryFault query={json} what="The value cannot be read" />
  return (
    <DecodedView
      said={slow ? `${said} It is being read …` : said}
      what="what is left"
      json={json.data ?? null}
      hidden={payloads === 'hidden'}
    />
  )
}

function MaskedKey({ message: { key } }: { message: MessageDetail }) {
  const sealed = key?.value?.startsWith('sealed:') ? key.value : null
  if (sealed === null) return <p>The key is hidden from you by a mask. It is there, and a retry sends it.</p>
  return (
    <>
      <p>The key is hidden from you by a mask. Equal keys have this pseudonym:</p>
      <p>
        <code>{sealed}</code>
      </p>
    </>
  )
}
