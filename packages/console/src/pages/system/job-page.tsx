// One scheduled job: when it runs, and what became of each execution.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { LastKnown, QueryFault } from '../../components/show/fault.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { ActionBar, Empty, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { type CronRun, cronQuery, cronRunsQuery } from '../../data/queries/system.ts'
import { useMissingRole } from '../../data/session.ts'
import { cronWords, nextTickWords } from '../../domain/system/cron-words.ts'
import { spanText } from '../../domain/time.ts'
import { numberText } from '../../domain/words.ts'
import { RunJobDialog } from './run-job-dialog.tsx'
import styles from './system.module.css'

const route = getRouteApi('/system/cron/$job')

export function JobPage() {
  const { job: name } = route.useParams()
  const now = useNow()
  const live = useLive(5000)
  const jobs = useQuery({ ...cronQuery, refetchInterval: live })
  const job = jobs.data?.find((one) => one.name === name)
  const runs = useQuery({ ...cronRunsQuery(name), refetchInterval: live, enabled: job !== undefined })
  const refusal = useMissingRole('sys_operator', { ofAll: true })
  const slow = useSlow(jobs.isPending)
  const [asked, setAsked] = useState(false)
  const back = <Link to="/system">System</Link>
  if (job === undefined) {
    if (jobs.isPending) return slow ? <Skeleton rows={6} /> : null
    const fault = jobs.error === null ? { message: '', requestId: null, details: [], status: 404 } : faultOf(jobs.error)
    return <Missing kind="job" name={name} fault={fault} list={back} onRetry={jobs.refetch} />
  }
  const words = cronWords(job.schedule)
  return (
    <>
      <PageHead title={name} documentTitle={`Job ${name}`} back={back}>
        <Verdict>
          {job.schedule === null ? 'It is off: it runs only when somebody asks.' : `It runs ${words}`}
          {job.next_tick === null ? '' : `; ${nextTickWords(job.next_tick, now)}.`}
          {job.current === null ? '' : ' It runs now.'}
        </Verdict>
        <LastKnown query={jobs} />
      </PageHead>
      <ActionBar label="What can be done with this job">
        <Button refusal={refusal} onPress={() => setAsked(true)}>
          Run now…
        </Button>
      </ActionBar>
      <Section title="Executions" aside={<span>of the last week, and the last one</span>}>
        <QueryFault query={runs} what="They cannot be read" withAge />
        {runs.data !== undefined && runs.data.length === 0 ? <Empty>It has not run yet.</Empty> : null}
        {runs.data === undefined || runs.data.length === 0 ? null : <Runs runs={runs.data} />}
      </Section>
      {asked ? <RunJobDialog job={name} onClose={() => setAsked(false)} /> : null}
    </>
  )
}

function Runs({ runs }: { runs: readonly CronRun[] }) {
  return (
    <Table
      label="Executions"
      columns={[
        { text: 'For' },
        { text: 'Outcome' },
        { text: 'Took', number: true },
        { text: 'Result' },
        { text: 'By' },
      ]}
    >
      {runs.map(({ tick, outcome, started_at, duration_ms, result, error, requested_by, retrier, attempts }) => (
        <tr key={tick}>
          <Cell>
            <Time at={tick} />
          </Cell>
          <Cell>
            <span data-outcome={outcome}>{outcome ?? (started_at === null ? 'waits for a retrier' : 'runs')}</span>
            {error === null ? null : <Under>{error}</Under>}
            {attempts > 1 ? <Under>{numberText(attempts)} attempts</Under> : null}
          </Cell>
          <Cell number label="Took">
            {duration_ms === null ? '–' : spanText(duration_ms)}
          </Cell>
          <Cell label="Result">{resultWords(result)}</Cell>
          <Cell label="By">
            {requested_by ?? 'its schedule'}
            {retrier === null ? null : <Under>{retrier}</Under>}
          </Cell>
        </tr>
      ))}
    </Table>
  )
}

function resultWords(result: CronRun['result']) {
  if (result === null) return <span className={styles.quiet}>–</span>
  return Object.entries(result)
    .map(
      ([name, value]) =>
        `${name.replaceAll('_', ' ')} ${typeof value === 'number' ? numberText(value) : JSON.stringify(value)}`,
    )
    .join(', ')
}
