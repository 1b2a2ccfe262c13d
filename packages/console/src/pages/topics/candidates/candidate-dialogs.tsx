// Begins the ingestion of a topic, after a look at some of its records; or says that it is no DLQ topic.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../../components/controls/ask-dialog.tsx'
import { Choices } from '../../../components/controls/select.tsx'
import { TextField } from '../../../components/controls/text-field.tsx'
import { QueryFault } from '../../../components/show/fault.tsx'
import { say } from '../../../components/toasts.tsx'
import {
  dismissCandidate,
  plannedQuery,
  sampleQuery,
  subscribe,
  type TopicSample,
} from '../../../data/queries/discovery.ts'
import { useMissingRole } from '../../../data/session.ts'
import { estimateText, sharesText } from '../../../domain/topics/candidate-words.ts'

type Props = { topic: string; onClose: () => void }
type Backlog = 'manual' | 'auto'

const backlogs: { id: Backlog; text: string }[] = [
  { id: 'manual', text: 'What is there now is sent only when somebody asks' },
  { id: 'auto', text: 'What is there now is retried by the policy, however old it is' },
]

export function IngestDialog({ topic, onClose }: Props) {
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  const [backlog, setBacklog] = useState<Backlog>('manual')
  const [original, setOriginal] = useState('')
  const sample = useQuery(sampleQuery(topic))
  const asked = { pattern: topic, original: original.trim() === '' ? null : original.trim(), backlog }
  const planned = useQuery({ ...plannedQuery({ ...asked, original: null }), enabled: refusal === null })
  const begin = useCandidateChange(onClose, `${topic} is read from now on`)
  const estimate = planned.data?.estimate
  const isNamed = sample.data !== undefined && sample.data.shares.origin === 1
  return (
    <AskDialog
      title={`Read ${topic}?`}
      verb="Read it"
      reason="offered"
      refusal={refusal}
      isPending={begin.isPending}
      error={begin.error}
      onClose={onClose}
      onGo={(reason) => begin.mutate(() => subscribe(asked, reason))}
    >
      <QueryFault query={sample} what="Its records cannot be shown" />
      {sample.data === undefined ? null : <Sampled sample={sample.data} />}
      {sample.isPending ? <p>An ingester reads some of its records …</p> : null}
      {isNamed ? null : (
        <TextField
          label="Original topic, where a record does not name it"
          value={original}
          onChange={setOriginal}
          note="Left empty, its name decides, and nothing is sent there by itself."
        />
      )}
      <Choices label="Its records of before" value={backlog} choices={backlogs} onChange={setBacklog} />
      {estimate === undefined ? null : (
        <p>
          {estimateText({
            records: estimate.records_at_most,
            seconds: estimate.seconds,
            bytes: estimate.bytes,
          })}
        </p>
      )}
    </AskDialog>
  )
}

function Sampled({ sample: { newest, oldest, shares, families, readable } }: { sample: TopicSample }) {
  const [first] = newest.length > 0 ? newest : oldest
  if (first === undefined)
    return <p>{readable ? 'It holds no records now.' : 'Kafka refuses to show its records to the ingester.'}</p>
  return (
    <>
      <p>
        {Object.keys(families).join(', ')}. {sharesText(shares)}
      </p>
      <p>
        The newest is from {first.original_topic}
        {first.consumer_group === null ? '' : `, consumer group ${first.consumer_group}`}
        {first.error_message === null ? '' : `: ${first.error_message}`}
      </p>
    </>
  )
}

export function DismissDialog({ topic, onClose }: Props) {
  const refusal = useMissingRole('sys_admin')
  const dismiss = useCandidateChange(onClose, `${topic} is not listed any more`)
  return (
    <AskDialog
      title={`Dismiss ${topic}?`}
      verb="Dismiss it"
      reason="offered"
      refusal={refusal}
      isPending={dismiss.isPending}
      error={dismiss.error}
      onClose={onClose}
      onGo={(reason) => dismiss.mutate(() => dismissCandidate(topic, reason))}
    >
      <p>It is no DLQ topic: it is left out of this list and of notifications. Its records stay as they are.</p>
    </AskDialog>
  )
}

function useCandidateChange(onClose: () => void, done: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (change: () => Promise<void>) => change(),
    onSuccess: async () => {
      onClose()
      say(done)
      await Promise.all(
        ['candidates', 'topics', 'status', 'audit'].map((name) => client.invalidateQueries({ queryKey: [name] })),
      )
    },
  })
}
