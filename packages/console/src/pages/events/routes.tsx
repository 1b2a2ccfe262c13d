// Who hears of what. Admins write, change and delete routes here.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { Section } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import { deleteRoute, type NotificationRoute, notificationRoutesQuery } from '../../data/queries/fleet/notifications.ts'
import { serverNow } from '../../data/server-clock.ts'
import { useMissingRole } from '../../data/session.ts'
import { routeTimes, routeWords } from '../../domain/events/event-words.ts'
import styles from './events.module.css'
import { RouteDialog } from './route-dialog.tsx'

type Asked = { act: 'write'; route: NotificationRoute | null } | { act: 'delete'; route: NotificationRoute }

export function Routes() {
  const routes = useQuery(notificationRoutesQuery)
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  const [asked, setAsked] = useState<Asked | null>(null)
  const rows = routes.data ?? []
  const close = () => setAsked(null)
  return (
    <Section
      title="Who hears of what"
      awaits={routes.isPending}
      aside={
        <Button refusal={refusal} onPress={() => setAsked({ act: 'write', route: null })}>
          New route…
        </Button>
      }
    >
      <QueryFault query={routes} what="The routes cannot be read" />
      {routes.data !== undefined && rows.length === 0 ? (
        <p className={styles.quiet}>No route leads to a channel: nobody is told.</p>
      ) : null}
      {rows.length === 0 ? null : (
        <Table
          label="Who hears of what"
          columns={[{ text: 'Route' }, { text: 'To' }, { text: 'Hears of' }, { text: 'Change', hidden: true }]}
        >
          {rows.map((route) => (
            <tr key={route.name}>
              <Cell>
                <strong>{route.name}</strong>{' '}
                {route.muted_until !== null && Date.parse(route.muted_until) > serverNow() ? (
                  <Mark look="warm">
                    muted, ends <Time at={route.muted_until} />
                  </Mark>
                ) : null}
              </Cell>
              <Cell label="To">{route.channel}</Cell>
              <Cell>
                {routeWords(route)}
                <Under>{routeTimes(route)}</Under>
              </Cell>
              <Cell end>
                <span className={styles.buttons}>
                  <Button
                    refusal={refusal}
                    label={`Change ${route.name}…`}
                    onPress={() => setAsked({ act: 'write', route })}
                  >
                    Change…
                  </Button>
                  <Button
                    refusal={refusal}
                    label={`Delete ${route.name}…`}
                    onPress={() => setAsked({ act: 'delete', route })}
                  >
                    Delete…
                  </Button>
                </span>
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {asked?.act === 'write' ? <RouteDialog route={asked.route} onClose={close} /> : null}
      {asked?.act === 'delete' ? <DeleteDialog name={asked.route.name} onClose={close} /> : null}
    </Section>
  )
}

function DeleteDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: (reason: string) => deleteRoute(name, reason),
    onSuccess: async () => {
      onClose()
      say(`The route ${name} is deleted`)
      await client.invalidateQueries({ queryKey: ['notifications'] })
    },
  })
  return (
    <AskDialog
      title={`Delete the route ${name}?`}
      verb="Delete the route"
      danger
      reason="offered"
      isPending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onGo={(reason) => remove.mutate(reason)}
    >
      <p>Nobody hears by it any more, not even the end of what lasts now.</p>
    </AskDialog>
  )
}
