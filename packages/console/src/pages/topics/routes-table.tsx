// Which DLQ topic may speak for which original topic. What waits is for somebody to decide.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { Time } from '../../components/show/time.tsx'
import { decideRoute, type Route } from '../../data/queries/topics.ts'
import { useMissingRole } from '../../data/session.ts'
import { numberText } from '../../domain/words.ts'
import styles from './topics.module.css'

const stateWords: Record<Route['state'], string> = {
  by_name: 'open: the names fit',
  by_mapping: 'open: so says the configuration',
  waiting: 'waits for approval',
  approved: 'approved',
  blocked: 'blocked',
}

type Asked = { route: Route; state: 'approved' | 'blocked' }

export function RoutesTable({ routes }: { routes: readonly Route[] }) {
  const refusal = useMissingRole('sys_operator')
  const [asked, setAsked] = useState<Asked | null>(null)
  return (
    <>
      <Table
        label="Routes"
        columns={[
          { text: 'From' },
          { text: 'To' },
          { text: 'State' },
          { text: 'Held back', number: true },
          { text: 'Decision', hidden: true },
        ]}
      >
        {routes.map((route) => (
          <tr key={`${route.dlq_topic} ${route.original_topic}`}>
            <Cell label="From">
              <TopicLink topic={route.dlq_topic} kind="dlq" />
            </Cell>
            <Cell label="To">
              <TopicLink topic={route.original_topic} kind="original" />
            </Cell>
            <Cell>
              <Mark look={route.state === 'waiting' ? 'warm' : 'plain'}>{stateWords[route.state]}</Mark>
              <Under>
                {route.decided_at === null ? (
                  <>
                    first seen <Time at={route.first_seen_at} />
                  </>
                ) : (
                  <>
                    by {route.decided_by} <Time at={route.decided_at} />
                    {route.reason === null ? '' : <DirectedText text={`: ${route.reason}`} />}
                  </>
                )}
              </Under>
            </Cell>
            <Cell number label="Held back">
              {numberText(route.held)}
            </Cell>
            <Cell end>
              <span className={styles.buttons}>
                {route.open ? null : (
                  <Button refusal={refusal} onPress={() => setAsked({ route, state: 'approved' })}>
                    Approve…
                  </Button>
                )}
                {route.state === 'blocked' ? null : (
                  <Button refusal={refusal} onPress={() => setAsked({ route, state: 'blocked' })}>
                    Block…
                  </Button>
                )}
              </span>
            </Cell>
          </tr>
        ))}
      </Table>
      {asked === null ? null : <DecideDialog {...asked} onClose={() => setAsked(null)} />}
    </>
  )
}

export function TopicLink({ topic, kind }: { topic: string; kind: 'dlq' | 'original' }) {
  return (
    <Link to="/topics/$topic" params={{ topic }} search={{ kind }}>
      {topic}
    </Link>
  )
}

function DecideDialog({ route, state, onClose }: Asked & { onClose: () => void }) {
  const client = useQueryClient()
  const decide = useMutation({
    mutationFn: (reason: string) => decideRoute(route, state, reason),
    onSuccess: async () => {
      onClose()
      await client.invalidateQueries({ queryKey: ['routes'] })
    },
  })
  const held = `${numberText(route.held)} ${route.held === 1 ? 'message' : 'messages'}`
  return (
    <AskDialog
      title={state === 'approved' ? 'Approve this route?' : 'Block this route?'}
      verb={state === 'approved' ? 'Approve' : 'Block'}
      reason="offered"
      isPending={decide.isPending}
      error={decide.error}
      onClose={onClose}
      onGo={(reason) => decide.mutate(reason)}
    >
      <p>
        {state === 'approved'
          ? `${held} of ${route.dlq_topic} that wait are scheduled, and what comes is sent to ${route.original_topic}.`
          : `Nothing of ${route.dlq_topic} is sent to ${route.original_topic} by itself; what is scheduled waits.`}
      </p>
    </AskDialog>
  )
}
