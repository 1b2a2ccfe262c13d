import { expect, test } from 'vitest'
import { keyCaps, keyTables } from './key-words.ts'

const sections = [{ key: 't', name: 'Topics' }]

test('the keys of a page are those that it hears now, with what they mean there', () => {
  const tables = keyTables('/groups', ['g t', '/', 'j', 'd', 'F13'], sections)
  expect(tables[0]).toEqual({
    title: 'Groups',
    keys: [
      { key: 'j', words: 'next row' },
      { key: 'd', words: 'resolved' },
    ],
  })
  expect(tables.map(({ title }) => title)).toEqual(['Groups', 'Everywhere', 'Go to'])
  expect(tables[2]!.keys).toEqual([{ key: 'g t', words: 'Topics' }])
})

test('every key that a run is stopped, slowed and ended by is named', () => {
  const keys = keyTables('/runs/1', ['Shift+p', 'Shift+r', 'Shift+c', 'd'], sections)[0]!.keys
  expect(keys.map(({ key }) => key)).toEqual(['Shift+p', 'Shift+r', 'Shift+c', 'd'])
})

test('a page without keys of its own has those that are heard everywhere', () => {
  expect(keyTables('/settings', ['/', 'p'], sections).map(({ title }) => title)).toEqual(['Everywhere', 'Go to'])
})

test('keys are named as they stand on the keyboard', () => {
  expect(keyCaps('Mod+Enter', true)).toEqual(['⌘', '↵'])
  expect(keyCaps('Mod+k', false)).toEqual(['Ctrl', 'k'])
  expect(keyCaps('g t', false)).toEqual(['g', 't'])
  expect(keyCaps('Shift+a', true)).toEqual(['Shift', 'a'])
})
