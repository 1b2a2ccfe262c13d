// The record that failed, beside the copy on the DLQ topic: whether they are the same, what differs, and the way to take it.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { ChangeFault, QueryFault } from '../../components/show/fault.tsx'
import { Section } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { useUnmask } from '../../data/queries/content/masked.ts'
import { adoptOrigin, compareOrigin, type Origin, originQuery } from '../../data/queries/content/origin.ts'
import type { MessageDetail } from '../../data/queries/messages.ts'
import { readingAgain } from '../../data/query-client.ts'
import { useMissingRole } from '../../data/session.ts'
import { canAdopt, originStateWords, originWords, whyNotCompared } from '../../domain/payload/origin-words.ts'
import { patchWords } from '../../domain/payload/patch-from-texts.ts'
import { bytesText } from '../../domain/words.ts'
import styles from './message-page.module.css'

type Props = { message: MessageDetail; etag: string | null }

export function OriginSection({ message, etag }: Props) {
  const client = useQueryClient()
  const role = useMissingRole('sys_operator')
  const unmask = useUnmask(message.id)
  const [adopting, setAdopting] = useState(false)
  const { id, origin_state: state, record_source: source } = message
  const stored = useQuery({ ...originQuery(message, unmask), enabled: state !== null })
  const settled = readingAgain(client, [
    ...['message', 'origin', 'bytes', 'decoded', 'edits'].map((name) => [name, id]),
    ['audit', 'message', id],
  ])
  const compare = useMutation({ mutationFn: () => compareOrigin(id, unmask), onSettled: settled })
  const adopt = useMutation({
    mutationFn: (asked: { reason: string; force: boolean }) => adoptOrigin(id, { ...asked, etag, unmask }),
    onSuccess: () => setAdopting(false),
    onSettled: settled,
  })
  if (message.dlq === null || message.erased_at !== null) return null
  const origin = stored.data ?? null
  const why = whyNotCompared(message)
  return (
    <Section
      title="The record that failed"
      aside={
        <>
          {origin !== null && canAdopt(origin, message) ? (
            <Button refusal={role} onPress={() => setAdopting(true)}>
              Adopt it…
            </Button>
          ) : null}
          <Button look="quiet" refusal={role ?? why} isPending={compare.isPending} onPress={() => compare.mutate()}>
            {compare.isPending ? 'Reading it …' : state === null ? 'Compare' : 'Compare again'}
          </Button>
        </>
      }
    >
      {source === 'origin' ? (
        <p>It has taken the place of the copy: what is shown here is the record that failed.</p>
      ) : null}
      {originStateWords(state) === null ? null : <p>{originStateWords(state)}</p>}
      {state === null && source !== 'origin' ? (
        <p className={styles.quiet}>
          What stands on the DLQ topic is a copy. Nobody has compared it with the original.
        </p>
      ) : null}
      {origin === null ? null : <Compared origin={origin} />}
      <QueryFault query={stored} what="It cannot be read" />
      <ChangeFault error={compare.error} what="It is not compared" />
      {compare.data === false && !compare.isPending ? (
        <p>It was asked for; no retrier has read the record yet.</p>
      ) : null}
      {adopting && origin !== null ? (
        <AskDialog
          title="Put the record that failed in the place of the copy?"
          verb="Adopt it"
          reason={origin.state === 'unproved' ? 'needed' : 'offered'}
          isPending={adopt.isPending}
          error={adopt.error}
          onClose={() => setAdopting(false)}
          onGo={(reason) => adopt.mutate({ reason, force: origin.state === 'unproved' })}
        >
          <p>
            {originWords(origin)} The message keeps its history and is tried by its policy again; the copy is kept as an
            edit.
          </p>
        </AskDialog>
      ) : null}
    </Section>
  )
}

function Compared({ origin }: { origin: Origin }) {
  const { copy, origin: found, lines, compared_at, next_try_at, differs } = origin
  return (
    <>
      <p>
        {originWords(origin)}{' '}
        <span className={styles.quiet}>
          Compared <Time at={compared_at} />
          {next_try_at === null ? '' : ', looked for again '}
          {next_try_at === null ? null : <Time at={next_try_at} />}.
        </span>
      </p>
      {found === null || differs.length === 0 ? null : (
        <ul className={styles.differences} aria-label="What differs">
          {differs.includes('value')
            ? (lines ?? []).map((line, place) => (
                <li key={`${place} ${line.path}`}>
                  <code>{patchWords(line)}</code>
                </li>
              ))
            : null}
          {(['value', 'key'] as const)
            .filter((part) => differs.includes(part))
            .map((part) => (
              <li key={part}>
                {part}: {sizeText(copy[part])} here, {sizeText(found[part])} there
              </li>
            ))}
          {differs.includes('headers') ? headersApart(copy.headers, found.headers) : null}
        </ul>
      )}
    </>
  )
}

function sizeText(part: { bytes: number } | null): string {
  return part === null ? 'none' : bytesText(part.bytes)
}

type Headers = Origin['copy']['headers']

/** Those that only one of both has, with their values. */
function headersApart(copy: Headers, found: Headers) {
  const text = (header: NonNullable<Headers>[number]) => {
    const value = header.value === null ? 'null' : 'text' in header.value ? header.value.text : header.value.base64
    return `${header.name}: ${value}`
  }
  const [here, there] = [(copy ?? []).map(text), (found ?? []).map(text)]
  return [
    ...there.filter((one) => !here.includes(one)).map((one) => ({ one, where: 'header only there' })),
    ...here.filter((one) => !there.includes(one)).map((one) => ({ one, where: 'header only here' })),
  ].map(({ one, where }, place) => (
    <li key={`${place} ${one}`}>
      {where}: <code>{one}</code>
    </li>
  ))
}
