// One message at a glance, for the page of its group: its error, what happens next, its stack trace and its value.

import { StackView } from '../../components/message/stack-view.tsx'
import type { ValueLook } from '../../components/message/value-view.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { LongWords } from '../../components/show/long-words.tsx'
import { Skeleton } from '../../components/show/page.tsx'
import { StatusBadge } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { useMessage } from '../../data/queries/content/masked.ts'
import { whatNext } from '../../domain/message-words.ts'
import { MaskNotice } from './mask-notice.tsx'
import { DecodedValue, MessageBytes } from './message-content.tsx'
import styles from './message-page.module.css'

type Props = { id: string; look: ValueLook | null; onLook: (look: ValueLook) => void }

export function MessageGlance({ id, look, onLook }: Props) {
  const { detail, message } = useMessage(id, { refetchInterval: useLive(5000) })
  const now = useNow()
  const slow = useSlow(detail.isPending)
  if (message === undefined) {
    if (detail.error !== null) return <QueryFault query={detail} what="The message cannot be read" />
    return slow ? <Skeleton rows={6} /> : null
  }
  return (
    <div className={styles.glance}>
      <p className={styles.glanceError}>
        <LongWords text={message.error_message} />
      </p>
      <p className={styles.glanceState}>
        <StatusBadge status={message.status} /> {whatNext(message, now)} <Time at={message.last_failed_at} />
      </p>
      {message.error_stacktrace === null ? null : <StackView trace={message.error_stacktrace} />}
      <MaskNotice message={message} />
      <DecodedValue message={message} />
      <MessageBytes message={message} part="value" look={look} onLook={onLook} />
    </div>
  )
}
