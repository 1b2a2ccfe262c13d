// The story of a message, the newest first: failures, attempts and what became of them, edits, and what people did.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { HiddenNote } from '../../components/show/hidden-note.tsx'
import { LongWords } from '../../components/show/long-words.tsx'
import { Time } from '../../components/show/time.tsx'
import { type AuditEntry, type Edit, type MessageDetail, undoEdit } from '../../data/queries/messages.ts'
import { readingAgain } from '../../data/query-client.ts'
import { useMissingRole } from '../../data/session.ts'
import { actionWords } from '../../domain/audit/audit-words.ts'
import { attemptWords, whoSent, whyNotChanged } from '../../domain/message-words.ts'
import { counted } from '../../domain/words.ts'
import styles from './message-page.module.css'

type Props = { message: MessageDetail; etag: string | null; edits: readonly Edit[]; audit: readonly AuditEntry[] }

type Entry = { at: string; id: string; text: string; edit?: Edit }

export function Timeline({ message, etag, edits, audit }: Props) {
  const refusal = useMissingRole('sys_operator')
  const [asked, setAsked] = useState<Edit | null>(null)
  const entries: Entry[] = [
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
      edit,
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
        {entries.map(({ at, id, text, edit }) => (
          <li key={id}>
            <Time at={at} />
            <span>
              <LongWords text={text} />
              {edit === undefined ? null : (
                <Button look="quiet" refusal={refusal ?? whyNotChanged(message)} onPress={() => setAsked(edit)}>
                  Take it back…
                </Button>
              )}
            </span>
          </li>
        ))}
      </ol>
      <HiddenNote of={[message, ...message.attempts, ...edits, ...audit]} />
      {asked === null ? null : (
        <UndoDialog
          id={message.id}
          {...{ etag, edit: asked }}
          later={edits.filter(({ number }) => number > asked.number).length}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  )
}

type UndoProps = { id: string; etag: string | null; edit: Edit; later: number; onClose: () => void }

function UndoDialog({ id, etag, edit: { number }, later, onClose }: UndoProps) {
  const names = ['message', 'origin', 'bytes', 'decoded', 'edits']
  const undo = useMutation({
    mutationFn: (reason: string) => undoEdit(id, number, { reason, etag }),
    onSuccess: onClose,
    onSettled: readingAgain(useQueryClient(), [...names.map((name) => [name, id]), ['audit', 'message', id]]),
  })
  return (
    <AskDialog
      title="Take this change back?"
      verb="Take it back"
      reason="offered"
      isPending={undo.isPending}
      error={undo.error}
      onClose={onClose}
      onGo={(reason) => undo.mutate(reason)}
    >
      <p>
        The message has again the content that it had before it.{' '}
        {later === 0 ? '' : `${counted(later, 'later change is', 'later changes are')} taken back with it. `}
        That is a change, too: nothing is lost.
      </p>
    </AskDialog>
  )
}
