// How far each partition of a DLQ topic is stored, and for admins a way to read one again.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Section } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import { useLive } from '../../data/live.ts'
import { useStatus } from '../../data/queries/status.ts'
import { type Position, positionsQuery, resetPosition } from '../../data/queries/topics.ts'
import { useMissingRole } from '../../data/session.ts'
import { numberText } from '../../domain/words.ts'
import styles from './topics.module.css'

const offsetText = /^\d{1,18}$/

export function Positions({ topic }: { topic: string }) {
  const positions = useQuery({ ...positionsQuery(topic), refetchInterval: useLive(5000) })
  const ingesters = useStatus().data?.ingesters
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  const [asked, setAsked] = useState<Position | null>(null)
  const rows = positions.data?.positions ?? []
  return (
    <Section title="Partitions">
      <QueryFault query={positions} what="The positions cannot be read" />
      {positions.data !== undefined && rows.length === 0 ? (
        <p className={styles.quiet}>Nothing of it is stored yet.</p>
      ) : null}
      {rows.length === 0 ? null : (
        <Table
          label="Partitions"
          columns={[
            { text: 'Partition' },
            { text: 'Stored up to', number: true },
            { text: 'Unread', number: true },
            { text: 'Read by' },
            { text: 'Last stored' },
            { text: 'Change', hidden: true },
          ]}
        >
          {rows.map((position) => {
            const { cluster, partition, next_offset, generation, updated_at } = position
            const reader = ingesters?.find(({ partitions }) =>
              partitions.some((one) => one.cluster === cluster && one.topic === topic && one.partition === partition),
            )
            const lag = reader?.partitions.find((one) => one.topic === topic && one.partition === partition)?.lag
            return (
              <tr key={`${cluster} ${partition}`}>
                <Cell label="Partition">
                  {partition}
                  {generation === 0 ? null : <Under>created again {numberText(generation)} times</Under>}
                </Cell>
                <Cell number label="Stored up to">
                  {next_offset}
                </Cell>
                <Cell number label="Unread">
                  {lag === undefined ? '–' : numberText(lag)}
                </Cell>
                <Cell label="Read by">{reader?.id ?? (ingesters === undefined ? '–' : 'nobody')}</Cell>
                <Cell label="Last stored">
                  <Time at={updated_at} />
                </Cell>
                <Cell end>
                  <Button refusal={refusal} onPress={() => setAsked(position)}>
                    Read again…
                  </Button>
                </Cell>
              </tr>
            )
          })}
        </Table>
      )}
      {asked === null ? null : <ResetDialog position={asked} onClose={() => setAsked(null)} />}
    </Section>
  )
}

function ResetDialog({ position, onClose }: { position: Position; onClose: () => void }) {
  const client = useQueryClient()
  const { cluster, topic, partition } = position
  const confirm = `${topic}/${partition}`
  const [offset, setOffset] = useState(position.next_offset)
  const [wrong, setWrong] = useState<string | null>(null)
  const reset = useMutation({
    mutationFn: (reason: string) =>
      resetPosition({
        ...{ cluster, topic, partition, confirm, next_offset: offset.trim() },
        ...(reason === '' ? {} : { reason }),
      }),
    onSuccess: async (after) => {
      onClose()
      say(`Partition ${partition} goes on at ${after.next_offset}`)
      await client.invalidateQueries({ queryKey: ['topic'] })
    },
  })
  return (
    <AskDialog
      title={`Read partition ${partition} again?`}
      verb="Move the position"
      danger
      reason="offered"
      typed={confirm}
      isPending={reset.isPending}
      error={reset.error}
      onClose={onClose}
      onGo={(reason) => {
        const fault = offsetText.test(offset.trim()) ? null : 'Write an offset: digits, 18 at most.'
        setWrong(fault)
        if (fault === null) reset.mutate(reason)
      }}
    >
      <p>
        Stored messages stay as they are; those that were deleted are stored again. A larger offset skips records, and
        an offset beyond the log’s end counts as a topic that was created again.
      </p>
      <TextField
        label="Next offset"
        value={offset}
        onChange={setOffset}
        mono
        fault={wrong}
        note={`Now ${position.next_offset}`}
      />
    </AskDialog>
  )
}
