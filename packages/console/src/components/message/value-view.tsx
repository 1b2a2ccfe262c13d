// A value from its bytes: JSON laid out by white space only, text as it is, or hexadecimal. Nothing is parsed and printed.

import { useMemo, useState } from 'react'
import { hexRows, toBase64 } from '../../domain/payload/hex.ts'
import { confluentSchemaId, readValue } from '../../domain/payload/value.ts'
import { bytesText, numberText } from '../../domain/words.ts'
import { Button } from '../controls/button.tsx'
import { DirectedText } from '../show/directed-text.tsx'
import { copyText } from '../toasts.tsx'
import styles from './message.module.css'
import { useLaidOut } from './use-laid-out.ts'

export type ValueLook = 'json' | 'text' | 'hex'

type Props = {
  /** Null: the record has no value. */
  bytes: Uint8Array | null
  /** What is shown: "value" or "key". */
  what: string
  look: ValueLook | null
  onLook: (look: ValueLook) => void
  hidden: boolean
  download: string
}

/** More is put into the page only when somebody wants it: laying out megabytes on one line would hold it up. */
const shownChars = 256 * 1024
const hexPage = 256

export function ValueView({ bytes, what, look, onLook, hidden, download }: Props) {
  const [shown, setShown] = useState(false)
  // The page is drawn every second, and megabytes need not be read each time.
  const read = useMemo(() => (bytes === null ? null : readValue(bytes)), [bytes])
  const laidOut = useLaidOut(read?.kind === 'json' ? read.text : null)
  if (bytes === null || read === null)
    return (
      <p className={styles.quiet}>
        {what === 'value' ? 'Tombstone: the record has a key and no value.' : 'The record has no key.'}
      </p>
    )
  if (hidden && !shown)
    return (
      <p className={styles.over}>
        <span>{bytesText(bytes.length)}, hidden</span>
        <Button onPress={() => setShown(true)}>Show</Button>
      </p>
    )
  const schema = confluentSchemaId(bytes)
  const natural: ValueLook = read.kind === 'bytes' ? 'hex' : read.kind
  const current = look === 'json' && read.kind !== 'json' ? natural : (look ?? natural)
  const text = read.kind === 'bytes' ? null : read.text
  const looks: ValueLook[] = [
    ...(read.kind === 'json' ? (['json'] as const) : []),
    ...(text === null ? [] : (['text'] as const)),
    'hex',
  ]
  return (
    <div className={styles.value}>
      <p className={styles.over}>
        <span>
          {read.kind === 'json' ? 'JSON' : read.kind} · {bytesText(bytes.length)}
          {schema === null ? '' : ` · Confluent framing, schema id ${schema}`}
        </span>
        {looks.length < 2
          ? null
          : looks.map((one) => (
              <Button key={one} look="quiet" aria-pressed={one === current} onPress={() => onLook(one)}>
                {one === 'json' ? 'JSON' : one === 'text' ? 'As it is' : 'Hex'}
              </Button>
            ))}
        <Button
          look="quiet"
          onPress={() =>
            void copyText(text ?? toBase64(bytes), text === null ? `the ${what} as base64` : `the ${what}`)
          }
        >
          {text === null ? 'Copy base64' : 'Copy'}
        </Button>
        <a href={download} download>
          Download
        </a>
      </p>
      {current === 'hex' || text === null ? (
        <HexView bytes={bytes} why={read.kind === 'bytes' ? read.why : null} />
      ) : (
        <>
          {current === 'json' && laidOut?.note ? <p className={styles.quiet}>{laidOut.note}</p> : null}
          <LongText text={current === 'json' ? (laidOut?.text ?? text) : text} />
        </>
      )}
    </div>
  )
}

export function LongText({ text }: { text: string }) {
  const [chars, setChars] = useState(shownChars)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <pre className={styles.text} tabIndex={0}>
        <DirectedText text={text.slice(0, chars)} />
      </pre>
      {chars < text.length ? (
        <p className={styles.over}>
          <span>
            The first {numberText(chars)} of {numberText(text.length)} characters. The copy has all of them.
          </span>
          <Button onPress={() => setChars(chars + 2 * shownChars)}>Show more</Button>
        </p>
      ) : null}
    </>
  )
}

function HexView({ bytes, why }: { bytes: Uint8Array; why: string | null }) {
  const [rows, setRows] = useState(hexPage)
  return (
    <>
      {why === null ? null : <p className={styles.quiet}>Shown as bytes: {why}.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it */}
      <pre className={styles.hex} tabIndex={0}>
        {hexRows(bytes, 0, rows)
          .map(({ offset, hex, ascii }) => `${offset}  ${hex.padEnd(47)}  ${ascii}`)
          .join('\n')}
      </pre>
      {rows * 16 < bytes.length ? (
        <Button onPress={() => setRows(rows + 4 * hexPage)}>Show more of {bytesText(bytes.length)}</Button>
      ) : null}
    </>
  )
}
