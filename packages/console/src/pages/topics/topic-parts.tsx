// Parts of a topic's page: its error groups, the consumer groups that failed, and those that read it.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { GroupLine } from '../../components/groups/group-line.tsx'
import { Cell, Table } from '../../components/lists/table.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Section } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { useLive } from '../../data/live.ts'
import { groupPageQuery } from '../../data/queries/groups.ts'
import { readersQuery, type TopicKind, topicFacetsQuery } from '../../data/queries/topics.ts'
import { readerWords } from '../../domain/topics/reader-words.ts'
import { numberText } from '../../domain/words.ts'
import styles from './topics.module.css'

const maxGroups = 8

/** Both parts below ask it, and are answered once. */
const useTopicFacets = (topic: string) => useQuery({ ...topicFacetsQuery(topic), refetchInterval: useLive(60_000) })

export function TopicGroups({ topic, kind }: { topic: string; kind: TopicKind }) {
  const facets = useTopicFacets(topic)
  const ids = facets.data?.facets.group_id?.flatMap(({ value }) => (value === null ? [] : [value])).slice(0, maxGroups)
  const filter = kind === 'dlq' ? { dlq_topic: topic } : { ids: (ids ?? []).join(',') }
  const known = kind === 'dlq' || (ids ?? []).length > 0
  const groups = useQuery({
    ...groupPageQuery({ ...filter, trend: 'true', limit: String(maxGroups) }),
    enabled: known,
    refetchInterval: useLive(60_000),
  })
  const rows = known ? (groups.data?.groups ?? []) : []
  return (
    <Section
      title="Error groups"
      aside={
        kind === 'dlq' ? (
          <Link to="/groups" search={{ dlq_topic: topic, tab: 'all' }}>
            All of this topic
          </Link>
        ) : undefined
      }
    >
      <QueryFault query={groups} what="The groups cannot be read" />
      {rows.length === 0 && !groups.isLoading && !facets.isLoading ? (
        <p className={styles.quiet}>No error group has messages of this topic.</p>
      ) : (
        <ul className={styles.rows}>
          {rows.map((group) => (
            <li key={group.id}>
              <GroupLine group={group} marks={{}} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

export function ConsumerGroups({ topic }: { topic: string }) {
  const facets = useTopicFacets(topic)
  const groups = facets.data?.facets.consumer_group ?? []
  if (facets.error !== null)
    return (
      <Section title="Consumer groups that failed">
        <QueryFault query={facets} />
      </Section>
    )
  return (
    <Section
      title="Consumer groups that failed"
      aside={facets.data?.complete === false ? `of the newest ${numberText(facets.data.examined)} messages` : undefined}
    >
      {groups.length === 0 ? (
        <p className={styles.quiet}>{facets.isLoading ? '' : 'None is known.'}</p>
      ) : (
        <Table
          label="Consumer groups that failed"
          columns={[{ text: 'Consumer group' }, { text: 'Messages', number: true }]}
        >
          {groups.map(({ value, count }) => (
            <tr key={value}>
              <Cell>
                {value === null ? (
                  <span className={styles.quiet}>not named by its messages</span>
                ) : (
                  <Link to="/messages" search={{ topic, consumer_group: value }}>
                    {value}
                  </Link>
                )}
              </Cell>
              <Cell number label="Messages">
                {numberText(count)}
              </Cell>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}

export function Readers({ topic }: { topic: string }) {
  const readers = useQuery({ ...readersQuery(topic), refetchInterval: useLive(15_000) })
  const rows = readers.data ?? []
  if (readers.error !== null)
    return (
      <Section title="Who reads it">
        <QueryFault query={readers} />
      </Section>
    )
  // Retriers look at topics that they have sent to: of others there is nothing to say.
  if (rows.length === 0) return null
  return (
    <Section title="Who reads it">
      <Table
        label="Who reads it"
        columns={[
          { text: 'Consumer group' },
          { text: 'State' },
          { text: 'Unread', number: true },
          { text: 'Partitions', number: true },
          { text: 'Looked at' },
        ]}
      >
        {rows.map((reader) => (
          <tr key={reader.consumer_group}>
            <Cell>{reader.consumer_group}</Cell>
            <Cell>{readerWords(reader)}</Cell>
            <Cell number label="Unread">
              {reader.lag === null ? 'not known' : numberText(BigInt(reader.lag))}
            </Cell>
            <Cell number label="Partitions">
              {reader.read_partitions} of {reader.partitions}
            </Cell>
            <Cell label="Looked at">
              <Time at={reader.looked_at} />
            </Cell>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
