// How fast, how carefully, and what to do when too many come back.

import { Choices, Select } from '../../components/controls/select.tsx'
import { AddressField } from '../../components/controls/text-field.tsx'
import { type CanaryChoice, canaryOf, type Draft } from '../../domain/run-draft.ts'
import { rateChoices, sends } from '../../domain/runs.ts'
import styles from './draft.module.css'

type Props = {
  draft: Draft
  eligible: number
  onChange: (change: Readonly<Record<string, string | undefined>>) => void
}

export function How({ draft, eligible, onChange }: Props) {
  const rate = rateChoices.find(({ value }) => value === draft.rate)?.id ?? 'own'
  if (draft.kind === 'origin')
    return (
      <>
        <Choices<'false' | 'true'>
          label="When the original differs"
          value={draft.adopt ? 'true' : 'false'}
          choices={[
            { id: 'false', text: 'Only compare', note: 'no message changes; look at what differs, then adopt' },
            {
              id: 'true',
              text: 'Adopt it',
              note: 'where it is proved, it takes the place of the copy, which is kept as an edit',
            },
          ]}
          onChange={(adopt) => onChange({ adopt: adopt === 'true' ? adopt : undefined })}
        />
        <p className={styles.quiet}>
          A retrier reads the originals from Kafka, in pieces; it can be paused and cancelled. Nothing is sent.
        </p>
      </>
    )
  if (!sends(draft.kind)) return <p className={styles.quiet}>At once, in pieces; it can be paused and cancelled.</p>
  return (
    <>
      {draft.kind === 'redirect' ? (
        <AddressField
          label="Target topic"
          value={draft.targetTopic ?? ''}
          onChange={(topic) => onChange({ target_topic: topic.trim() === '' ? undefined : topic.trim() })}
          mono
          note="May hold {topic} and {group}: the original topic and the consumer group of each message"
        />
      ) : null}
      <Select
        label="Rate"
        value={rate}
        choices={[
          ...rateChoices.map(({ id, text }) => ({ id: id as string, text })),
          ...(rate === 'own' ? [{ id: 'own', text: `${draft.rate} a second` }] : []),
        ]}
        onChange={(id) => {
          const value = rateChoices.find((one) => one.id === id)?.value
          if (value !== undefined) onChange({ rate_per_second: value === null ? undefined : String(value) })
        }}
      />
      <Choices<CanaryChoice>
        label="Canary"
        value={canaryOf(draft, eligible)}
        choices={[
          { id: 'careful', text: 'Careful', note: '1, then 1 %; each followed by 60 s of quiet, at most 5 % back' },
          { id: 'off', text: 'Off', note: 'all at once, within the rate' },
        ]}
        onChange={(canary) => onChange({ canary })}
      />
      <Choices<Draft['onRefailure']>
        label="When more than 5 % come back"
        value={draft.onRefailure}
        choices={[
          { id: 'pause', text: 'Pause and ask' },
          { id: 'cancel', text: 'Cancel' },
          { id: 'continue', text: 'Go on' },
        ]}
        onChange={(onRefailure) => onChange({ on_refailure: onRefailure })}
      />
    </>
  )
}
