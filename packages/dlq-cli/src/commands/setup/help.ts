// `dlq help`: that of a command, also of one below another. commander's own stops at the first word.
import type { Command } from 'commander'
import { defineCommand, refuseWord } from '../../define-command.ts'

export function addHelp(program: Command): void {
  program.helpCommand(false)
  const help = defineCommand(program, 'help [command...]', {
    summary: 'how a command is used',
    examples: ['dlq help', 'dlq help runs watch'],
  })
  help.action((words: string[]) => {
    const found = words.reduce(
      (parent, word) => parent.commands.find((command) => command.name() === word) ?? refuseWord(parent, word),
      program,
    )
    found.outputHelp()
  })
}
