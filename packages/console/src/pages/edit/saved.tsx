// After saving: what became of it, in its timeline; and the same change for the others of its group.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { buttonClass } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { FaultText } from '../../components/show/fault.tsx'
import { ActionBar, Section, Verdict } from '../../components/show/page.tsx'
import { StatusBadge } from '../../components/show/status.tsx'
import { printDraftHash } from '../../data/drafts/run-drafts.ts'
import { isAnswerLost, type PageFault } from '../../data/faults.ts'
import { useLive, useNow } from '../../data/live.ts'
import { groupQuery } from '../../data/queries/groups.ts'
import {
  auditQuery,
  editsQuery,
  type MessageDetail,
  messageQuery,
  type RetryAnswer,
} from '../../data/queries/messages.ts'
import { whatNext } from '../../domain/message-words.ts'
import { type PatchLine, patchText, patchWords, withTests } from '../../domain/payload/patch-from-texts.ts'
import { capital, counted } from '../../domain/words.ts'
import { Timeline } from '../message/timeline.tsx'
import styles from './edit.module.css'

type Props = {
  /** As it was when it was opened. */
  before: MessageDetail
  /** Null: saved only. */
  sent: RetryAnswer | null
  /** Why it was not sent after it was saved. */
  fault: PageFault | null
  onSend: () => void
  reason: string
  /** From the old value to the new one; null where none can be told. */
  lines: readonly PatchLine[] | null
  /** The text that the lines begin from, for "only where it is". */
  stored: string
}

export function Saved({ before, sent, fault, onSend, reason, lines, stored }: Props) {
  const { id, group_id } = before
  const now = useNow()
  const live = useLive(2000)
  const detail = useQuery({ ...messageQuery(id), refetchInterval: live })
  const group = useQuery({ ...groupQuery(group_id ?? ''), enabled: group_id !== null, refetchInterval: live })
  const [only, setOnly] = useState(false)
  const message = detail.data?.message ?? before
  const edits = useQuery({ ...editsQuery(id), refetchInterval: live }).data ?? []
  const audit = useQuery({ ...auditQuery('message', id), refetchInterval: live }).data ?? []
  const others = group.data === undefined ? null : openOthers(group.data.counts, message.status)
  const canApply = group_id !== null && lines !== null && lines.length > 0
  const first = useRef<HTMLAnchorElement>(null)
  // The keyboard goes on from here: what comes next is one key away.
  useEffect(() => first.current?.focus(), [])
  const search = { kind: 'retry', group: group_id ?? '', ...(before.status === 'DEAD' ? { force: 'true' } : {}) }
  const patch = lines === null ? null : patchText(only ? withTests(lines, stored) : lines)
  return (
    <>
      <Verdict>
        {sent === null ? 'Saved, and not sent.' : `Saved. ${capital(sent.message).replace(/\.$/, '')}.`}{' '}
        {sent === null ? '' : 'Whether it worked shows in what comes back.'}
      </Verdict>
      {fault === null ? null : (
        <FaultText
          fault={fault}
          what={`The change is saved; the message ${isAnswerLost(fault) ? 'may have been sent all the same' : 'is not sent'}`}
          // Somebody has changed it since: its page shows what would be sent.
          {...(fault.status === 412 ? {} : { onRetry: onSend })}
        />
      )}
      <p className={styles.state} role="status">
        <StatusBadge status={message.status} plain /> {whatNext(message, now)}
      </p>
      <ActionBar label="What next">
        {canApply ? (
          <Link
            ref={first}
            to="/runs/new"
            search={search}
            hash={printDraftHash({ patch, reason })}
            className={buttonClass('primary')}
          >
            {others === null
              ? 'Apply to the others of its group…'
              : `Apply to the other ${counted(others, 'message')}…`}
          </Link>
        ) : null}
        <Link
          {...(canApply ? {} : { ref: first })}
          to="/messages/$id"
          params={{ id }}
          search={{}}
          className={buttonClass(canApply ? 'plain' : 'primary')}
        >
          Watch the message
        </Link>
        {group_id === null ? null : (
          <Link to="/groups/$id" params={{ id: group_id }} className={buttonClass('quiet')}>
            The error group
          </Link>
        )}
      </ActionBar>
      {canApply ? (
        <Section title="The change, for the others">
          <ul className={styles.lines} aria-label="The change">
            {lines.map((line) => (
              <li key={patchWords(line)}>
                <code>{patchWords(line)}</code>
              </li>
            ))}
          </ul>
          <Checkbox checked={only} onChange={setOnly}>
            Only where the value is what it was here
          </Checkbox>
        </Section>
      ) : null}
      <Section title="What happened">
        <Timeline message={message} etag={detail.data?.etag ?? null} edits={edits} audit={audit} />
      </Section>
    </>
  )
}

/** What of its group still wants something, without itself. */
function openOthers(counts: { PENDING: number; DEAD: number }, own: string): number {
  return Math.max(0, counts.PENDING + counts.DEAD - (own === 'PENDING' || own === 'DEAD' ? 1 : 0))
}
