// The pictures of the console in the handbook. Each is a page of the demo's day, and says words that must be on it.

export type Shot = {
  /** Of the file in infra/docs/console/, without ".png". */
  name: string
  /** Below /console/; `{group}` is the id of the group whose error class has `group` in it. */
  path: string
  group?: string
  colors: 'light' | 'dark'
  screen: 'desktop' | 'phone'
  /** Stands on the page once it is whole. */
  words: RegExp
}

export const shots: readonly Shot[] = [
  { name: 'now-light', path: '', colors: 'light', screen: 'desktop', words: /InvalidAmount/ },
  { name: 'now-dark', path: '', colors: 'dark', screen: 'desktop', words: /InvalidAmount/ },
  { name: 'now-phone', path: '', colors: 'light', screen: 'phone', words: /InvalidAmount/ },
]
