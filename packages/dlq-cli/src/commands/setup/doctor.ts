// `dlq doctor`: what keeps dead letters from being seen or sent, as far as the API can tell.
import type { Command } from 'commander'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { eachTopic } from 'dlq-client/each.ts'
import { defineCommand, onCall, withOutput } from '../../define-command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { table } from '../../output/table.ts'
import { ago, count, counted, plain } from '../../output/words.ts'
import type { CommonOptions, Session } from '../../session.ts'
import { pausedTopicText, readOnlyText } from '../status.ts'

type Status = components['schemas']['Status']
type Level = 'ok' | 'warning' | 'fault'
export type Check = { check: string; level: Level; text: string }

/** Of this machine and the API. Times in filters are read by the API's clock. */
const maxSkewMs = 30_000
const maxTopics = 10_000
const longestSilenceMs = 60_000

export function addDoctor(program: Command): void {
  const doctor = withOutput(
    defineCommand(program, 'doctor', {
      summary: 'what keeps dead letters from being seen or sent; 1 where there is a fault',
      description:
        'A warning may be meant so, and leaves the exit code 0. It asks the API only, and cannot see consumers: whether they read committed records alone is their setting.',
      examples: ['dlq doctor', 'dlq doctor --json'],
    }),
  )
  onCall<CommonOptions>(doctor, async (session) => {
    const checks = await runChecks(session)
    const columns = [
      { title: '', value: ({ level }: Check) => level },
      { title: 'CHECK', value: ({ check }: Check) => check },
      { title: '', value: ({ text }: Check) => text },
    ]
    // Sentences are not cut: their ends say what to do.
    await session.print({ checks }, () => table(checks, columns, null))
    return checks.some(({ level }) => level === 'fault') ? exitCodes.failed : exitCodes.done
  })
}

async function runChecks(session: Session): Promise<Check[]> {
  const { api } = session
  const answer = await api.GET('/api/v1/status')
  if (!answer.data) throw new DlqApiError(answer.response.status, answer.error)
  const status = answer.data
  const { topics } = await dataOf(api.GET('/api/v1/me'))
  return [
    { check: 'api', level: 'ok', text: `${session.context.api} answers and accepts the token` },
    clockCheck(answer.response.headers.get('date')),
    await readyCheck(session),
    ...statusChecks(status, { now: Date.now(), isLimited: topics !== null }),
    ...(await topicChecks(session)),
    ...(await askedChecks(session)),
  ]
}

function clockCheck(date: string | null): Check {
  const skewMs = date === null ? 0 : Math.abs(Date.now() - Date.parse(date))
  const text =
    skewMs > maxSkewMs ? `this machine and the API differ by ${Math.round(skewMs / 1000)} s` : 'agrees with the API'
  return { check: 'clock', level: skewMs > maxSkewMs ? 'warning' : 'ok', text }
}

async function readyCheck({ api }: Session): Promise<Check> {
  const { data, error } = await api.GET('/readyz')
  const { status, checks } = (data ?? error) as { status: string; checks: Record<string, string> }
  const text = Object.entries(checks).map(([name, said]) => `${name} ${said}`)
  return { check: 'database', level: status === 'ready' ? 'ok' : 'fault', text: text.join(', ') }
}

/** From `GET /api/v1/status` alone. `now` in ms. A limited token sees some topics only. */
function statusChecks(status: Status, { now, isLimited }: { now: number; isLimited: boolean }): Check[] {
  const { retriers, ingesters, loss_clock: clocks, held_topics: held, summary } = status
  const checks: Check[] = []
  const add = (check: string, level: Level, text: string) => checks.push({ check, level, text })

  // An API from before it was asked says nothing of it.
  if (status.takes_changes === false) add('database', 'fault', readOnlyText)

  if (retriers.length === 0) add('retriers', 'fault', 'none is alive, so nothing is sent: start one')
  for (const { id, publishes, fault, seen_at } of retriers) {
    const silentMs = now - Date.parse(seen_at)
    if (fault !== null) add('retriers', 'fault', `${plain(id)}: ${plain(fault)}`)
    else if (silentMs > longestSilenceMs) add('retriers', 'warning', `${plain(id)} was last seen ${ago(seen_at, now)}`)
    else if (publishes === 'nothing') add('retriers', 'fault', `${plain(id)} has no Kafka, so it sends nothing`)
    else if (publishes !== 'exactly-once') add('retriers', 'warning', `${plain(id)} publishes ${publishes}`)
    else add('retriers', 'ok', `${plain(id)} publishes ${publishes}`)
  }
  // A deployment without DLQ topics needs none.
  if (ingesters.length === 0 && status.dlq_topics > 0)
    add('ingesters', 'fault', 'none is alive, so nothing is stored: start one')
  for (const { id, fault, partitions } of ingesters)
    if (fault !== null) add('ingesters', 'fault', `${plain(id)}: ${plain(fault)}`)
    else add('ingesters', 'ok', `${plain(id)} reads ${counted(partitions.length, 'partition')}`)
  for (const { topic, lost, expires_at, lag } of clocks) {
    if (lost > 0) add('loss', 'fault', `${plain(topic)}: ${count(lost)} were deleted by Kafka before they were stored`)
    else if (expires_at !== null && lag > 0)
      add(
        'loss',
        'warning',
        `${plain(topic)}: ${count(lag)} not stored; Kafka deletes the next ${ago(expires_at, now)}`,
      )
  }
  if (status.dlq_topics === 0 && isLimited) add('ingestion', 'ok', 'no DLQ topic is shown to this token')
  else if (status.dlq_topics === 0)
    add('ingestion', 'warning', 'no DLQ topic was found: see kafka.dlq_topic_pattern, which is *.dlq.v1 by default')
  else
    add(
      'ingestion',
      'ok',
      `${count(status.dlq_topics)} DLQ topics, the newest dead letter stored ${ago(status.stored_at, now)}`,
    )
  for (const { topic, reason, since } of held)
    add('held', 'warning', `${plain(topic)} since ${ago(since, now)}: ${plain(reason)}`)
  for (const pause of status.paused_topics) add('paused', 'warning', pausedTopicText(pause))
  if (status.paused_groups > 0)
    add(
      'paused',
      'warning',
      `${count(status.paused_groups)} error ${status.paused_groups === 1 ? 'group is' : 'groups are'} paused: dlq groups shows which`,
    )
  if (summary !== null && summary.drift !== 0)
    add(
      'counts',
      'warning',
      `the counts were wrong by ${count(summary.drift)} when they were last counted, ${ago(summary.counted_at, now)}`,
    )
  return checks
}

async function topicChecks({ api }: Session): Promise<Check[]> {
  const gone: string[] = []
  const pausedBy = new Map<string, string[]>()
  const checks: Check[] = []
  let seen = 0
  for await (const { topic, found, faults, policy } of eachTopic(api, { kind: 'dlq' })) {
    if (found?.gone_at) gone.push(plain(topic))
    if (policy.paused?.value) {
      const { pattern } = policy.paused
      const by = pattern === null ? 'retry.paused of the configuration' : `the policy ${plain(pattern)}`
      pausedBy.set(by, [...(pausedBy.get(by) ?? []), plain(topic)])
    }
    for (const { text } of faults)
      checks.push({ check: 'topics', level: 'warning', text: `${plain(topic)}: ${plain(text)}` })
    seen += 1
    if (seen >= maxTopics) break
  }
  for (const [by, [first = '', ...others]] of pausedBy) {
    const topics = others.length === 0 ? first : `${first} and ${counted(others.length, 'other topic')}`
    checks.push({ check: 'paused', level: 'warning', text: `${topics}, by ${by}` })
  }
  if (gone.length > 0) checks.push({ check: 'topics', level: 'warning', text: `gone from Kafka: ${gone.join(', ')}` })
  return [...checks, ...(await candidateChecks(api))]
}

const maxNamed = 20

/** Topics that look like DLQ topics and that nobody ingests. */
async function candidateChecks(api: Session['api']): Promise<Check[]> {
  const query = { kind: 'candidate' as const, limit: maxNamed }
  const { topics } = await dataOf(api.GET('/api/v1/topics', { params: { query } }))
  return topics.flatMap(({ topic, candidate }) => {
    if (candidate === null || candidate.confidence === 'weak') return []
    const holds =
      candidate.records_at_most === null ? '' : ` with at most ${count(Number(candidate.records_at_most))} records`
    const reads = candidate.read_by.length === 0 ? '' : `; ${candidate.read_by.map(plain).join(', ')} reads it`
    return { check: 'candidates', level: 'warning', text: `nobody ingests ${plain(topic)}${holds}${reads}` }
  })
}

/** What not every token may see is left out, with a word. */
async function askedChecks({ api }: Session): Promise<Check[]> {
  const routes = await allowed(
    dataOf(api.GET('/api/v1/routes', { params: { query: { state: 'waiting', limit: 100 } } })),
  )
  const cron = await allowed(dataOf(api.GET('/api/v1/cron')))
  const checks: Check[] = []
  if (routes === null) checks.push({ check: 'routes', level: 'ok', text: 'not shown to this token' })
  for (const { dlq_topic, original_topic, held } of routes?.routes ?? [])
    checks.push({
      check: 'routes',
      level: 'warning',
      text: `may ${plain(dlq_topic)} speak for ${plain(original_topic)}? ${count(held)} messages wait for an answer`,
    })
  for (const { name, last } of cron?.jobs ?? [])
    if (last?.outcome === 'failed')
      checks.push({ check: 'cron', level: 'warning', text: `${plain(name)} failed: ${plain(last.error)}` })
  return checks
}

async function allowed<T>(asked: Promise<T>): Promise<T | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof DlqApiError && error.status === 403) return null
    throw error
  })
}
