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

const cases = (words: Words) =>
  [...words].map(([path, below]) => `    "${path}") words="${below.join(' ')}" ;;`).join('\n')

const bash = (words: Words) => `# dlq for bash: source this file.
_dlq() {
  local path=dlq word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " ${[...words.keys()].map((path) => path.replaceAll(' ', '_')).join(' ')} " in
      *" \${path// /_}_$word "*) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases(words)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _dlq dlq
`

const scripts: Record<(typeof shells)[number], (words: Words) => string> = {
  bash,
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bash(words)}`,
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
