// Stops the retries of a topic, or its ingestion, for a while; and lets them go on.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Choices } from '../../components/controls/select.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { say } from '../../components/toasts.tsx'
import { type Pausable, pauseTopic, resumeTopic } from '../../data/queries/topics.ts'
import { serverNow } from '../../data/server-clock.ts'
import { useMissingRole } from '../../data/session.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { zoneWords } from '../../domain/time.ts'
import { choiceOf, type PauseChoice, untilOf } from '../../domain/topics/pause-for.ts'

const choices: { id: PauseChoice; text: string }[] = [
  { id: '30m', text: 'For 30 minutes' },
  { id: '2h', text: 'For 2 hours' },
  { id: 'morning', text: 'Until 08:00' },
  { id: 'other', text: 'Until another time' },
  { id: 'open', text: 'Until somebody resumes it' },
]

type Props = { topic: string; what: Pausable; duration?: string | null; onClose: () => void }

export function PauseDialog({ topic, what, duration = '2h', onClose }: Props) {
  const refusal = useMissingRole('sys_operator')
  const { zone } = useStore(settings)
  const [choice, setChoice] = useState<PauseChoice>(choiceOf(duration))
  const [typed, setTyped] = useState(duration ?? '')
  const [wrong, setWrong] = useState<string | null>(null)
  const pause = useTopicChange(onClose, `Paused: ${what} of ${topic}`)
  return (
    <AskDialog
      title={`Pause ${what} of ${topic}?`}
      verb={`Pause ${what}`}
      reason="needed"
      refusal={refusal}
      isPending={pause.isPending}
      error={pause.error}
      onClose={onClose}
      onGo={(reason) => {
        const { until, fault } = untilOf(choice, typed, { now: new Date(serverNow()), zone })
        setWrong(fault)
        if (fault === null) pause.mutate(() => pauseTopic(topic, { what, until, reason }))
      }}
    >
      <p>
        {what === 'retries'
          ? 'From the answer on nothing of it is sent: not by itself, not on request, not by a run. What is being sent now is finished.'
          : 'Its records stay in Kafka, and nobody reads them. Kafka goes on deleting what is older than its retention.'}
      </p>
      <Choices label="How long" value={choice} choices={choices} onChange={setChoice} />
      {choice === 'other' ? (
        <TextField
          label="Length of time, or moment"
          value={typed}
          onChange={setTyped}
          fault={wrong}
          note={`45m, 1d, or 2026-11-22 18:00 in ${zoneWords(zone)}`}
        />
      ) : null}
    </AskDialog>
  )
}

export function ResumeDialog({ topic, what, onClose }: Omit<Props, 'duration'>) {
  const refusal = useMissingRole('sys_operator')
  const resume = useTopicChange(onClose, `Resumed: ${what} of ${topic}`)
  return (
    <AskDialog
      title={`Resume ${what} of ${topic}?`}
      verb={`Resume ${what}`}
      reason="offered"
      refusal={refusal}
      isPending={resume.isPending}
      error={resume.error}
      onClose={onClose}
      onGo={(reason) => resume.mutate(() => resumeTopic(topic, { what, reason }))}
    >
      <p>
        {what === 'retries'
          ? 'What has fallen due meanwhile is sent, as fast as the policy allows.'
          : 'It is read on from where it was left.'}
      </p>
    </AskDialog>
  )
}

/** Reads everything about topics again, and closes the dialog, once the change is made. */
function useTopicChange(onClose: () => void, done: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onSuccess: async () => {
      onClose()
      say(done)
      await Promise.all(
        ['topic', 'topics', 'status', 'audit'].map((name) => client.invalidateQueries({ queryKey: [name] })),
      )
    },
  })
}
