// What the commands offer for a text: the best first, each with an id that says what it does.

import { counted } from '../words.ts'
import type { Command } from './parse-command.ts'

export type PaletteItem = { readonly id: string; readonly text: string; readonly note?: string }
export type PaletteSection = { readonly title: string; readonly items: readonly PaletteItem[] }

/** Pages, switches and the like, which are always there. */
export type Fixed = { readonly id: string; readonly text: string; readonly note?: string; readonly words?: string }

export type PaletteFacts = {
  readonly text: string
  readonly command: Command | null
  /** Null while they are not known. */
  readonly topics: readonly string[] | null
  readonly groups: readonly { readonly id: string; readonly title: string; readonly open: number }[]
  readonly fixed: readonly Fixed[]
  readonly recent: readonly { readonly href: string; readonly title: string }[]
}

const maxOfEach = 6

export function paletteSections(facts: PaletteFacts): PaletteSection[] {
  const text = facts.text.trim()
  const sections =
    text === ''
      ? [
          {
            title: 'Recent',
            items: facts.recent.slice(0, maxOfEach).map(({ href, title }) => ({ id: `recent ${href}`, text: title })),
          },
          { title: 'Commands', items: facts.fixed },
        ]
      : [
          { title: 'Do', items: commandItems(facts) },
          { title: 'Commands', items: facts.fixed.filter((one) => contains(one, text)).slice(0, maxOfEach) },
          ...(facts.command === null ? [thingSections(facts), searchSection(text)].flat() : []),
        ]
  return sections.filter(({ items }) => items.length > 0)
}

/** The topic as it was typed is offered until it is known that there is none; names that begin like it come next. */
function commandItems({ command, topics }: PaletteFacts): PaletteItem[] {
  if (command === null) return []
  const { verb, name, duration } = command
  const fitting = (topics ?? []).filter((topic) => topic.toLowerCase().includes(name.toLowerCase()))
  const names =
    topics === null || topics.includes(name) || fitting.length === 0
      ? [name, ...fitting.filter((topic) => topic !== name)]
      : fitting
  return names.slice(0, maxOfEach).map((topic) => {
    if (verb === 'resume') return { id: `resume ${topic}`, text: `Resume retries of ${topic}` }
    if (verb === 'retry')
      return { id: `retry ${topic}`, text: `Retry all of ${topic}…`, note: 'opens the draft of a run' }
    const time = duration === null ? 'until somebody resumes them' : `for ${duration}`
    return { id: `pause ${duration ?? ''} ${topic}`, text: `Pause retries of ${topic} ${time}` }
  })
}

function thingSections({ topics, groups }: PaletteFacts): PaletteSection[] {
  return [
    {
      title: 'Topics',
      items: (topics ?? []).slice(0, maxOfEach).map((topic) => ({ id: `topic ${topic}`, text: topic })),
    },
    {
      title: 'Error groups',
      items: groups
        .slice(0, maxOfEach)
        .map(({ id, title, open }) => ({ id: `group ${id}`, text: title, note: counted(open, 'open message') })),
    },
  ]
}

function searchSection(text: string): PaletteSection {
  return {
    title: 'Search',
    items: [{ id: 'search', text: `Search messages for “${text}”`, note: 'id, key, or text of the error' }],
  }
}

/** Each word of the text begins a word of the command. */
function contains({ text, words = '' }: Fixed, wanted: string): boolean {
  const all = `${text} ${words}`.toLowerCase().split(/\W+/)
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.some((one) => one.startsWith(word)))
}
