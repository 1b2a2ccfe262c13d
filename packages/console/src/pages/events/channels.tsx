// Where notifications go, and a test of each. Channels are configuration: their addresses are secrets.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { Empty, Section } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import { useLive } from '../../data/live.ts'
import { channelsQuery, testChannel } from '../../data/queries/fleet/notifications.ts'
import { useMissingRole } from '../../data/session.ts'
import styles from './events.module.css'

export function Channels() {
  const channels = useQuery({ ...channelsQuery, refetchInterval: useLive(15_000) })
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  const [asked, setAsked] = useState<string | null>(null)
  const rows = channels.data ?? []
  return (
    <Section title="Channels" awaits={channels.isPending}>
      <QueryFault query={channels} what="The channels cannot be read" />
      {channels.data !== undefined && rows.length === 0 ? (
        <Empty>
          <p>Nobody is told yet. Channels stand in the configuration of the retriers, for instance:</p>
          <pre className={styles.example}>{example}</pre>
        </Empty>
      ) : null}
      {rows.length === 0 ? null : (
        <Table
          label="Channels"
          columns={[{ text: 'Channel' }, { text: 'Goes to' }, { text: 'Last taken' }, { text: 'Test', hidden: true }]}
        >
          {rows.map(({ name, kind, host, disabled_at, delivered_at, last_error }) => (
            <tr key={name}>
              <Cell>
                <strong>{name}</strong> {disabled_at === null ? null : <Mark look="hot">disabled</Mark>}
                {last_error === null ? null : <Under>{last_error}</Under>}
              </Cell>
              <Cell>
                {kind} · {host === '' ? 'the file with its address cannot be read' : host}
              </Cell>
              <Cell label="Last taken">
                <Time at={delivered_at} none="never" />
              </Cell>
              <Cell end>
                <Button refusal={refusal} onPress={() => setAsked(name)}>
                  Test…
                </Button>
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {asked === null ? null : <TestDialog name={asked} onClose={() => setAsked(null)} />}
    </Section>
  )
}

const example = `notifications:
  channels:
    - { name: on-call, kind: slack, url_file: /run/secrets/slack-url }`

function TestDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useQueryClient()
  const test = useMutation({
    mutationFn: (reason: string) => testChannel(name, reason),
    onSuccess: async () => {
      onClose()
      say(`A test for ${name} is on its way: the deliveries show what became of it`)
      await client.invalidateQueries({ queryKey: ['notifications'] })
    },
  })
  return (
    <AskDialog
      title={`Send a test to ${name}?`}
      verb="Send the test"
      reason="offered"
      isPending={test.isPending}
      error={test.error}
      onClose={onClose}
      onGo={(reason) => test.mutate(reason)}
    >
      <p>Whoever reads it gets a message that says it is a test. A channel that was disabled is enabled again.</p>
    </AskDialog>
  )
}
