// `dlq pause` and `dlq resume`: stop the retries of a topic, or the ingestion of a DLQ topic, and let them go on.
import type { Command } from 'commander'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { defineCommand, onCall, withOutput } from '../define-command.ts'
import { readDuration } from '../filters.ts'
import { ago, plain } from '../output/words.ts'
import type { CommonOptions, Session } from '../session.ts'

type Pauses = components['schemas']['TopicPauses']
type Options = CommonOptions & { ingestion?: true; reason?: string }

export function addPause(program: Command): void {
  const pause = withOutput(
    defineCommand(program, 'pause <topic>', {
      summary: 'send nothing of a topic for a while',
      description: 'An original topic or a DLQ topic, by its exact name. What retriers hold already is finished.',
      examples: [
        'dlq pause orders --for 30m --reason "OPS-4711: the card network is down"',
        'dlq pause orders --reason "OPS-4711" --json',
      ],
    }),
  )
    .option('--for <time>', 'ends by itself after this, such as 30m; else when somebody resumes it')
    .option('--ingestion', 'read nothing of the DLQ topic instead')
    .requiredOption('--reason <text>', 'for those who find it paused, and for the audit')
  onCall<Options & { for?: string; reason: string }>(pause, async (session, [topic], options) => {
    const body = {
      reason: options.reason,
      ...(options.for !== undefined && { until: await untilOf(options.for, session) }),
      ...(options.ingestion && { what: 'ingestion' as const }),
    }
    const params = { path: { topic: topic! } }
    await session.print(await dataOf(session.api.POST('/api/v1/topics/{topic}/pause', { params, body })), pausesText)
  })

  const resume = withOutput(
    defineCommand(program, 'resume <topic>', {
      summary: 'let a paused topic go on',
      examples: ['dlq resume orders --reason "OPS-4711: it is back"'],
    }),
  )
    .option('--ingestion', 'the ingestion of the DLQ topic')
    .option('--reason <text>', 'for the audit')
  onCall<Options>(resume, async (session, [topic], { ingestion, reason }) => {
    const body = {
      ...(reason !== undefined && { reason }),
      ...(ingestion && { what: 'ingestion' as const }),
    }
    const params = { path: { topic: topic! } }
    await session.print(await dataOf(session.api.POST('/api/v1/topics/{topic}/resume', { params, body })), pausesText)
  })
}

async function untilOf(text: string, session: Session): Promise<string> {
  const ms = readDuration('--for', text, { such: '30m', least: 1 })
  return new Date((await session.now()) + ms).toISOString()
}

function pausesText({ topic, paused, ingestion_paused: ingestion }: Pauses): string {
  return [
    pauseText(`retries of ${plain(topic)}`, paused),
    ...(ingestion === null ? [] : [pauseText(`ingestion of ${plain(topic)}`, ingestion)]),
  ].join('\n')
}

function pauseText(what: string, pause: Pauses['paused']): string {
  if (pause === null) return `${what}: not paused`
  const now = Date.now()
  const end = pause.until === null ? 'until somebody resumes them' : `until ${pause.until}`
  return `${what}: paused ${end}, by ${plain(pause.by)} ${ago(pause.since, now)}: ${plain(pause.reason)}`
}
