// Changing the value of one message: typed as text, compared with what is stored, saved as exactly these bytes, and sent.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { FaultText } from '../../components/show/fault.tsx'
import { Notice, PageHead, Skeleton } from '../../components/show/page.tsx'
import { keptEdit } from '../../data/edit-drafts.ts'
import { faultOf } from '../../data/faults.ts'
import { useSlow } from '../../data/live.ts'
import { bytesQuery, messageQuery } from '../../data/queries/messages.ts'
import { cameOnOneLine, layOut, readValue } from '../../domain/payload/value.ts'
import { bytesText } from '../../domain/words.ts'
import styles from './edit.module.css'
import { EditSteps } from './edit-steps.tsx'
import { ReplaceBytes } from './replace-bytes.tsx'

const route = getRouteApi('/messages/$id/edit')
/** Larger ones are downloaded, changed elsewhere, and put in place as a file. */
const maxEditedBytes = 1024 * 1024

export function EditPage() {
  const { id } = route.useParams()
  const detail = useQuery({ ...messageQuery(id), staleTime: Number.POSITIVE_INFINITY })
  const message = detail.data?.message
  const bytes = useQuery({ ...bytesQuery(id, 'value', message?.edits ?? 0), enabled: message !== undefined })
  const slow = useSlow(bytes.isPending)
  // What is edited stays what was read first; a change by somebody else is found when it is saved.
  const [base, setBase] = useState<{ etag: string | null; bytes: Uint8Array | null; kept: string | null } | null>(null)
  if (base === null && detail.data !== undefined && bytes.data !== undefined)
    setBase({ etag: detail.data.etag, bytes: bytes.data, kept: keptEdit(id, detail.data.etag) })
  const fault = detail.error ?? bytes.error
  const head = (
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
          {message.error_message} · {message.original_topic} → {message.consumer_group ?? 'consumer group not known'}
        </p>
      )}
    </PageHead>
  )
  if (base === null || message === undefined)
    return (
      <>
        {head}
        {fault === null ? null : <FaultText fault={faultOf(fault)} what="The value cannot be read" />}
        {slow && fault === null ? <Skeleton rows={8} /> : null}
      </>
    )
  const read = base.bytes === null ? null : readValue(base.bytes)
  if (base.bytes !== null && (read?.kind === 'bytes' || base.bytes.length > maxEditedBytes))
    return (
      <>
        {head}
        <ReplaceBytes id={id} etag={base.etag} size={bytesText(base.bytes.length)} isText={read?.kind !== 'bytes'} />
      </>
    )
  const stored = read === null || read.kind === 'bytes' ? '' : read.text
  const oneLine = cameOnOneLine(stored)
  const { kept } = base
  return (
    <>
      {head}
      {base.bytes === null ? (
        <Notice look="plain">The record has no value. What is typed here gives it one.</Notice>
      ) : null}
      {kept === null ? null : <Notice look="plain">This is what you typed before; it was not saved.</Notice>}
      <EditSteps
        message={message}
        etag={base.etag}
        stored={stored}
        begin={kept ?? (oneLine ? layOut(stored) : stored)}
        oneLine={oneLine}
        onTheirs={() => setBase(null)}
      />
    </>
  )
}
