// `dlq replay` and `dlq drop`: runs. They happen in the fleet; Ctrl-C only stops watching.
import { type Command, Option } from 'commander'
import { defineCommand, onCall, withOutput } from '../define-command.ts'
import { CliError, type ExitCode, exitCodes } from '../exit-codes.ts'
import { readDuration, readNumber } from '../filters.ts'
import type { Session } from '../session.ts'
import { followRun, followVerdicts, outcomeOf, runText, sends } from './runs.ts'
import { type RunRequest, type SelectionOptions, selectionOf, startRun, withSelection } from './selection.ts'

type RunOptions = SelectionOptions & { wait?: WaitFor | true; timeout: string }

/** Sent, or read by the consumer groups that failed, without coming back. */
type WaitFor = 'sent' | 'consumed'

function withRun(command: Command, { isLive = false } = {}): Command {
  return withSelection(command, { isLive })
    .addOption(
      new Option('--wait [what]', 'until the run has ended; consumed: until what it sent was read, too').choices([
        ...['sent', 'consumed'],
      ]),
    )
    .option('--timeout <time>', 'how long --wait waits', '10m')
}

export function addReplay(program: Command): void {
  const replay = withRun(
    withOutput(
      defineCommand(program, 'replay [ids...]', {
        summary: 'retry messages: ids, or a filter',
        description: `A filter is counted first, and you are asked. The fleet does the work: Ctrl-C only stops watching.
1 where nothing is started though ids, or --expect, name messages.
With --wait: 0 all sent, 3 something failed again, 4 paused, 75 not ended in time,
1 something could not be sent, or was left alone though its id was named.
With --wait consumed: 0 all were read by their consumer groups and stayed away, 1 some were skipped or expired unread.`,
        examples: [
          'dlq replay --topic orders --dry-run',
          'dlq replay "$ID" --wait --timeout 1m',
          'dlq replay --topic orders -q Timeout --yes --rate 50 --max-lag 500 --wait',
          'dlq replay --topic orders --expect 2 --canary 1 --canary-wait 1s --max-refailure 1% --wait',
          'dlq replay --group-id "$GROUP" --target-topic orders.v2 --yes',
          'dlq replay "$ID" --force --reason "OPS-4711: repaired" --wait',
          'dlq replay --topic orders --send-stale --dry-run',
          'dlq replay --topic orders --curl',
        ],
      }),
    ),
  )
    .option('--rate <per-second>', 'messages a second, at most', readNumber)
    .option('--target-topic <topic>', 'another topic than the original one')
    .option('--force', 'also what may not be retried by itself, such as DEAD messages; needs --reason')
    .option('--send-stale', 'also what a policy holds because a newer record of its key may have been written')
    .option('--max-lag <records>', 'send nothing more while a group that failed has more than this to read', readNumber)
    .option('--canary <number>', 'send this many first, and wait for what comes back', readNumber)
    .option('--canary-wait <time>', 'how long to wait after the canary')
    .option('--max-refailure <share>', 'pause at more re-failures than this, such as 1%')
  type Options = RunOptions & {
    rate?: number
    targetTopic?: string
    force?: true
    sendStale?: true
    maxLag?: number
    canary?: number
    canaryWait?: string
    maxRefailure?: string
  }
  onCall<Options>(replay, async (session, ids, options) => {
    const { targetTopic: to, canary, canaryWait: wait, maxRefailure: share, maxLag, rate } = options
    if (canary === undefined && wait !== undefined) throw new CliError(exitCodes.usage, '--canary-wait needs --canary')
    if (options.force && isBlank(options.reason)) throw new CliError(exitCodes.usage, 'say why: --reason')
    return perform(session, options, to === undefined ? 'Retry' : `Send to ${to}`, {
      kind: to === undefined ? 'retry' : 'redirect',
      ...(await selectionOf(session, ids, options)),
      ...(options.force && { force: true }),
      ...(options.sendStale && { staleness: 'send' }),
      ...(to !== undefined && { target_topic: to }),
      ...(rate !== undefined && { rate_per_second: rate }),
      ...(maxLag !== undefined && { max_lag: maxLag }),
      ...(canary !== undefined && {
        canary: {
          first: canary,
          ...(wait !== undefined && { wait }),
          ...(share !== undefined && { max_refailure: share }),
        },
      }),
      ...(share !== undefined && { on_refailure: 'pause', max_refailure: share }),
    })
  })
}

export function addDrop(program: Command): void {
  const drop = withRun(
    withOutput(
      defineCommand(program, 'drop [ids...]', {
        summary: 'give messages up: mark them DEAD, or delete them',
        examples: [
          'dlq drop --topic orders --error-class Obsolete --dry-run',
          'dlq drop "$ID" --reason "OPS-4711: a test order" --wait',
          'dlq drop "$ID" --delete --reason "OPS-4711: personal data" --wait',
        ],
      }),
    ),
    { isLive: true },
  ).option('--delete', 'delete them with their attempts; the audit keeps the reason')
  onCall<RunOptions & { delete?: true }>(drop, async (session, ids, options) => {
    if (isBlank(options.reason) && !options.dryRun) throw new CliError(exitCodes.usage, 'say why: --reason')
    return perform(session, options, options.delete ? 'Delete' : 'Mark DEAD', {
      kind: options.delete ? 'delete' : 'dead',
      ...(await selectionOf(session, ids, options)),
    })
  })
}

const isBlank = (reason: string | undefined) => (reason ?? '').trim() === ''

async function perform(
  session: Session,
  options: RunOptions,
  verb: string,
  wanted: RunRequest,
): Promise<ExitCode | undefined> {
  const { reason, wait, timeout } = options
  const timeoutMs = readDuration('--timeout', timeout)
  const started = await startRun(session, { ...wanted, ...(reason !== undefined && { reason }) }, { ...options, verb })
  if (started === null) return
  if (!wait) {
    await session.print(started, runText)
    session.terminal.note(`it goes on by itself: dlq runs watch ${started.id}`)
    return
  }
  // Whatever ends the waiting, Ctrl-C or an API that is away, the run goes on and can be found again.
  session.terminal.note(`run ${started.id} has started; Ctrl-C leaves it going: dlq runs watch ${started.id}`)
  const deadline = Date.now() + timeoutMs
  const ended = await followRun(session, started.id, deadline)
  const last = wait === 'consumed' && sends(ended) ? await followVerdicts(session, ended, deadline) : ended
  await session.print(last, runText)
  const outcome = outcomeOf(last, wait === 'consumed')
  const isLeftAlone = 'ids' in wanted.selection && Object.keys(last.progress.skipped).length > 0
  return outcome === exitCodes.done && isLeftAlone ? exitCodes.failed : outcome
}
