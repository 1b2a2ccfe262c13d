// One message: what it is, what happens next, what to do; then its story, its stack trace and its bytes.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components'
import tabStyles from '../../components/controls/tabs.module.css'
import { useKeys } from '../../components/keys.ts'
import { lazyPart } from '../../components/lazy-part.tsx'
import { HeadersTable } from '../../components/message/headers-table.tsx'
import { StackView } from '../../components/message/stack-view.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { LastKnown } from '../../components/show/fault.tsx'
import { LongWords } from '../../components/show/long-words.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { Notice, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { StatusBadge } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import { copyText } from '../../components/toasts.tsx'
import { ToolLink } from '../../components/tool-links.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { useMessage } from '../../data/queries/content/masked.ts'
import { auditQuery, editsQuery, type MessageDetail } from '../../data/queries/messages.ts'
import { toolTemplates } from '../../data/session.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { parseSearch } from '../../domain/addresses.ts'
import { whatNext } from '../../domain/message-words.ts'
import { hiddenParts } from '../../domain/payload/hidden-parts.ts'
import { addressIn, valuesOf } from '../../domain/system/tool-links.ts'
import { counted, headOf, shortClass } from '../../domain/words.ts'
import { MaskNotice } from './mask-notice.tsx'
import { MessageActions } from './message-actions.tsx'
import { DecodedValue, MessageBytes } from './message-content.tsx'
import { PolicyFacts, WhereFacts } from './message-facts.tsx'
import styles from './message-page.module.css'
import { NewerLetters, StaleNotice } from './newer-letters.tsx'
import { Timeline } from './timeline.tsx'
import { useNeighbours } from './use-neighbours.ts'

const OriginSection = lazyPart(() => import('./origin-section.tsx').then(({ OriginSection }) => OriginSection))

const route = getRouteApi('/messages/$id')
/** The whole key has a tab of its own. */
const shownKeyChars = 100
const tabs = ['value', 'key', 'headers', 'where', 'policy', 'json'] as const

export function MessagePage() {
  const { id } = route.useParams()
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/messages/$id' })
  const { detail, message } = useMessage(id, { refetchInterval: useLive(2000) })
  const edits = useQuery({ ...editsQuery(id), enabled: (detail.data?.message.edits ?? 0) > 0 })
  const audit = useQuery({ ...auditQuery('message', id), refetchInterval: useLive(10_000) })
  const now = useNow()
  const slow = useSlow(detail.isPending)
  const { payloads } = useStore(settings)
  const tab = tabs.find((one) => one === search.tab) ?? 'value'
  const look = search.view === 'json' || search.view === 'text' || search.view === 'hex' ? search.view : null
  const setSearch = (change: Record<string, string>) =>
    void navigate({ params: { id }, search: (old) => ({ ...old, ...change }), replace: true })
  const { previous, next } = useNeighbours(id, search.in)
  const go = (to: string | null) => {
    if (to !== null) void navigate({ to: '/messages/$id', params: { id: to }, search })
  }
  useKeys({
    ...Object.fromEntries(tabs.map((one, at) => [String(at + 1), () => setSearch({ tab: one })])),
    e: () => void navigate({ to: '/messages/$id/edit', params: { id }, search: {} }),
    y: () => void copyText(id, 'the id'),
    'Shift+y': () => void copyText(window.location.href, 'the link'),
    '[': () => go(previous),
    ']': () => go(next),
  })

  if (message === undefined) {
    if (detail.error === null) return slow ? <Skeleton rows={8} /> : null
    return (
      <Missing
        kind="message"
        name={id}
        fault={faultOf(detail.error)}
        list={<Link to="/messages">All messages</Link>}
        onRetry={detail.refetch}
      />
    )
  }
  const gone = detail.error !== null && faultOf(detail.error).status === 404
  return (
    <>
      <PageHead
        title={message.error_message}
        documentTitle={`${message.status} · ${message.error_class === null ? message.original_topic : shortClass(message.error_class)}`}
        back={<BackLinks message={message} from={search.in} />}
      >
        <p className={styles.quiet}>
          {message.error_class === null ? null : (
            <>
              <LongWords text={message.error_class} /> ·{' '}
            </>
          )}
          <bdi>
            <DirectedText text={message.original_topic} />
          </bdi>{' '}
          →{' '}
          <bdi>
            <DirectedText text={message.consumer_group ?? 'consumer group not known'} />
          </bdi>
          {message.key === null ? null : (
            <>
              {' '}
              · key{' '}
              <bdi>
                <DirectedText text={headOf(message.key.value ?? '', shownKeyChars)} />
              </bdi>
            </>
          )}{' '}
          · failed {counted(message.failure_count, 'time')} since <Time at={message.first_failed_at} long />
        </p>
        <div className={styles.state}>
          <StatusBadge status={message.status} plain />
          <Verdict dim={gone}>{whatNext(message, now)}</Verdict>
        </div>
      </PageHead>
      {gone ? null : <LastKnown query={detail} />}
      {gone ? (
        <Notice look="alarm">
          This message is gone: it was deleted while this page was open, or your token may not see it any more.
        </Notice>
      ) : null}
      {message.archived_at === null ? null : (
        <Notice>
          <span>
            Archived since <Time at={message.archived_at} long />. A change restores it first.
          </span>
        </Notice>
      )}
      {message.is_scrubbed ? (
        <Notice>Personal data was taken out of this error before it was stored: “•••” stands for it.</Notice>
      ) : null}
      {message.erased_at === null ? null : (
        <Notice>
          <span>
            Its contents were erased <Time at={message.erased_at} long />: nothing of it can be sent or changed.
          </span>
        </Notice>
      )}
      <StaleNotice message={message} />
      {gone ? null : <MaskNotice message={message} />}
      {gone ? null : <MessageActions message={message} etag={detail.data?.etag ?? null} />}
      <div className={styles.split}>
        <div className={styles.column}>
          {message.error_stacktrace === null ? null : (
            <Section title="Stack trace">
              <StackView trace={message.error_stacktrace} />
            </Section>
          )}
          <Tabs selectedKey={tab} onSelectionChange={(key) => setSearch({ tab: String(key) })}>
            <TabList aria-label="Parts of the record" className={tabStyles.tabs!}>
              {tabs.map((one) => (
                <Tab key={one} id={one} className={tabStyles.tab!}>
                  {
                    {
                      value: 'Value',
                      key: 'Key',
                      headers: 'Headers',
                      where: 'Where',
                      policy: 'Policy',
                      json: 'JSON of the API',
                    }[one]
                  }
                </Tab>
              ))}
            </TabList>
            <TabPanel id="value" className={styles.panel!}>
              <DecodedValue message={message} />
              <MessageBytes message={message} part="value" look={look} onLook={(view) => setSearch({ view })} />
            </TabPanel>
            <TabPanel id="key" className={styles.panel!}>
              <MessageBytes message={message} part="key" look={look} onLook={(view) => setSearch({ view })} />
            </TabPanel>
            <TabPanel id="headers" className={styles.panel!}>
              <HeadersTable
                headers={message.headers}
                hidden={payloads === 'hidden'}
                masked={hiddenParts(message.hidden).headers}
              />
            </TabPanel>
            <TabPanel id="where" className={styles.panel!}>
              <WhereFacts message={message} />
            </TabPanel>
            <TabPanel id="policy" className={styles.panel!}>
              <PolicyFacts policy={message.policy} />
            </TabPanel>
            <TabPanel id="json" className={styles.panel!}>
              <pre>
                <DirectedText text={JSON.stringify({ ...message, payload: '…' }, null, 2)} />
              </pre>
            </TabPanel>
          </Tabs>
        </div>
        <div className={styles.column}>
          <Section title="What happened">
            <Timeline
              message={message}
              etag={detail.data?.etag ?? null}
              edits={edits.data ?? []}
              audit={audit.data ?? []}
            />
          </Section>
          <NewerLetters message={message} />
          <Around message={message} />
          {gone ? null : <OriginSection message={message} etag={detail.data?.etag ?? null} />}
        </div>
      </div>
    </>
  )
}

function BackLinks({ message, from }: { message: MessageDetail; from: string | undefined }) {
  if (from !== undefined)
    return (
      <Link to="/messages" search={parseSearch(from)}>
        Back to the list
      </Link>
    )
  if (message.group_id === null) return <Link to="/messages">Messages</Link>
  return (
    <Link to="/groups/$id" params={{ id: message.group_id }}>
      Its error group
    </Link>
  )
}

function Around({ message }: { message: MessageDetail }) {
  const { key, group_id, original } = message
  const place = original.offset === null ? null : BigInt(original.offset)
  const keyText = key?.value == null ? null : key.encoding === 'base64' ? `base64:${key.value}` : key.value
  return (
    <Section title="Around it">
      <div className={styles.links}>
        {keyText === null ? null : (
          <Link to="/messages" search={{ key: keyText }}>
            Same key
          </Link>
        )}
        {group_id === null ? null : (
          <Link to="/groups/$id" params={{ id: group_id }}>
            Same error group
          </Link>
        )}
        <ToolLinks message={message} />
        {place === null || original.partition === null ? null : (
          <Link
            to="/messages"
            search={{
              topic: original.topic,
              partition: String(original.partition),
              offset_from: String(place > 50n ? place - 50n : 0n),
              offset_to: String(place + 50n),
            }}
          >
            Neighbours in the topic
          </Link>
        )}
      </div>
    </Section>
  )
}

function ToolLinks({ message }: { message: MessageDetail }) {
  const { trace, logs } = useStore(toolTemplates)
  const values = valuesOf(message)
  const [traceAt, logsAt] = [addressIn(trace, values), addressIn(logs, values)]
  return (
    <>
      {traceAt === null ? null : <ToolLink href={traceAt}>Its trace</ToolLink>}
      {logsAt === null ? null : <ToolLink href={logsAt}>Logs</ToolLink>}
    </>
  )
}
