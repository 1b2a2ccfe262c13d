// One error group: what it is and why it stands, with its newest message open.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { Menu } from '../../components/controls/menu.tsx'
import { useKeys } from '../../components/keys.ts'
import { lazyPart } from '../../components/lazy-part.tsx'
import { ChangeFault, LastKnown } from '../../components/show/fault.tsx'
import { HiddenNote } from '../../components/show/hidden-note.tsx'
import { LongWords } from '../../components/show/long-words.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { ActionBar, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { StatusBadge } from '../../components/show/status.tsx'
import { Strip } from '../../components/show/strip.tsx'
import { Time } from '../../components/show/time.tsx'
import { copyText } from '../../components/toasts.tsx'
import { TicketText } from '../../components/tool-links.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useSlow } from '../../data/live.ts'
import { groupQuery, openGroupsQuery } from '../../data/queries/groups.ts'
import { auditQuery, messageQuery, messagesQuery } from '../../data/queries/messages.ts'
import { useMissingRole } from '../../data/session.ts'
import { actionWords } from '../../domain/audit/audit-words.ts'
import { groupReport } from '../../domain/groups/group-report.ts'
import { groupVerdict } from '../../domain/groups/group-verdict.ts'
import { groupChoices } from '../../domain/lists/run-choices.ts'
import { withoutState } from '../../domain/message-words.ts'
import { statuses, totalOf } from '../../domain/states.ts'
import { numberText, shortClass } from '../../domain/words.ts'
import { ExportMenu } from '../messages/export-menu.tsx'
import styles from './group.module.css'
import { GroupMessages } from './group-messages.tsx'
import { GroupPauses } from './group-pauses.tsx'
import { useTriage } from './use-triage.tsx'

const Facets = lazyPart(() => import('../messages/facets.tsx').then(({ Facets }) => Facets))
const PauseDialog = lazyPart(() => import('../topics/pause-dialog.tsx').then(({ PauseDialog }) => PauseDialog))

const route = getRouteApi('/groups/$id')

export function GroupPage() {
  const { id } = route.useParams()
  const { open, view } = route.useSearch()
  const navigate = useNavigate()
  const live = useLive(5000)
  const group = useQuery({ ...groupQuery(id), refetchInterval: live })
  const trends = useQuery({ ...openGroupsQuery({ trend: true }), refetchInterval: useLive(60_000) })
  const trend = trends.data?.groups.find((one) => one.id === id)?.trend ?? null
  const audit = useQuery(auditQuery('group', id))
  const slow = useSlow(group.isPending)
  const [shown, setShown] = useState<string | null>(null)
  const [pausing, setPausing] = useState<string | null>(null)
  const newest = useQuery({ ...messageQuery(shown ?? ''), enabled: shown !== null }).data?.message
  const refusal = useMissingRole('sys_operator')
  const triage = useTriage(group.data ?? null)
  const draft = (kind: string) => void navigate({ to: '/runs/new', search: { kind, group: id } })
  useKeys({
    r: () => draft('retry'),
    e: () => {
      if (shown !== null) void navigate({ to: '/messages/$id/edit', params: { id: shown }, search: {} })
    },
    ...triage.keys,
  })

  if (group.data === undefined) {
    if (group.error === null) return slow ? <Skeleton rows={8} /> : null
    return (
      <Missing
        kind="group"
        name={id}
        fault={faultOf(group.error)}
        list={<Link to="/groups">All groups</Link>}
        onRetry={group.refetch}
      />
    )
  }
  const heldUpBy = (newest?.held_up_by ?? []).map((reason) => withoutState(reason, newest?.origin_state ?? null))
  const { title, error_class, location, message, counts, dlq_topics, first_seen_at, last_seen_at, note } = group.data
  const name = error_class === null ? title : `${shortClass(error_class)}${location === null ? '' : ` in ${location}`}`
  return (
    <>
      <PageHead
        title={name}
        documentTitle={`${counts.DEAD} DEAD · ${error_class === null ? title : shortClass(error_class)}`}
        back={<Link to="/groups">Groups</Link>}
        aside={triage.menus}
      >
        <p className={styles.quiet}>
          <LongWords text={message} /> · since <Time at={first_seen_at} long />, last <Time at={last_seen_at} /> ·{' '}
          {dlq_topics.join(', ')}
        </p>
        <HiddenNote of={[group.data]} />
        <Verdict dim={group.isError}>{groupVerdict(group.data, heldUpBy).join(' ')}</Verdict>
        <LastKnown query={group} />
      </PageHead>
      <ChangeFault error={triage.error} what="Not changed" />
      <GroupPauses group={group.data} />
      <div className={styles.numbers}>
        <Strip trend={trend} tall />
        <ul>
          {statuses.map((status) => (
            <li key={status}>
              <Link to="/messages" search={{ group_id: id, status }}>
                <strong>{numberText(counts[status])}</strong> <StatusBadge status={status} plain />
              </Link>
            </li>
          ))}
        </ul>
      </div>
      <ActionBar label="What can be done with this group">
        <Link to="/runs/new" search={{ kind: 'retry', group: id }} className={buttonClass('primary')}>
          Retry…
        </Link>
        {shown === null ? null : (
          <Link to="/messages/$id/edit" params={{ id: shown }} search={{}} className={buttonClass()}>
            Edit this one
          </Link>
        )}
        <Menu label="More runs" refusal={refusal} choices={groupChoices} onChoose={draft} />
        <Menu
          label="Pause retries"
          refusal={refusal}
          choices={dlq_topics.map((topic) => ({ id: topic, text: `Of ${topic}…` }))}
          onChoose={setPausing}
        />
        <ExportMenu filter={{ group_id: id }} />
        <Button
          onPress={() =>
            void copyText(
              groupReport({
                group: group.data,
                newest: newest ?? null,
                audit: audit.data ?? [],
                url: window.location.href,
              }),
              'a report in Markdown',
            )
          }
        >
          Copy report
        </Button>
      </ActionBar>
      {pausing === null ? null : <PauseDialog topic={pausing} what="retries" onClose={() => setPausing(null)} />}
      {note === null ? null : (
        <p className={styles.note}>
          Note: <TicketText text={note} />
        </p>
      )}
      <Facets
        filter={{ group_id: id }}
        onNarrow={(added) => void navigate({ to: '/messages', search: { group_id: id, ...added } })}
      />
      <GroupMessages
        id={id}
        query={messagesQuery({ group_id: id }, 'newest', 50)}
        total={totalOf(counts)}
        asked={open ?? null}
        look={view === 'json' || view === 'text' || view === 'hex' ? view : null}
        onShow={setShown}
      />
      {audit.data === undefined || audit.data.length === 0 ? null : (
        <Section title="Who changed what">
          <ul className={styles.audit}>
            {audit.data.slice(0, 10).map((entry) => (
              <li key={entry.id}>
                <Time at={entry.at} /> {entry.actor} {actionWords(entry.action)}
                {entry.reason === null ? '' : `: ${entry.reason}`}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}
