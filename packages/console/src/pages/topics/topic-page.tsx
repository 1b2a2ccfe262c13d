// One topic: whether anything is lost, why nothing moves, what waits, who reads it, and what decides about it.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { useKeys } from '../../components/keys.ts'
import { PolicyTable } from '../../components/policies/policy-table.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { LastKnown } from '../../components/show/fault.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { ActionBar, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { StatusBadge } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import { copyText } from '../../components/toasts.tsx'
import { LossClock } from '../../components/topics/loss-clock.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { useStatus } from '../../data/queries/status.ts'
import { type Pausable, routesQuery, type Topic, topicQuery } from '../../data/queries/topics.ts'
import { useMissingRole } from '../../data/session.ts'
import { statuses } from '../../domain/states.ts'
import { lossLevel, raiseRetention } from '../../domain/topics/loss.ts'
import { topicVerdict } from '../../domain/topics/topic-verdict.ts'
import { counted, numberText } from '../../domain/words.ts'
import { ExportMenu } from '../messages/export-menu.tsx'
import { PauseDialog, ResumeDialog } from './pause-dialog.tsx'
import { Positions } from './positions.tsx'
import { RoutesTable, TopicLink } from './routes-table.tsx'
import { ConsumerGroups, Readers, TopicGroups } from './topic-parts.tsx'
import styles from './topics.module.css'

const route = getRouteApi('/topics/$topic')

export function TopicPage() {
  const { topic: name } = route.useParams()
  const { kind } = route.useSearch()
  const wanted = kind === 'dlq' || kind === 'original' ? kind : null
  const live = useLive(5000)
  const found = useQuery({ ...topicQuery(name, wanted), refetchInterval: live })
  const slow = useSlow(found.isPending)
  if (found.data !== undefined)
    return <Whole key={`${name} ${found.data.kind}`} topic={found.data} lastKnown={<LastKnown query={found} />} />
  if (found.error === null) return slow ? <Skeleton rows={8} /> : null
  return (
    <Missing
      kind="topic"
      name={name}
      fault={faultOf(found.error)}
      list={<Link to="/topics">Topics</Link>}
      onRetry={found.refetch}
    />
  )
}

function Whole({ topic, lastKnown }: { topic: Topic; lastKnown: ReactNode }) {
  const { topic: name, kind, counts, found, ingestion, counterparts } = topic
  const now = useNow()
  const status = useStatus()
  const routes = useQuery({
    ...routesQuery(kind === 'dlq' ? { dlq_topic: name } : { original_topic: name }),
    refetchInterval: useLive(60_000),
  })
  const admin = useMissingRole('sys_admin', { ofAll: true })
  const held = status.data?.held_topics.find(({ topic }) => topic === name)?.reason ?? null
  const clock = ingestion?.loss_clock ?? null
  const open = counts.DEAD + counts.PENDING + counts.RETRYING
  return (
    <>
      <PageHead
        title={name}
        documentTitle={`${counts.DEAD} DEAD · ${name}`}
        back={<Link to="/topics">Topics</Link>}
        aside={<span>{kind === 'dlq' ? 'DLQ topic' : 'original topic'}</span>}
      >
        <p className={styles.quiet}>
          {topic.display_name === null ? '' : `${topic.display_name} · `}
          {kind === 'dlq' ? 'dead letters of ' : 'dead letters in '}
          {counterparts.length === 0 ? 'no topic that is known' : <Counterparts topics={counterparts} kind={kind} />}
          {found === null ? null : (
            <>
              {' '}
              · {counted(found.partitions, 'partition')} · found <Time at={found.found_at} />
            </>
          )}
          {ingestion === null ? null : (
            <>
              {' '}
              · last stored <Time at={ingestion.stored_at} none="never" />
            </>
          )}
        </p>
        <Verdict>
          {topicVerdict(topic, held, now).map(({ text, severity }) => (
            <span key={text} className={styles[severity]}>
              <DirectedText text={text} />{' '}
            </span>
          ))}
        </Verdict>
        {lastKnown}
      </PageHead>
      <ul className={styles.numbers}>
        {statuses.map((one) => (
          <li key={one}>
            <Link to="/messages" search={{ topic: name, status: one }}>
              <strong>{numberText(counts[one])}</strong> <StatusBadge status={one} plain />
            </Link>
          </li>
        ))}
      </ul>
      <Actions topic={topic} open={open} />
      {clock === null ? null : (
        <Section
          title="Loss clock"
          aside={
            <>
              looked at <Time at={clock.looked_at} none="never" />
            </>
          }
        >
          <LossClock clock={clock} now={now} wide />
          {lossLevel(clock, now) === 'fine' ? null : <Command text={raiseRetention(name)} />}
        </Section>
      )}
      <TopicGroups topic={name} kind={kind} />
      <ConsumerGroups topic={name} />
      {routes.data === undefined || routes.data.length === 0 ? null : (
        <Section title="Routes">
          <RoutesTable routes={routes.data} />
        </Section>
      )}
      <Readers topic={name} />
      {kind === 'dlq' ? <Positions topic={name} /> : null}
      <Section
        title="Policy in force"
        aside={
          <Link to="/policies" search={{ topic: kind === 'dlq' ? (counterparts[0] ?? name) : name }}>
            Where each comes from
          </Link>
        }
      >
        <PolicyTable policy={topic.policy} own={name} mayChange={admin === null} />
      </Section>
    </>
  )
}

function Counterparts({ topics, kind }: { topics: readonly string[]; kind: Topic['kind'] }): ReactNode {
  const other = kind === 'dlq' ? 'original' : 'dlq'
  return topics.map((topic, index) => (
    <span key={topic}>
      {index === 0 ? '' : ', '}
      <TopicLink topic={topic} kind={other} />
    </span>
  ))
}

function Command({ text }: { text: string }) {
  return (
    <div className={styles.command}>
      <code>{text}</code>
      <Button onPress={() => void copyText(text, 'the command')}>Copy</Button>
    </div>
  )
}

type Asked = { what: Pausable; act: 'pause' | 'resume' }

function Actions({ topic, open }: { topic: Topic; open: number }) {
  const { topic: name, kind, paused, ingestion_paused } = topic
  const refusal = useMissingRole('sys_operator')
  const [asked, setAsked] = useState<Asked | null>(null)
  const ask = (what: Pausable, pause: unknown) => setAsked({ what, act: pause === null ? 'pause' : 'resume' })
  useKeys(refusal === null ? { s: () => ask('retries', paused) } : {})
  return (
    <>
      <ActionBar label="What can be done with this topic">
        <Link
          to="/runs/new"
          search={{ kind: 'retry', topic: name }}
          className={buttonClass(open > 0 ? 'primary' : 'plain')}
        >
          Retry all…
        </Link>
        <Button refusal={refusal} onPress={() => ask('retries', paused)} hint="s">
          {paused === null ? 'Pause retries…' : 'Resume retries…'}
        </Button>
        {kind === 'dlq' ? (
          <Button refusal={refusal} onPress={() => ask('ingestion', ingestion_paused)}>
            {ingestion_paused === null ? 'Pause ingestion…' : 'Resume ingestion…'}
          </Button>
        ) : null}
        <ExportMenu filter={{ topic: name }} />
        <Link to="/audit" search={{ topic: name }} className={buttonClass('quiet')}>
          Who changed what
        </Link>
      </ActionBar>
      {asked?.act === 'pause' ? <PauseDialog topic={name} what={asked.what} onClose={() => setAsked(null)} /> : null}
      {asked?.act === 'resume' ? <ResumeDialog topic={name} what={asked.what} onClose={() => setAsked(null)} /> : null}
    </>
  )
}
