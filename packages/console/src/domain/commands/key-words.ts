// The keys of the console in words, by page. What is bound now is what is shown.

export type KeyWords = { readonly key: string; readonly words: string }
export type KeyTable = { readonly title: string; readonly keys: readonly KeyWords[] }

/** Heard on every page. */
export const everywhere: readonly KeyWords[] = [
  { key: '/', words: 'search or paste anything' },
  { key: 'Mod+k', words: 'commands: pages, topics, “pause orders 2h”' },
  { key: '?', words: 'the keys of this page' },
  { key: 'Shift+a', words: 'the requests of this page, as curl' },
  { key: 'p', words: 'pause live updates, or go on with them' },
  { key: 't', words: 'relative or absolute times' },
  { key: 'z', words: 'take back what was done last' },
  { key: 'Escape', words: 'close what lies over the page' },
]

/** Keys that mean the same wherever they are heard. */
const common: Readonly<Record<string, string>> = {
  j: 'next row',
  k: 'previous row',
  o: 'open the row',
  '.': 'show what is new',
  '[': 'previous in the list',
  ']': 'next in the list',
  y: 'copy the id',
  'Shift+y': 'copy the link',
  c: 'copy as curl',
  'Mod+Enter': 'do it: save, start, go on',
  'Shift+p': 'pause the run at the bottom, or go on with it',
  'Shift+r': 'the rate of the run at the bottom',
  'Shift+c': 'cancel the run at the bottom',
}

/** By the beginning of the page's path; the most exact path wins. */
const pages: readonly {
  readonly path: RegExp
  readonly title: string
  readonly keys: Readonly<Record<string, string>>
}[] = [
  {
    path: /^\/groups$/,
    title: 'Groups',
    keys: {
      a: 'it is mine',
      s: 'snooze for an hour',
      i: 'ignore',
      d: 'resolved',
      r: 'retry it',
    },
  },
  {
    path: /^\/groups\//,
    title: 'Group',
    keys: {
      r: 'retry it',
      e: 'change the message that is open',
      a: 'it is mine',
      s: 'snooze',
      i: 'ignore',
      d: 'resolved',
      m: 'owner',
      n: 'note',
    },
  },
  { path: /^\/messages$/, title: 'Messages', keys: { x: 'select', 'Shift+x': 'select up to here' } },
  {
    path: /^\/messages\/[^/]+$/,
    title: 'Message',
    keys: {
      r: 'retry now',
      e: 'change it',
      '1': 'value',
      '2': 'key',
      '3': 'headers',
      '4': 'where',
      '5': 'policy',
      '6': 'JSON',
    },
  },
  { path: /^\/messages\/.+\/edit/, title: 'Change a message', keys: {} },
  { path: /^\/runs\/new$/, title: 'Draft of a run', keys: {} },
  { path: /^\/runs\/[^/]+$/, title: 'Run', keys: { d: 'resolve its group' } },
  { path: /^\/runs/, title: 'Runs', keys: {} },
  { path: /^\/topics\//, title: 'Topic', keys: { s: 'pause or resume its retries' } },
  { path: /^\/policies\//, title: 'Policy', keys: { e: 'change it' } },
]

/** `bound`: the keys that the page hears now; `path`: below /console. */
export function keyTables(
  path: string,
  bound: readonly string[],
  sections: readonly { key: string; name: string }[],
): KeyTable[] {
  const page = pages.find(({ path: pattern }) => pattern.test(path))
  const global = new Set([...everywhere.map(({ key }) => key), ...sections.map(({ key }) => `g ${key}`)])
  const own = [...new Set(bound)].filter((key) => !global.has(key))
  return [
    {
      title: page?.title ?? 'This page',
      keys: own.flatMap((key) => {
        const words = page?.keys[key] ?? common[key]
        return words === undefined ? [] : [{ key, words }]
      }),
    },
    { title: 'Everywhere', keys: everywhere },
    { title: 'Go to', keys: sections.map(({ key, name }) => ({ key: `g ${key}`, words: name })) },
  ].filter(({ keys }) => keys.length > 0)
}

/** "Mod+Enter" as it stands on the keyboard. */
export function keyCaps(key: string, mac: boolean): string[] {
  const names: Readonly<Record<string, string>> = { Mod: mac ? '⌘' : 'Ctrl', Enter: '↵', Escape: 'Esc' }
  return key
    .split(/[+ ]/)
    .filter((part) => part !== '')
    .map((part) => names[part] ?? part)
}
