// The installation: a list of checks with advice, who does the work, and the scheduled jobs.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Cell, Table, Under } from '../../components/lists/table.tsx'
import { LastKnown, QueryFault } from '../../components/show/fault.tsx'
import { PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { type Status, useStatus } from '../../data/queries/status.ts'
import { type CronJob, cronQuery, readyQuery } from '../../data/queries/system.ts'
import { configQuery, meQuery, useMissingRole } from '../../data/session.ts'
import { cronWords, isJustOver } from '../../domain/system/cron-words.ts'
import { systemChecks, systemVerdict } from '../../domain/system/system-checks.ts'
import { spanText } from '../../domain/time.ts'
import { counted, numberText, publishWords } from '../../domain/words.ts'
import { CheckList } from './check-list.tsx'
import { RunJobDialog } from './run-job-dialog.tsx'
import styles from './system.module.css'

export function SystemPage() {
  const now = useNow()
  const status = useStatus()
  const ready = useQuery({ ...readyQuery, refetchInterval: useLive(15_000) })
  // Jobs are told to tokens for all topics only.
  const me = useQuery(meQuery).data
  const ofAll = me?.topics === null
  const cron = useQuery({ ...cronQuery, enabled: ofAll, refetchInterval: useLive(15_000) })
  const config = useQuery(configQuery).data
  const slow = useSlow(status.isPending)
  const awaits = status.isPending || ready.isPending || (ofAll ? cron.isPending : me === undefined)
  const checks = systemChecks({ status: status.data ?? null, ready: ready.data ?? null, jobs: cron.data ?? null }, now)
  const acts = checks.filter(({ level }) => level === 'act').length
  return (
    <>
      <PageHead title="System" documentTitle={acts > 0 ? `${acts} to act on · System` : 'System'}>
        {status.data === undefined ? <Verdict /> : <Verdict dim={status.isError}>{systemVerdict(checks)}</Verdict>}
      </PageHead>
      {status.data === undefined ? <QueryFault query={status} what="The state cannot be read" /> : null}
      <LastKnown query={status} />
      {status.isError ? null : <QueryFault query={ready} what="Whether the API is ready cannot be read" withAge />}
      {awaits || checks.length > 0 ? (
        <Section title="Checks" awaits={awaits}>
          {slow ? <Skeleton rows={7} tall /> : null}
          <CheckList checks={checks} />
        </Section>
      ) : null}
      {status.data === undefined ? null : <Fleet status={status.data} />}
      <Section title="Scheduled jobs" aside={<span>times of the schedule are in UTC</span>}>
        <QueryFault query={cron} what="The jobs cannot be read" />
        {cron.data === undefined ? null : <Jobs jobs={cron.data} />}
        {me === undefined || ofAll ? null : <p className={styles.quiet}>They are shown to tokens for all topics.</p>}
      </Section>
      <p className={styles.quiet}>
        <Link to="/system/sagas" search={{}}>
          Workflows behind bulk runs
        </Link>
        {config?.version ? ` · version ${config.version}` : ''}
        {config?.build ? ` · console ${config.build}` : ''}
      </p>
    </>
  )
}

function Fleet({ status: { ingesters, retriers } }: { status: Status }) {
  if (ingesters.length + retriers.length === 0) return null
  return (
    <Section title="Who does the work">
      <Table
        label="Who does the work"
        columns={[
          { text: 'Process' },
          { text: 'Does' },
          { text: 'Not stored yet', number: true },
          { text: 'Started' },
          { text: 'Seen' },
        ]}
      >
        {ingesters.map(({ id, partitions, lag, fault, started_at, seen_at }) => (
          <tr key={id}>
            <Cell>
              {id}
              {fault === null ? null : <Under>{fault}</Under>}
            </Cell>
            <Cell>
              {partitions.length === 0 ? 'has no partition now' : `reads ${counted(partitions.length, 'partition')}`}
            </Cell>
            <Cell number label="Not stored yet">
              {numberText(lag)}
            </Cell>
            <Cell label="Started">
              <Time at={started_at} />
            </Cell>
            <Cell label="Seen">
              <Time at={seen_at} />
            </Cell>
          </tr>
        ))}
        {retriers.map(({ id, publishes: how, fault, started_at, seen_at }) => (
          <tr key={id}>
            <Cell>
              {id}
              {fault === null ? null : <Under>{fault}</Under>}
            </Cell>
            <Cell>sends: {publishWords[how]}</Cell>
            <Cell number label="Not stored yet">
              –
            </Cell>
            <Cell label="Started">
              <Time at={started_at} />
            </Cell>
            <Cell label="Seen">
              <Time at={seen_at} />
            </Cell>
          </tr>
        ))}
      </Table>
    </Section>
  )
}

function Jobs({ jobs }: { jobs: readonly CronJob[] }) {
  const refusal = useMissingRole('sys_operator', { ofAll: true })
  const [asked, setAsked] = useState<string | null>(null)
  const now = useNow()
  return (
    <>
      <Table
        label="Scheduled jobs"
        columns={[
          { text: 'Job' },
          { text: 'When' },
          { text: 'Last time' },
          { text: 'Next' },
          { text: 'Run', hidden: true },
        ]}
      >
        {jobs.map(({ name, schedule, next_tick, last, current }) => (
          <tr key={name}>
            <Cell>
              <Link to="/system/cron/$job" params={{ job: name }}>
                {name}
              </Link>
            </Cell>
            <Cell>
              {cronWords(schedule)}
              {schedule === null || cronWords(schedule) === schedule ? null : (
                <Under>
                  <code>{schedule}</code>
                </Under>
              )}
            </Cell>
            <Cell label="Last">
              {current !== null ? (
                'runs now'
              ) : last === null ? (
                <span className={styles.quiet}>never</span>
              ) : (
                <>
                  <span data-outcome={last.outcome}>{last.outcome ?? 'not settled'}</span> <Time at={last.tick} />
                  {last.duration_ms === null ? '' : `, took ${spanText(last.duration_ms)}`}
                  {last.error === null ? null : <Under>{last.error}</Under>}
                </>
              )}
            </Cell>
            <Cell label="Next">
              {next_tick !== null && isJustOver(next_tick, now) ? 'about now' : <Time at={next_tick} />}
            </Cell>
            <Cell end>
              <Button refusal={refusal} onPress={() => setAsked(name)}>
                Run now…
              </Button>
            </Cell>
          </tr>
        ))}
      </Table>
      {asked === null ? null : <RunJobDialog job={asked} onClose={() => setAsked(null)} />}
    </>
  )
}
