// `dlq groups`: the inbox. Messages that fail for the same reason are one error group.
import type { Command } from 'commander'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components, paths } from 'dlq-client/api-types.ts'
import { defineCommand, onCall, withOutput, withWatch } from '../define-command.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { readLimit } from '../filters.ts'
import { ago, count, durationMs, plain } from '../output/words.ts'
import { readPages } from '../read-pages.ts'
import type { CommonOptions, Session } from '../session.ts'

type Group = components['schemas']['ErrorGroup']
type Change = NonNullable<paths['/api/v1/groups/{id}']['patch']['requestBody']>['content']['application/json']
type State = Group['state']

type Page = components['schemas']['GetGroupsAnswer']
type PageQuery = NonNullable<paths['/api/v1/groups']['get']['parameters']['query']>

/** The first `limit` groups, as one page. */
async function readGroups({ api }: Session, { limit, ...filter }: PageQuery & { limit: number }): Promise<Page> {
  const { items, last } = await readPages(limit, {
    atOnce: 100,
    ask: (page) => dataOf(api.GET('/api/v1/groups', { params: { query: { ...filter, ...page } } })),
    itemsOf: ({ groups }) => groups,
    nextOf: ({ next_cursor }) => next_cursor,
  })
  return { ...last, groups: items }
}

export function addGroups(program: Command): void {
  const groups = withWatch(
    withOutput(
      defineCommand(program, 'groups', {
        summary: 'error groups: what fails, and whose it is',
        examples: [
          'dlq groups',
          'dlq groups --state open,snoozed --topic orders.dlq.v1',
          'dlq groups -q Invalid --json',
        ],
      }),
    ),
  )
    .option('--state <states>', 'open, snoozed, ignored, resolved; with commas between', 'open')
    .option('--topic <dlq-topic>', 'groups of this DLQ topic')
    .option('-q, --q <text>', 'text in title, class or message')
    .option('--limit <number>', 'how many', readLimit, 20)
  onCall<CommonOptions & { state: string; topic?: string; q?: string; limit: number }>(groups, (session, _, options) =>
    session.watched(async () => {
      const query = {
        state: options.state.split(',') as State[],
        limit: options.limit,
        ...(options.topic !== undefined && { dlq_topic: options.topic }),
        ...(options.q !== undefined && { q: options.q }),
      }
      const page = await readGroups(session, query)
      await session.print(page, ({ groups }) => groupTable(groups, session))
      session.noteMore(page.next_cursor)
    }),
  )

  const show = withOutput(
    defineCommand(groups, 'show <id>', { summary: 'one error group', examples: ['dlq groups show "$GROUP"'] }),
  )
  onCall<CommonOptions>(show, async (session, [id]) => {
    const group = await dataOf(session.api.GET('/api/v1/groups/{id}', { params: { path: { id: id! } } }))
    await session.print(group, groupText)
  })

  addChange(groups, 'resolve <id>', {
    summary: 'mark it resolved; if it fails once more it shows as regressed',
    examples: ['dlq groups resolve "$GROUP" --reason "OPS-4711: deployed"'],
    change: () => ({ state: 'resolved' }),
  })
  addChange(groups, 'snooze <id> <time>', {
    summary: 'hide it for a while',
    examples: ['dlq groups snooze "$GROUP" 2h'],
    change: async ([, time], session) => ({ state: 'snoozed', snoozed_until: await untilOf(time!, session) }),
  })
  addChange(groups, 'assign <id> <owner>', {
    summary: 'say who looks at it; "-" for nobody',
    examples: ['dlq groups assign "$GROUP" maria --note OPS-4711'],
    change: ([, owner]) => ({ owner: owner === '-' ? null : owner! }),
  })
  addChange(groups, 'reopen <id>', {
    summary: 'show it in the inbox again',
    examples: ['dlq groups reopen "$GROUP"'],
    change: () => ({ state: 'open' }),
  })
  addResume(groups)
}

function addResume(groups: Command): void {
  const resume = withOutput(
    defineCommand(groups, 'resume <id>', {
      summary: 'let its automatic retries go on, which were paused because they kept failing',
      examples: ['dlq groups resume "$GROUP" --reason "OPS-4711: deployed"'],
    }),
  )
    .option('--topic <original-topic>', 'of this original topic alone')
    .option('--reason <text>', 'for the audit')
  onCall<CommonOptions & { topic?: string; reason?: string }>(resume, async (session, [id], { topic, reason }) => {
    const body = { ...(topic !== undefined && { original_topic: topic }), ...(reason !== undefined && { reason }) }
    const params = { path: { id: id! } }
    await session.print(
      await dataOf(session.api.POST('/api/v1/groups/{id}/resume', { params, body })),
      ({ resumed }) => `resumed for ${resumed.map(plain).join(', ')}`,
    )
  })
}

type ChangeDefinition = {
  summary: string
  examples: string[]
  change(args: readonly string[], session: Session): Change | Promise<Change>
}

function addChange(groups: Command, usage: string, { change, ...definition }: ChangeDefinition): void {
  const command = withOutput(defineCommand(groups, usage, definition))
    .option('--note <text>', 'for people')
    .option('--reason <text>', 'for the audit')
  onCall<CommonOptions & { note?: string; reason?: string }>(command, async (session, args, { note, reason }) => {
    const body = {
      ...(await change(args, session)),
      ...(note !== undefined && { note }),
      ...(reason !== undefined && { reason }),
    }
    const path = { id: args[0]! }
    await session.print(await dataOf(session.api.PATCH('/api/v1/groups/{id}', { params: { path }, body })), groupText)
  })
}

async function untilOf(text: string, session: Session): Promise<string> {
  const ms = durationMs(text)
  if (ms !== null) return new Date((await session.now()) + ms).toISOString()
  if (!/^\d{4}-\d\d-\d\d/.test(text))
    throw new CliError(exitCodes.usage, `not a time such as 2h or 2026-12-24: ${text}`)
  // Whether the calendar has it is the API's to judge.
  return text.includes('T') ? text : `${text}T00:00:00Z`
}

function groupTable(groups: readonly Group[], { table }: Session): string {
  const now = Date.now()
  // A state that all have is the first column to go.
  const areOpen = groups.every((group) => stateText(group) === 'open')
  // The API's page is in the order in which they were stored last.
  const seen = ({ last_seen_at: at }: Group) => Date.parse(at)
  return table(
    groups.toSorted((a, b) => seen(b) - seen(a)),
    [
      { title: 'GROUP', value: ({ id }) => id, whole: true },
      { title: 'STATE', value: stateText, rank: areOpen ? 6 : 3 },
      { title: 'DEAD', value: ({ counts }) => count(counts.DEAD), right: true, rank: 1, below: true },
      { title: 'PENDING', value: ({ counts }) => count(counts.PENDING), right: true, rank: 4 },
      { title: 'LAST SEEN', value: ({ last_seen_at }) => ago(last_seen_at, now), right: true, rank: 5 },
      { title: 'OWNER', value: ({ owner }) => owner, rank: 7 },
      { title: 'ERROR', value: ({ title }) => title, rank: 2, enough: 20, below: true },
    ],
    'no error groups',
  )
}

function stateText({ state, regressed, pauses }: Group): string {
  return `${regressed ? 'regressed' : state}${pauses.length > 0 ? ', paused' : ''}`
}

function groupText(group: Group): string {
  const { counts } = group
  return [
    `${plain(group.title)}`,
    `  id        ${group.id}`,
    `  state     ${stateText(group)}${group.snoozed_until ? ` until ${group.snoozed_until}` : ''}`,
    `  messages  ${count(counts.DEAD)} DEAD, ${count(counts.PENDING)} PENDING, ${count(counts.RESOLVED)} RESOLVED`,
    `  seen      ${group.first_seen_at} to ${group.last_seen_at}`,
    ...group.pauses.map(
      ({ original_topic: topic, since, reason }) => `  paused    ${plain(topic)} since ${since}: ${plain(reason)}`,
    ),
    `  in        ${group.dlq_topics.map(plain).join(', ')}`,
    `  owner     ${plain(group.owner)}`,
    `  note      ${plain(group.note)}`,
    `  at        ${plain(group.location)}`,
    `  message   ${plain(group.message)}`,
  ].join('\n')
}
