// `dlq completion`: scripts made of the tree of commands, so they know names and choices and never ask the network.
import { Argument, type Command } from 'commander'
import { defineCommand, runtimeOf } from '../../define-command.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export function addCompletion(program: Command): void {
  const completion = defineCommand(program, 'completion', {
    summary: 'completion for your shell',
    examples: ['dlq completion bash > ~/dlq-completion && source ~/dlq-completion'],
  }).addArgument(new Argument('<shell>', 'which').choices(shells))
  completion.action(async () => {
    const shell = String(completion.processedArgs[0]) as (typeof shells)[number]
    await runtimeOf(completion).terminal.write(scripts[shell](wordsBelow(program)))
  })
}

/** For "dlq", "dlq runs" …: the words that may follow. */
function wordsBelow(command: Command, path = 'dlq'): Map<string, string[]> {
  const options = command.options.flatMap(({ long, short }) => long ?? short ?? [])
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const words = new Map([[path, [...command.commands.map((child) => child.name()), ...choices, ...options, '--help']]])
  for (const child of command.commands)
    for (const [name, below] of wordsBelow(child, `${path} ${child.name()}`)) words.set(name, below)
  return words
}

type Words = ReadonlyMap<string, readonly string[]>

/** A shell's "case" for each path: what its words are assigned by. */
const cases = (words: Words, assign: (below: string) => string) =>
  [...words].map(([path, below]) => `    "${path}") ${assign(below.join(' '))} ;;`).join('\n')

/** The paths of commands, each as one word. */
const paths = (words: Words) => [...words.keys()].map((path) => path.replaceAll(' ', '_')).join(' ')

const bash = (words: Words) => `# dlq for bash: source this file.
_dlq() {
  local path=dlq word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " ${paths(words)} " in
      *" \${path// /_}_$word "*) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases(words, (below) => `words="${below}"`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _dlq dlq
`

/** Not the one of bash: there "path" and "words" are zsh's own. */
const zsh = (words: Words) => `#compdef dlq
# dlq for zsh: source this file after compinit, or put it into a folder of $fpath as _dlq.
_dlq() {
  local at=dlq word
  local -a below
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case " ${paths(words)} " in
      *" \${at// /_}_$word "*) at="$at $word" ;;
    esac
  done
  case "$at" in
${cases(words, (below) => `below=(${below})`)}
  esac
  compadd -a below || _files
}
if [[ "$funcstack[1]" == _dlq ]]; then _dlq "$@"; else compdef _dlq dlq; fi
`

const scripts: Record<(typeof shells)[number], (words: Words) => string> = {
  bash,
  zsh,
  fish: (words) =>
    [...words]
      .flatMap(([path, below]) => {
        const parents = path.split(' ').slice(1)
        const seen = parents.map((name) => `__fish_seen_subcommand_from ${name}`)
        const condition = seen.length === 0 ? '__fish_use_subcommand' : seen.join('; and ')
        return below.map((word) =>
          word.startsWith('--')
            ? `complete -c dlq -n '${condition}' -l ${word.slice(2)}`
            : `complete -c dlq -f -n '${condition}' -a ${word}`,
        )
      })
      .join('\n')
      .concat('\n'),
}
