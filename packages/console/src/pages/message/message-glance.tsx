// One message at a glance, for the page of its group: its error, what happens next, its stack trace and its value.

import { useQuery } from '@tanstack/react-query'
import { DecodedView } from '../../components/message/decoded-view.tsx'
import { StackView } from '../../components/message/stack-view.tsx'
import { type ValueLook, ValueView } from '../../components/message/value-view.tsx'
import { FaultText } from '../../components/show/fault.tsx'
import { Skeleton } from '../../components/show/page.tsx'
import { StatusBadge } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import { apiBase } from '../../data/api.ts'
import { faultOf } from '../../data/faults.ts'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { bytesQuery, decodedQuery, type MessageDetail, messageQuery } from '../../data/queries/messages.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { whatNext } from '../../domain/message-words.ts'
import styles from './message-page.module.css'

type Props = { id: string; look: ValueLook | null; onLook: (look: ValueLook) => void }

export function MessageGlance({ id, look, onLook }: Props) {
  const detail = useQuery({ ...messageQuery(id), refetchInterval: useLive(5000) })
  const message = detail.data?.message
  const now = useNow()
  const slow = useSlow(detail.isPending)
  if (message === undefined) {
    if (detail.error !== null) return <FaultText fault={faultOf(detail.error)} what="The message cannot be read" />
    return slow ? <Skeleton rows={6} /> : null
  }
  return (
    <div className={styles.glance}>
      <p className={styles.glanceError}>{message.error_message}</p>
      <p className={styles.glanceState}>
        <StatusBadge status={message.status} /> {whatNext(message, now)} <Time at={message.last_failed_at} />
      </p>
      {message.error_stacktrace === null ? null : <StackView trace={message.error_stacktrace} />}
      <DecodedValue message={message} />
      <MessageBytes id={id} edits={message.edits} part="value" look={look} onLook={onLook} />
    </div>
  )
}

/** The value as JSON, where it was decoded, or the reason why it was not. Nothing for plain JSON and text. */
export function DecodedValue({ message: { id, decoding, updated_at } }: { message: MessageDetail }) {
  const { payloads } = useStore(settings)
  const decoded = useQuery({ ...decodedQuery(id, updated_at), enabled: decoding?.state === 'decoded' })
  if (decoding === null) return null
  if (decoded.error !== null) return <FaultText fault={faultOf(decoded.error)} what="The value cannot be decoded" />
  return <DecodedView decoding={decoding} json={decoded.data ?? null} hidden={payloads === 'hidden'} />
}

type BytesProps = Props & { part: 'value' | 'key'; edits: number }

export function MessageBytes({ id, edits, part, look, onLook }: BytesProps) {
  const bytes = useQuery(bytesQuery(id, part, edits))
  const { payloads } = useStore(settings)
  if (bytes.error !== null) return <FaultText fault={faultOf(bytes.error)} what={`The ${part} cannot be read`} />
  if (bytes.data === undefined) return null
  return (
    <ValueView
      bytes={bytes.data}
      what={part}
      look={look}
      onLook={onLook}
      hidden={payloads === 'hidden'}
      download={`${apiBase}/api/v1/dlq/messages/${id}/${part}`}
    />
  )
}
