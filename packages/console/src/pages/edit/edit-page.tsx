// Changing one message: typed as text, compared with what is stored, saved as exactly these bytes, and sent.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { FaultText } from '../../components/show/fault.tsx'
import { Notice, PageHead, Skeleton } from '../../components/show/page.tsx'
import { keptEdit } from '../../data/drafts/edit-drafts.ts'
import { faultOf } from '../../data/faults.ts'
import { useSlow } from '../../data/live.ts'
import { useMessage } from '../../data/queries/content/masked.ts'
import { bytesQuery, jsonValueQuery, type MessageDetail } from '../../data/queries/messages.ts'
import { whyNotChanged } from '../../domain/message-words.ts'
import { decodingText, isWrittenBySchema } from '../../domain/payload/decoding.ts'
import { type EditDraft, headerCells, keyCell } from '../../domain/payload/edit-draft.ts'
import { toBase64 } from '../../domain/payload/hex.ts'
import { hiddenParts } from '../../domain/payload/hidden-parts.ts'
import { cameOnOneLine, layOut, onOneLine, readValue } from '../../domain/payload/value.ts'
import { bytesText, capital, headOf } from '../../domain/words.ts'
import { MaskNotice } from '../message/mask-notice.tsx'
import styles from './edit.module.css'
import { EditSteps } from './edit-steps.tsx'

/** Enough to know the message again: the editor stays in sight. */
const shownErrorChars = 200
const route = getRouteApi('/messages/$id/edit')
/** Larger ones are downloaded, changed elsewhere, and put in place as a file. */
const maxEditedBytes = 1024 * 1024

type Base = {
  message: MessageDetail
  etag: string | null
  stored: EditDraft
  whyFile: string | null
  /** The value is JSON that was decoded, and is written with its schema. */
  decoded: boolean
  kept: EditDraft | null
  /** What is kept was typed for another state of the message. */
  isStale: boolean
  /** Of the beginnings on this page. */
  number: number
}

export function EditPage() {
  const { id } = route.useParams()
  const { detail, message, unmask } = useMessage(id, { staleTime: Number.POSITIVE_INFINITY })
  const edits = message?.edits ?? 0
  const hidden = hiddenParts(message?.hidden)
  // What is not seen whole cannot be put back whole.
  const isSeen = message !== undefined && !hidden.value && !hidden.key && !hidden.headers
  const value = useQuery({ ...bytesQuery(id, 'value', { edits, unmask }), enabled: isSeen })
  const key = useQuery({ ...bytesQuery(id, 'key', { edits, unmask }), enabled: isSeen })
  const bySchema = message !== undefined && isWrittenBySchema(message.decoding)
  const decoded = useQuery({
    ...jsonValueQuery({ id, updated_at: message?.updated_at ?? '' }, unmask),
    enabled: bySchema && isSeen,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const slow = useSlow(value.isPending || key.isPending || decoded.isLoading)
  // What is edited stays what was read first; a change by somebody else is found when it is saved.
  const [base, setBase] = useState<Base | null>(null)
  const [begun, setBegun] = useState(0)
  const known = !bySchema || decoded.data !== undefined
  if (
    base === null &&
    detail.data !== undefined &&
    isSeen &&
    value.data !== undefined &&
    key.data !== undefined &&
    known
  ) {
    const kept = keptEdit(id)
    const { etag } = detail.data
    setBase({
      ...{ message, etag: kept === null ? etag : kept.etag, number: begun },
      ...storedOf(message, { value: value.data, key: key.data, decoded: decoded.data ?? null }),
      kept: kept?.draft ?? null,
      isStale: kept !== null && kept.etag !== etag,
    })
  }
  const fault = detail.error ?? value.error ?? key.error ?? decoded.error
  const readAgain = () => {
    const failed = [detail, value, key, decoded].filter(({ error }) => error !== null)
    return Promise.all(failed.map((query) => query.refetch()))
  }
  const unchangeable = base === null ? null : whyNotChanged(base.message)
  const stored = base?.stored.value ?? ''
  const oneLine = cameOnOneLine(stored)
  return (
    <>
      <PageHead
        title="Change and send"
        back={
          <Link to="/messages/$id" params={{ id }} search={{}}>
            The message
          </Link>
        }
      >
        {message === undefined ? null : (
          <p className={styles.quiet}>
            <bdi>
              <DirectedText text={headOf(message.error_message, shownErrorChars)} />
            </bdi>{' '}
            · {message.original_topic} → {message.consumer_group ?? 'consumer group not known'}
          </p>
        )}
      </PageHead>
      {base === null ? (
        <>
          {fault === null ? null : (
            <FaultText fault={faultOf(fault)} what="The message cannot be read" onRetry={readAgain} />
          )}
          {message === undefined || isSeen ? null : (
            <>
              <MaskNotice message={message} />
              <p>What is hidden from you cannot be changed here: a change would have to put it back.</p>
            </>
          )}
          {slow && isSeen && fault === null ? <Skeleton rows={8} /> : null}
        </>
      ) : (
        <>
          {unchangeable === null ? null : <Notice>{unchangeable}</Notice>}
          {base.stored.value === null && base.whyFile === null ? (
            <Notice look="plain">The record has no value. What is typed here gives it one.</Notice>
          ) : null}
          {base.message.decoding === null ? null : (
            <Notice look="plain">
              {capital(decodingText(base.message.decoding))}.
              {base.decoded
                ? ' It is written with the same schema, and bytes that you do not change stay as they are.'
                : ''}
            </Notice>
          )}
          <EditSteps
            key={base.number}
            {...{ message: base.message, etag: base.etag, stored: base.stored, whyFile: base.whyFile, oneLine }}
            decoded={base.decoded}
            begin={base.kept ?? (oneLine ? { ...base.stored, value: layOut(stored) } : base.stored)}
            isKept={base.kept !== null}
            isStale={base.isStale}
            onRestart={() => {
              setBegun(begun + 1)
              setBase(null)
            }}
          />
        </>
      )}
    </>
  )
}

/** As it is stored, as far as it can be typed. */
function storedOf(
  message: MessageDetail,
  { value, key, decoded }: { value: Uint8Array | null; key: Uint8Array | null; decoded: string | null },
): Pick<Base, 'stored' | 'whyFile' | 'decoded'> {
  const isDecoded = decoded !== null && decoded.length <= maxEditedBytes
  const read = value === null ? null : readValue(value)
  const whyFile =
    value === null || read === null || isDecoded
      ? null
      : read.kind === 'bytes'
        ? `The value has ${bytesText(value.length)}: ${read.why}.`
        : value.length > maxEditedBytes
          ? `The value has ${bytesText(value.length)}, too much for an editor.`
          : null
  const keyRead = key === null ? null : readValue(key)
  const typed = whyFile !== null || read === null || read.kind === 'bytes' ? null : read.text
  return {
    whyFile,
    decoded: isDecoded,
    stored: {
      value: isDecoded ? onOneLine(decoded) : typed,
      file: null,
      key: keyCell(
        key,
        keyRead === null || keyRead.kind === 'bytes' ? null : keyRead.text,
        toBase64(key ?? new Uint8Array()),
      ),
      headers: headerCells(message.headers ?? []),
      target: message.target_topic ?? '',
    },
  }
}
