// `dlq completion`: scripts made of the tree of commands, so they know names and choices and never ask the network.
import { Argument, type Command, type Option } from 'commander'
import { defineCommand, runtimeOf } from '../../define-command.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export function addCompletion(program: Command): void {
  const completion = defineCommand(program, 'completion', {
    summary: 'completion for your shell',
    examples: ['dlq completion bash > ~/dlq-completion && source ~/dlq-completion'],
  }).addArgument(new Argument('<shell>', 'which').choices(shells))
  completion.action(async () => {
    const shell = String(completion.processedArgs[0]) as (typeof shells)[number]
    const places = placesBelow(program).filter(({ path }) => path !== 'dlq help')
    await runtimeOf(completion).terminal.write(scripts[shell]([...places, ...helpPlaces(program)]))
  })
}

/** What may follow "dlq", "dlq runs" …. */
type Place = {
  path: string
  /** Commands below it, and the choices of its arguments. */
  words: readonly string[]
  options: readonly Option[]
}

function placesBelow(command: Command, path = 'dlq'): Place[] {
  const children = command.commands.map((child) => child.name())
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  return [
    { path, words: [...children, ...choices], options: command.options },
    ...command.commands.flatMap((child) => placesBelow(child, `${path} ${child.name()}`)),
  ]
}

/** What may follow "dlq help" and "dlq help runs": names of commands alone. */
function helpPlaces(command: Command, path = 'dlq help'): Place[] {
  const children = command.commands.filter((child) => child.name() !== 'help')
  if (children.length === 0) return []
  return [
    { path, words: children.map((child) => child.name()), options: [] },
    ...children.flatMap((child) => helpPlaces(child, `${path} ${child.name()}`)),
  ]
}

const flagsOf = ({ options }: Place) => [...options.flatMap(({ long, short }) => long ?? short ?? []), '--help']
const wordsOf = (place: Place) => [...place.words, ...flagsOf(place)].join(' ')
const valuesOf = ({ argChoices = [] }: Option) => argChoices.join(' ')

/** A shell's "case" for the place and the word before: what its words are assigned by. */
const cases = (places: readonly Place[], assign: (words: string) => string) =>
  places
    .flatMap((place) => {
      const values = place.options
        .filter(({ required, optional, argChoices }) => required || (optional && argChoices !== undefined))
        .map((option) => {
          const after = [option.long, option.short].flatMap((flag) => (flag ? [`"${place.path} ${flag}"`] : []))
          return `    ${after.join('|')}) ${assign(valuesOf(option))} ;;`
        })
      return [...values, `    "${place.path} "*) ${assign(wordsOf(place))} ;;`]
    })
    .join('\n')

/** The paths of commands, each as one word. */
const paths = (places: readonly Place[]) => places.map(({ path }) => path.replaceAll(' ', '_')).join(' ')

/** The longest path first: "dlq runs " begins like "dlq runs watch ". */
const byDepth = (places: readonly Place[]) => places.toSorted((a, b) => b.path.length - a.path.length)

const bash = (places: readonly Place[]) => `# dlq for bash: source this file.
_dlq() {
  local path=dlq word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " ${paths(places)} " in
      *" \${path// /_}_$word "*) path="$path $word" ;;
    esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${cases(byDepth(places), (words) => `words="${words}"`)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _dlq dlq
`

/** Not the one of bash: there "path" and "words" are zsh's own. */
const zsh = (places: readonly Place[]) => `#compdef dlq
# dlq for zsh: source this file after compinit, or put it into a folder of $fpath as _dlq.
_dlq() {
  local at=dlq word
  local -a below
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case " ${paths(places)} " in
      *" \${at// /_}_$word "*) at="$at $word" ;;
    esac
  done
  case "$at $words[CURRENT-1]" in
${cases(byDepth(places), (words) => `below=(${words})`)}
  esac
  compadd -a below || _files
}
if [[ "$funcstack[1]" == _dlq ]]; then _dlq "$@"; else compdef _dlq dlq; fi
`

function fish(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const parents = place.path.split(' ').slice(1)
    const seen = parents.map((name) => `__fish_seen_subcommand_from ${name}`)
    // fish knows which words were seen, and not in which order: "dlq runs pause" is not "dlq pause".
    const others = places.filter(({ path, words }) => path.split(' ').length === 2 && words.includes(parents[0] ?? ''))
    const unseen = [...place.words, ...others.map(({ path }) => path.split(' ')[1])]
    const below = unseen.length === 0 ? [] : [`not __fish_seen_subcommand_from ${unseen.join(' ')}`]
    const condition = parents.length === 0 ? '__fish_use_subcommand' : [...seen, ...below].join('; and ')
    const flag = (name: string, value = '') => `complete -c dlq -n '${condition}' -l ${name.replace(/^--/, '')}${value}`
    return [
      ...place.words.map((word) => `complete -c dlq -f -n '${condition}' -a ${word}`),
      ...place.options.flatMap((option) => {
        if (!option.long) return []
        const value = option.argChoices ? ` -x -a '${valuesOf(option)}'` : ' -r'
        return flag(option.long, option.required ? value : '')
      }),
      flag('help'),
    ]
  })
  return `${lines.join('\n')}\n`
}

const scripts: Record<(typeof shells)[number], (places: readonly Place[]) => string> = { bash, zsh, fish }
