import { expect, test } from 'vitest'
import { type PaletteFacts, paletteSections } from './palette-items.ts'
import { parseCommand } from './parse-command.ts'

const fixed = [
  { id: 'go /topics', text: 'Topics', note: 'g t' },
  { id: 'theme dark', text: 'Dark theme', words: 'colours night' },
]
const facts = (text: string, more: Partial<PaletteFacts> = {}): PaletteFacts => ({
  ...{ text, command: parseCommand(text), topics: null, groups: [], fixed, recent: [] },
  ...more,
})
const texts = (all: PaletteFacts) => paletteSections(all).flatMap(({ items }) => items.map((item) => item.text))

test('without a text there are the pages that were seen last, and every command', () => {
  expect(paletteSections(facts('', { recent: [{ href: '/topics', title: 'Topics' }] }))).toEqual([
    { title: 'Recent', items: [{ id: 'recent /topics', text: 'Topics' }] },
    { title: 'Commands', items: fixed },
  ])
})

test('nothing is offered twice under one id, also a page that was seen last', () => {
  const sections = paletteSections(facts('', { recent: [{ href: '/topics', title: 'Topics' }] }))
  const ids = sections.flatMap(({ items }) => items.map(({ id }) => id))
  expect(new Set(ids).size).toBe(ids.length)
})

test('a command can be given before the topics are known, and then takes those that fit', () => {
  expect(texts(facts('pause orders 2h'))).toEqual(['Pause retries of orders for 2h'])
  const topics = ['orders', 'orders.dlq.v1']
  expect(texts(facts('pause orders 2h', { topics }))).toEqual([
    'Pause retries of orders for 2h',
    'Pause retries of orders.dlq.v1 for 2h',
  ])
  expect(texts(facts('pause ord', { topics }))).toEqual([
    'Pause retries of orders until somebody resumes them',
    'Pause retries of orders.dlq.v1 until somebody resumes them',
  ])
  expect(paletteSections(facts('retry orders', { topics }))[0]!.items[0]!.id).toBe('retry orders')
})

test('text finds commands by the beginnings of words, things by their names, and can always be searched', () => {
  expect(texts(facts('dark', { topics: ['darkroom'], groups: [{ id: '1', title: 'DarkError', open: 2 }] }))).toEqual([
    'Dark theme',
    'darkroom',
    'DarkError',
    'Search messages for “dark”',
  ])
  expect(texts(facts('night th'))).toContain('Dark theme')
  expect(texts(facts('4711'))).toEqual(['Search messages for “4711”'])
})
