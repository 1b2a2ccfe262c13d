// `dlq status`: what fails, what is about to be lost, and whether somebody works on it.
import type { Command } from 'commander'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { defineCommand, onCall, withOutput, withWatch } from '../define-command.ts'
import { ago, count, counted, plain, rate } from '../output/words.ts'
import type { CommonOptions, Session } from '../session.ts'

type Status = components['schemas']['Status']

export function addStatus(program: Command): void {
  const status = withWatch(
    withOutput(
      defineCommand(program, 'status', {
        summary: 'what fails, what is about to be lost, and the fleet',
        examples: ['dlq status', 'dlq status --json', 'dlq status --watch 5s'],
      }),
    ),
  )
  onCall<CommonOptions>(status, (session) =>
    session.watched(async () =>
      session.print(await dataOf(session.api.GET('/api/v1/status')), (data) => statusText(data, session)),
    ),
  )
}

function statusText(status: Status, { table }: Session): string {
  const now = Date.now()
  const { counts, retry } = status
  const lines = [
    `${count(counts.DEAD)} DEAD, ${count(counts.PENDING)} PENDING, ${count(counts.RETRYING)} RETRYING, ${count(counts.RESOLVED)} RESOLVED`,
    `${rate(status.ingest.per_minute)} stored and ${rate(retry.per_minute)} sent a minute` +
      (retry.success_rate === null
        ? ''
        : // Not rounded up: "100 %" would say that nothing came back.
          `, ${Math.floor(retry.success_rate * 100)} % of the attempts of five minutes have stayed away so far`),
    // An API from before it was asked says nothing of it.
    ...(status.takes_changes === false ? [`READ-ONLY: ${readOnlyText}`] : []),
    ...losses(status, now),
    ...status.held_topics.map(
      ({ topic, reason, since }) => `HELD ${plain(topic)}, since ${ago(since, now)}: ${plain(reason)}`,
    ),
    ...status.paused_topics.map((pause) => `PAUSED ${pausedTopicText(pause)}`),
    ...(status.paused_groups > 0
      ? [
          `${count(status.paused_groups)} error ${status.paused_groups === 1 ? 'group is' : 'groups are'} paused: dlq groups shows which`,
        ]
      : []),
    ...ingesters(status, now),
    ...retriers(status, now),
    '',
    table(
      status.topics,
      [
        { title: 'TOPIC', value: (row) => row.original_topic },
        { title: 'CONSUMER GROUP', value: (row) => row.consumer_group, rank: 2 },
        { title: 'DEAD', value: (row) => count(row.counts.DEAD), right: true },
        { title: 'PENDING', value: (row) => count(row.counts.PENDING), right: true },
        { title: 'RESOLVED', value: (row) => count(row.counts.RESOLVED), right: true, rank: 3 },
        { title: 'OLDEST PENDING', value: (row) => ago(row.oldest_pending_at, now), right: true, rank: 1 },
      ],
      'no dead letters',
    ),
    ...(total(counts) > status.topics.reduce((sum, topic) => sum + total(topic.counts), 0)
      ? ['there are more topics: these have the most open messages']
      : []),
  ]
  return lines.join('\n')
}

export function pausedTopicText({ topic, what, by, reason, until }: Status['paused_topics'][number]): string {
  const where = `${plain(topic)}${what === 'ingestion' ? ' (ingestion)' : ''}`
  return `${where}, by ${plain(by)}${until === null ? '' : `, until ${until}`}: ${plain(reason)}`
}

export const readOnlyText = 'the database takes no changes, so nothing is stored, sent or edited'

const total = ({ DEAD, PENDING, RETRYING, RESOLVED }: Status['counts']) => DEAD + PENDING + RETRYING + RESOLVED

function losses({ loss_clock: clocks }: Status, now: number): string[] {
  return clocks
    .filter(({ lag, lost }) => lag > 0 || lost > 0)
    .map(({ topic, lag, lost, expires_at: expires }) => {
      const said = [
        lost > 0
          ? `${count(lost)} ${lost === 1 ? 'was' : 'were'} deleted before ${lost === 1 ? 'it was' : 'they were'} stored`
          : null,
        expires !== null ? `Kafka deletes the next ${ago(expires, now)}` : null,
      ].filter((text) => text !== null)
      return `${said.length > 0 ? 'LOSS' : 'UNREAD'} ${plain(topic)}: ${[...said, `${count(lag)} not stored yet`].join(', ')}`
    })
}

function ingesters({ ingesters, dlq_topics: topics }: Status, now: number): string[] {
  // A deployment without DLQ topics needs none.
  if (ingesters.length === 0) return topics === 0 ? [] : ['NO INGESTER is alive: nothing is stored']
  return ingesters.map(
    ({ id, partitions, fault, seen_at: seen }) =>
      `ingester ${plain(id)}: reads ${counted(partitions.length, 'partition')}, seen ${ago(seen, now)}${fault === null ? '' : `, FAULT ${plain(fault)}`}`,
  )
}

function retriers({ retriers }: Status, now: number): string[] {
  if (retriers.length === 0) return ['NO RETRIER is alive: nothing is sent']
  return retriers.map(
    ({ id, publishes, fault, seen_at: seen }) =>
      `retrier ${plain(id)}: publishes ${publishes}, seen ${ago(seen, now)}${fault === null ? '' : `, FAULT ${plain(fault)}`}`,
  )
}
