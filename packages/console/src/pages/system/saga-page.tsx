// One workflow: its steps as a track, and a way to cancel it.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button } from '../../components/controls/button.tsx'
import { FaultText, LastKnown } from '../../components/show/fault.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { ActionBar, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useSlow } from '../../data/live.ts'
import { cancelSaga, type SagaWithSteps, sagaQuery } from '../../data/queries/system.ts'
import { useMissingRole } from '../../data/session.ts'
import { sagaVerdict } from '../../domain/system/saga-words.ts'
import styles from './system.module.css'

const route = getRouteApi('/system/sagas/$id')
const active: ReadonlySet<string> = new Set(['STARTED', 'RUNNING'])

export function SagaPage() {
  const { id } = route.useParams()
  const live = useLive(2000)
  const saga = useQuery({ ...sagaQuery(id), refetchInterval: live })
  const slow = useSlow(saga.isPending)
  const back = <Link to="/system/sagas">Workflows</Link>
  if (saga.data !== undefined) return <Whole saga={saga.data} lastKnown={<LastKnown query={saga} />} />
  if (saga.error === null) return slow ? <Skeleton rows={6} /> : null
  return <Missing kind="workflow" name={id} fault={faultOf(saga.error)} list={back} onRetry={saga.refetch} />
}

function Whole({ saga, lastKnown }: { saga: SagaWithSteps; lastKnown: ReactNode }) {
  const client = useQueryClient()
  const refusal = useMissingRole('sys_operator', { ofAll: true })
  const [asked, setAsked] = useState(false)
  const cancel = useMutation({
    mutationFn: (reason: string) => cancelSaga(saga.id, reason),
    onSuccess: async () => {
      setAsked(false)
      await Promise.all(['saga', 'sagas', 'runs', 'run'].map((name) => client.invalidateQueries({ queryKey: [name] })))
    },
  })
  const { id, workflow_name, status, correlation_id, initiated_by, created_at, error_message, steps } = saga
  return (
    <>
      <PageHead
        title={workflow_name}
        documentTitle={`${status} · ${workflow_name}`}
        back={<Link to="/system/sagas">Workflows</Link>}
        aside={<code>{id}</code>}
      >
        <Verdict>{sagaVerdict(saga)}</Verdict>
        {lastKnown}
        <p className={styles.quiet}>
          by {initiated_by ?? 'nobody'} <Time at={created_at} long />
          {correlation_id === null ? null : (
            <>
              {' '}
              ·{' '}
              <Link to="/runs/$id" params={{ id: correlation_id }} search={{}}>
                its run
              </Link>
            </>
          )}
        </p>
      </PageHead>
      {error_message === null ? null : (
        <FaultText fault={{ message: error_message, requestId: null, details: [] }} what="The last error" />
      )}
      {active.has(status) ? (
        <ActionBar label="What can be done with this workflow">
          <Button look="danger" refusal={refusal} onPress={() => setAsked(true)}>
            Cancel…
          </Button>
        </ActionBar>
      ) : null}
      <Section title="Steps">
        <ol className={styles.track}>
          {steps.map(({ id, step_name, action, status, error_message, started_at, completed_at }) => (
            <li key={id} data-status={completed_at === null ? 'NOW' : status}>
              <strong>{step_name}</strong>
              <span>
                {action === 'COMPENSATE' ? 'taken back: ' : ''}
                {completed_at === null ? 'under way' : status.toLowerCase()}
              </span>
              <span className={styles.quiet}>
                <Time at={started_at} />
              </span>
              {error_message === null ? null : <span className={styles.stepError}>{error_message}</span>}
            </li>
          ))}
        </ol>
        {steps.length === 0 ? <p className={styles.quiet}>No step has begun yet.</p> : null}
      </Section>
      {asked ? (
        <AskDialog
          title="Cancel this workflow?"
          verb="Cancel the workflow"
          danger
          reason="offered"
          isPending={cancel.isPending}
          error={cancel.error}
          onClose={() => setAsked(false)}
          onGo={(reason) => cancel.mutate(reason)}
        >
          <p>Its run is cancelled: what it has not sent yet stays as it is, what is sent is sent.</p>
        </AskDialog>
      ) : null}
    </>
  )
}
