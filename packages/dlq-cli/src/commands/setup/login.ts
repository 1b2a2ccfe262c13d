// `dlq login` and `dlq context`: the deployments that this person works with.
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Context, checkedApi, readContexts, writeContexts } from '../../config/contexts.ts'
import { defineCommand, runtimeOf } from '../../define-command.ts'
import { CliError, exitCodes } from '../../exit-codes.ts'
import { table } from '../../output/table.ts'
import { plain } from '../../output/words.ts'
import { askMe, openSession } from '../../session.ts'

export function addLogin(program: Command): void {
  const login = defineCommand(program, 'login <api>', {
    summary: 'save a deployment: its address, and where its token comes from',
    description:
      'The file holds no token. It is saved, and becomes the current context, once the API accepts the token.',
    examples: [
      'dlq login "$API" --name shop --token-file ~/.dlq-token',
      'dlq login "$API" --name shop --token-command "cat ~/.dlq-token" --production',
    ],
  })
    .option('--name <name>', 'its name (default: the host)')
    .option('--token-file <path>', 'a file whose content is the token')
    .option('--token-command <command>', 'a command that prints the token')
    .option('--production', 'changes of many messages want their number typed')
  login.action(async () => {
    const { terminal } = runtimeOf(login)
    const options = login.opts<{ name?: string; tokenFile?: string; tokenCommand?: string; production?: boolean }>()
    const api = checkedApi(String(login.processedArgs[0]))
    if (options.tokenFile !== undefined && options.tokenCommand !== undefined)
      throw new CliError(exitCodes.usage, 'either --token-file or --token-command')
    const context: Context = {
      api,
      ...(options.tokenFile !== undefined && { token_file: resolve(options.tokenFile) }),
      ...(options.tokenCommand !== undefined && { token_command: options.tokenCommand }),
      ...(options.production && { production: true }),
    }
    const name = options.name ?? new URL(api).host
    const before = readContexts(terminal.env)
    // Saved once it is accepted: a token that is mistyped does not replace one that works.
    const { actor, role } = await askMe(openSession(terminal, {}, { name, ...context }))
    writeContexts(terminal.env, { current: name, contexts: { ...before.contexts, [name]: context } })
    await terminal.write(`${plain(name)} is the current context: ${api}, as ${plain(actor)} (${plain(role)})\n`)
  })

  const context = defineCommand(program, 'context', {
    summary: 'the saved deployments',
    examples: ['dlq context', 'dlq context use shop'],
  })
  context.action(async () => {
    const { terminal } = runtimeOf(context)
    const { current, contexts } = readContexts(terminal.env)
    const rows = Object.entries(contexts).map(([name, saved]) => ({ name, ...saved }))
    const columns = [
      { title: '', value: ({ name }: (typeof rows)[number]) => (name === current ? '*' : '') },
      { title: 'NAME', value: ({ name }: (typeof rows)[number]) => name },
      { title: 'API', value: ({ api }: (typeof rows)[number]) => api },
      { title: 'TOKEN', value: (row: (typeof rows)[number]) => row.token_file ?? row.token_command ?? 'none', rank: 1 },
      { title: '', value: ({ production }: (typeof rows)[number]) => (production ? 'production' : '') },
    ]
    await terminal.write(
      rows.length === 0 ? 'none yet: dlq login https://…\n' : `${table(rows, columns, terminal.columns)}\n`,
    )
  })
  const use = defineCommand(context, 'use <name>', {
    summary: 'make it the current one',
    examples: ['dlq context use shop'],
  })
  use.action(async () => {
    const { terminal } = runtimeOf(use)
    const name = String(use.processedArgs[0])
    writeContexts(terminal.env, { ...readContexts(terminal.env), current: name })
    await terminal.write(`${plain(name)} is the current context\n`)
  })
}
