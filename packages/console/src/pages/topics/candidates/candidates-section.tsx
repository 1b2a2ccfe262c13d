// Topics that look like DLQ topics and that nobody ingests: read them, or say that they are none.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../../components/controls/button.tsx'
import { Cell, Table, Under } from '../../../components/lists/table.tsx'
import { Section } from '../../../components/show/page.tsx'
import { Time } from '../../../components/show/time.tsx'
import { useLive } from '../../../data/live.ts'
import { type CandidateTopic, candidatesQuery } from '../../../data/queries/discovery.ts'
import { candidateMarks } from '../../../domain/topics/candidate-words.ts'
import { numberText } from '../../../domain/words.ts'
import { DismissDialog, IngestDialog } from './candidate-dialogs.tsx'

export function CandidatesSection() {
  // One that was just taken on is listed until an ingester has done so.
  const candidates = useQuery({ ...candidatesQuery, refetchInterval: useLive(5000) }).data ?? []
  const [open, setOpen] = useState<{ topic: string; what: 'ingest' | 'dismiss' } | null>(null)
  if (candidates.length === 0) return null
  const close = () => setOpen(null)
  return (
    <Section title="Topics that look like DLQ topics, and that nobody reads">
      <Table
        label="Candidates"
        columns={[
          { text: 'Topic' },
          { text: 'Records at most', number: true },
          { text: 'Oldest' },
          { text: 'Newest' },
          { text: 'Actions', hidden: true },
        ]}
      >
        {candidates.map((of) => (
          <CandidateRow key={of.topic} of={of} onOpen={(what) => setOpen({ topic: of.topic, what })} />
        ))}
      </Table>
      {open?.what === 'ingest' ? <IngestDialog topic={open.topic} onClose={close} /> : null}
      {open?.what === 'dismiss' ? <DismissDialog topic={open.topic} onClose={close} /> : null}
    </Section>
  )
}

function CandidateRow({
  of: { topic, candidate },
  onOpen,
}: {
  of: CandidateTopic
  onOpen: (what: 'ingest' | 'dismiss') => void
}) {
  const { records_at_most: records } = candidate
  return (
    <tr>
      <Cell>
        {topic}
        <Under>{candidateMarks(candidate).join(' · ')}</Under>
      </Cell>
      <Cell number label="Records at most">
        {records === null ? '–' : numberText(Number(records))}
      </Cell>
      <Cell label="Oldest">
        <Time at={candidate.oldest_at} />
      </Cell>
      <Cell label="Newest">
        <Time at={candidate.newest_at} />
      </Cell>
      <Cell end>
        <Button look="quiet" aria-label={`Read ${topic}…`} onPress={() => onOpen('ingest')}>
          Read…
        </Button>
        <Button look="quiet" aria-label={`Dismiss ${topic}…`} onPress={() => onOpen('dismiss')}>
          Dismiss…
        </Button>
      </Cell>
    </tr>
  )
}
