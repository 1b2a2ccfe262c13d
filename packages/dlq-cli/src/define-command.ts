// A command of the tree, with what all of them have: a summary, examples, and the options for output.
import type { Command } from 'commander'
import { askMe, type CommonOptions, openSession, type Session } from './session.ts'
import type { Terminal } from './terminal.ts'

/** The examples of each command, as its help shows them. A test runs every one. */
export const examplesOf = new WeakMap<Command, readonly string[]>()

type Definition = {
  summary: string
  /** More than the summary, below it. */
  description?: string
  examples: readonly string[]
}

/** A command below `parent`, such as "show <id>". */
export function defineCommand(parent: Command, usage: string, { summary, description, examples }: Definition): Command {
  const command = parent
    .command(usage)
    .summary(summary)
    .description(description === undefined ? summary : `${summary}\n\n${description}`)
    .addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}\n`)
  examplesOf.set(command, examples)
  return command
}

/** Ends with wrong use: `word` is no command below `parent`. */
export function refuseWord(parent: Command, word: string): never {
  const names = parent.commands.map((command) => command.name()).join(', ')
  parent.error(`error: unknown command '${word}'; known here: ${names}`, { code: 'commander.unknownCommand' })
}

/** The options of every command that asks the API. */
export function withOutput(command: Command): Command {
  return command
    .option('--json', 'what the API answered, for programs')
    .option('--wide', 'leave out no column and cut nothing')
    .option('--curl', 'print the request as a curl command and end there')
    .option('--context <name>', 'another context than the current one')
}

export function withWatch(command: Command): Command {
  return command.option('--watch [time]', 'repeat every 2s, or as often as you say, until Ctrl-C')
}

/** What a command does: arguments and options as commander read them. A number that it returns is the exit code. */
export type Action<Options> = (session: Session, args: readonly string[], options: Options) => Promise<unknown>

/** Opens a session for each call and reports the exit code. */
export function onCall<Options extends CommonOptions>(command: Command, act: Action<Options>): void {
  refuseRepeats(command)
  command.action(async (..._parsed: unknown[]) => {
    refuseEmpty(command)
    const { terminal, report } = runtimeOf(command)
    const options = command.opts<Options>()
    const args = command.processedArgs.flat().filter((arg): arg is string => typeof arg === 'string')
    const session = openSession(terminal, options)
    const result = await act(session, args, options).catch(async (error: unknown) => {
      // A member that is missing: the JSON may be of another service.
      if (error instanceof TypeError) await askMe(session)
      throw error
    })
    report(typeof result === 'number' ? result : 0)
  })
}

/** The last of two values would count, and the one before be lost without a word. */
function refuseRepeats(command: Command): void {
  for (const option of command.options.filter(({ required, optional }) => required || optional)) {
    let isGiven = false
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given twice`)
      isGiven = true
    })
  }
}

/** As `"$ID"` is in a script where nothing has set it. */
function refuseEmpty(command: Command): void {
  const empty = command.registeredArguments.find((_, at) => [command.processedArgs[at]].flat().includes(''))
  if (empty !== undefined) command.error(`error: argument '${empty.name()}' is empty`)
}

export type Runtime = { terminal: Terminal; report(exitCode: number): void }

const runtimes = new WeakMap<Command, Runtime>()

export function setRuntime(root: Command, runtime: Runtime): void {
  runtimes.set(root, runtime)
}

export function runtimeOf(command: Command): Runtime {
  let root = command
  while (root.parent) root = root.parent
  const runtime = runtimes.get(root)
  if (!runtime) throw new Error('the program was not started by runCli')
  return runtime
}
