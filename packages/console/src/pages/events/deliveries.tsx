// What was sent to which channel. What was not taken for good can be sent once more.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { Section } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import { useLive } from '../../data/live.ts'
import { type Delivery, deliveriesQuery, retryDelivery } from '../../data/queries/fleet/notifications.ts'
import { useMissingRole } from '../../data/session.ts'
import { deliveryWords } from '../../domain/events/event-words.ts'
import { numberText } from '../../domain/words.ts'
import styles from './events.module.css'

const states = {
  waiting: { text: 'waits', look: 'warm' },
  delivered: { text: 'taken', look: 'plain' },
  dead: { text: 'not taken', look: 'hot' },
} as const
type Shown = Delivery['state'] | 'all'

export function Deliveries() {
  const [state, setState] = useState<Shown>('all')
  const list = useQuery({
    ...deliveriesQuery(state === 'all' ? undefined : state),
    refetchInterval: useLive(5000),
  })
  const refusal = useMissingRole('sys_operator', { ofAll: true })
  const [asked, setAsked] = useState<Delivery | null>(null)
  const rows = list.data ?? []
  return (
    <Section title="Deliveries" aside={<span>the newest 50 of the last 30 days</span>}>
      <div className={styles.filters}>
        <Select<Shown>
          label="State of the delivery"
          hiddenLabel
          value={state}
          choices={[
            { id: 'all', text: 'all deliveries' },
            { id: 'waiting', text: 'those that wait' },
            { id: 'delivered', text: 'those that were taken' },
            { id: 'dead', text: 'those that were not taken' },
          ]}
          onChange={setState}
        />
      </div>
      <QueryFault query={list} what="The deliveries cannot be read" />
      {list.data !== undefined && rows.length === 0 ? <p className={styles.quiet}>Nothing was sent.</p> : null}
      {rows.length === 0 ? null : (
        <Table
          label="Deliveries"
          dim={list.isPlaceholderData}
          columns={[
            { text: 'Made' },
            { text: 'To' },
            { text: 'What' },
            { text: 'State' },
            { text: 'Tries', number: true },
            { text: 'Again', hidden: true },
          ]}
        >
          {rows.map((delivery) => (
            <tr key={delivery.id}>
              <Cell>
                <Time at={delivery.created_at} />
              </Cell>
              <Cell label="To">{delivery.channel}</Cell>
              <Cell>
                {deliveryWords(delivery)}
                {delivery.route === null ? null : <Under>by the route {delivery.route}</Under>}
              </Cell>
              <Cell>
                <Mark look={states[delivery.state].look}>{states[delivery.state].text}</Mark>{' '}
                <Time at={delivery.state === 'waiting' ? delivery.send_at : delivery.settled_at} />
                {delivery.last_error === null ? null : (
                  <Under>
                    {delivery.last_status === null ? '' : `${delivery.last_status}: `}
                    {delivery.last_error}
                  </Under>
                )}
              </Cell>
              <Cell number label="Tries">
                {numberText(delivery.attempts)}
              </Cell>
              <Cell end>
                {delivery.state === 'dead' ? (
                  <Button refusal={refusal} onPress={() => setAsked(delivery)}>
                    Send again…
                  </Button>
                ) : null}
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {asked === null ? null : <AgainDialog delivery={asked} onClose={() => setAsked(null)} />}
    </Section>
  )
}

function AgainDialog({ delivery, onClose }: { delivery: Delivery; onClose: () => void }) {
  const client = useQueryClient()
  const again = useMutation({
    mutationFn: (reason: string) => retryDelivery(delivery.id, reason),
    onSuccess: async () => {
      onClose()
      say(`It is sent to ${delivery.channel} once more`)
      await client.invalidateQueries({ queryKey: ['notifications'] })
    },
  })
  return (
    <AskDialog
      title={`Send it to ${delivery.channel} again?`}
      verb="Send again"
      reason="offered"
      isPending={again.isPending}
      error={again.error}
      onClose={onClose}
      onGo={(reason) => again.mutate(reason)}
    >
      <p>It has all of its tries again, twelve in sixteen hours.</p>
    </AskDialog>
  )
}
