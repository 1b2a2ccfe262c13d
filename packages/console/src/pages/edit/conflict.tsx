// Somebody else changed the message meanwhile: what it is now beside what was typed here, who did it, and three ways on.

import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { ActionBar, Section, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { copyText } from '../../components/toasts.tsx'
import { useUnmask } from '../../data/queries/content/masked.ts'
import { auditQuery, bytesQuery, messageQuery } from '../../data/queries/messages.ts'
import { actionWords } from '../../domain/audit/audit-words.ts'
import { layOut, readValue } from '../../domain/payload/value.ts'
import { CodeEditor } from './code-editor.tsx'
import styles from './edit.module.css'

type Props = {
  id: string
  /** What was typed here, if the value can be typed. */
  mine: string | null
  onTheirs: () => void
  /** With the ETag of what it is now. */
  onMine: (etag: string | null) => void
}

export function Conflict({ id, mine, onTheirs, onMine }: Props) {
  const detail = useQuery({ ...messageQuery(id), staleTime: 0, refetchOnMount: 'always' })
  const audit = useQuery({ ...auditQuery('message', id), refetchOnMount: 'always' })
  const message = detail.isFetchedAfterMount ? detail.data?.message : undefined
  const unmask = useUnmask(id)
  const bytes = useQuery({
    ...bytesQuery(id, 'value', { edits: message?.edits ?? 0, unmask }),
    enabled: message !== undefined,
  })
  const read = bytes.data == null ? null : readValue(bytes.data)
  const theirs = read === null || read.kind === 'bytes' ? null : layOut(read.text)
  // So it is where a save was done, and its answer was lost.
  const isSaved = theirs !== null && mine !== null && theirs === layOut(mine)
  const last = audit.isFetchedAfterMount ? audit.data?.[0] : undefined
  useEffect(() => {
    document.querySelector<HTMLElement>('[data-conflict]')?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <Section title="It has changed since you opened it">
      <div data-conflict>
        <Verdict>
          {last === undefined ? (
            'Somebody changed it.'
          ) : (
            <>
              {last.actor} {actionWords(last.action)}
              {last.reason === null ? '' : ` (${last.reason})`}, <Time at={last.at} />.
            </>
          )}{' '}
          {isSaved ? 'Its value is what you typed.' : 'Nothing was saved. What you typed is kept.'}
        </Verdict>
      </div>
      <QueryFault query={detail} what="It cannot be read as it is now" />
      {theirs === null || mine === null || isSaved ? null : (
        <>
          <p className={styles.quiet}>From what it is now to what you typed:</p>
          <CodeEditor key={theirs} text={layOut(mine)} original={theirs} label="From theirs to yours" />
        </>
      )}
      <ActionBar label="What to do about it">
        <Button isDisabled={message === undefined} onPress={onTheirs}>
          Take theirs
        </Button>
        <Button isDisabled={message === undefined} onPress={() => onMine(detail.data?.etag ?? null)}>
          Keep mine
        </Button>
        {mine === null ? null : (
          <Button look="quiet" onPress={() => void copyText(mine, 'what you typed')}>
            Copy mine
          </Button>
        )}
      </ActionBar>
    </Section>
  )
}
