// The tree of commands, and what ends a command: its exit code and, where it failed, one line that says why.
import { Command, CommanderError } from 'commander'
import { DlqApiError } from 'dlq-client/api-client.ts'
import packageJson from '../package.json' with { type: 'json' }
import { addEdit } from './commands/edit.ts'
import { addGroups } from './commands/groups.ts'
import { addLs } from './commands/ls.ts'
import { addPause } from './commands/pause.ts'
import { addDrop, addReplay } from './commands/replay.ts'
import { addRuns } from './commands/runs.ts'
import { addCompletion } from './commands/setup/completion.ts'
import { addDoctor } from './commands/setup/doctor.ts'
import { addHelp } from './commands/setup/help.ts'
import { addLogin } from './commands/setup/login.ts'
import { addShow } from './commands/show.ts'
import { addStatus } from './commands/status.ts'
import { addTail } from './commands/tail.ts'
import { refuseWord, setRuntime } from './define-command.ts'
import { CliError, exitCodes, isAwayStatus } from './exit-codes.ts'
import { CurlPrinted } from './output/curl.ts'
import { plainLines } from './output/words.ts'
import type { Terminal } from './terminal.ts'

export function createProgram(): Command {
  const program = new Command('dlq')
    .description('Dead letters of Kafka: see, group, edit and retry them.')
    .version(packageJson.version)
    .addHelpText(
      'after',
      `
Begin with \`dlq login https://dlq.example.com\`, or set DLQ_API and DLQ_TOKEN.

Exit codes: 0 done, 1 refused or failed, 3 something failed again, 4 paused, 64 wrong use, 69 the API is away,
75 --wait ran out of time, 77 not allowed, 78 configuration, 130 Ctrl-C, 143 SIGTERM`,
    )
  addLogin(program)
  addStatus(program)
  addGroups(program)
  addLs(program)
  addShow(program)
  addEdit(program)
  addReplay(program)
  addDrop(program)
  addRuns(program)
  addPause(program)
  addTail(program)
  addDoctor(program)
  addCompletion(program)
  addHelp(program)
  return program
}

/** Runs one command line, without the program's name. Resolves to the exit code; never rejects. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = createProgram()
  let exitCode: number = exitCodes.done
  setRuntime(program, {
    terminal,
    report(code) {
      exitCode = code
    },
  })
  let help = ''
  for (const command of everyCommand(program))
    command
      .exitOverride()
      // `dlq runs` is a command, and what follows it can only be another one: refused below, with their names.
      .allowExcessArguments(command.commands.length > 0)
      .enablePositionalOptions()
      .configureOutput({
        writeOut: (text) => {
          help += text
        },
        // It repeats what was typed, which may be pasted from a record.
        writeErr: (text) => terminal.note(plainLines(text.trimEnd())),
        outputError: (text, write) => write(text.replace(/^error: /, 'dlq: ')),
      })
      .showHelpAfterError(`see ${pathOf(command)} --help`)
  program.hook('preAction', (_, command) => {
    const [word] = command.args
    if (word !== undefined && command.commands.length > 0) refuseWord(command, word)
  })
  const attempt = (step: Promise<unknown>) =>
    step.catch((error: unknown) => {
      exitCode = faultOf(error, terminal)
    })
  await attempt(program.parseAsync(args, { from: 'user' }))
  if (help !== '') await attempt(terminal.write(help))
  return exitCode
}

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

/** "dlq runs watch". */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function faultOf(error: unknown, terminal: Terminal): number {
  if (error instanceof CurlPrinted) return exitCodes.done
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  const { aborted, reason } = terminal.signal
  const stopped = reason === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted
  if (error instanceof CliError) {
    terminal.note(`dlq: ${plainLines(error.message)}`)
    return aborted ? stopped : error.exitCode
  }
  if (aborted) return stopped
  if (error instanceof DlqApiError) {
    // Where a field is faulty, the API's sentence says it already.
    const details = error.details
      .filter(({ message }) => !error.message.includes(message))
      .map(({ field, message }) => `\n  ${field}: ${message}`)
      .join('')
    const remedy = error.status === 401 ? '; it comes from `dlq login`, or from DLQ_TOKEN beside DLQ_API' : ''
    const said = plainLines(error.message + details) + remedy
    terminal.note(`dlq: ${said}${error.requestId ? ` (${error.requestId})` : ''}`)
    if (error.status === 400) return exitCodes.usage
    if (error.status === 401 || error.status === 403) return exitCodes.notAllowed
    return error.status === 429 || isAwayStatus(error.status) ? exitCodes.unavailable : exitCodes.failed
  }
  terminal.note(`dlq: ${plainLines(error instanceof Error ? (error.stack ?? error.message) : String(error))}`)
  return exitCodes.failed
}
