// The story of a message, the newest first: failures, attempts and what became of them, edits, and what people did.

import { HiddenNote } from '../../components/show/hidden-note.tsx'
import { LongWords } from '../../components/show/long-words.tsx'
import { Time } from '../../components/show/time.tsx'
import type { AuditEntry, Edit, MessageDetail } from '../../data/queries/messages.ts'
import { actionWords } from '../../domain/audit/audit-words.ts'
import { attemptWords, whoSent } from '../../domain/message-words.ts'
import styles from './message-page.module.css'

type Props = { message: MessageDetail; edits: readonly Edit[]; audit: readonly AuditEntry[] }

export function Timeline({ message, edits, audit }: Props) {
  const entries = [
    { at: message.first_failed_at, id: 'first', text: `Failed for the first time: ${message.error_message}` },
    ...message.attempts.map((attempt) => ({
      at: attempt.settled_at ?? attempt.started_at,
      id: attempt.attempt_id,
      text: `${attempt.number}. ${attemptWords(attempt)} (${whoSent(attempt)})`,
    })),
    ...message.attempts.flatMap((attempt) =>
      attempt.failed_again === null || !attempt.failed_again.error_changed
        ? []
        : [
            {
              at: attempt.failed_again.at,
              id: `${attempt.attempt_id} again`,
              text: `Now fails with: ${attempt.failed_again.error_message ?? attempt.failed_again.error_class ?? 'another error'}`,
            },
          ],
    ),
    ...edits.map((edit) => ({
      at: edit.at,
      id: `edit ${edit.number}`,
      text: `${edit.actor} changed ${edit.fields.join(', ')}${edit.reason === null ? '' : `: ${edit.reason}`}`,
    })),
    ...audit
      .filter(({ action }) => !/edit|update|change/.test(action))
      .map(({ id, at, actor, action, reason }) => ({
        at,
        id: `audit ${id}`,
        text: `${actor} ${actionWords(action)}${reason === null ? '' : ` (${reason})`}`,
      })),
  ].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  return (
    <>
      <ol className={styles.timeline}>
        {entries.map(({ at, id, text }) => (
          <li key={id}>
            <Time at={at} />
            <span>
              <LongWords text={text} />
            </span>
          </li>
        ))}
      </ol>
      <HiddenNote of={[message, ...message.attempts, ...edits, ...audit]} />
    </>
  )
}
