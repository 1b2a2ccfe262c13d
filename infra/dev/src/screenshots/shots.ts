// The pictures of the console in the handbook. Each is a page of the demo's day, and says words that must be on it.

export type Shot = {
  /** Of the file in infra/docs/console/, without ".png". */
  name: string
  /** Below /console/; `{group}` is the id of the group whose error class has `group` in it, `{message}` that of its newest message. */
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
  { name: 'groups-light', path: 'groups', colors: 'light', screen: 'desktop', words: /InvalidAmount/ },
  {
    name: 'group-light',
    path: 'groups/{group}',
    group: 'Layout',
    colors: 'light',
    screen: 'desktop',
    words: /InvoiceReader\.java:41/,
  },
  {
    name: 'group-dark',
    path: 'groups/{group}',
    group: 'Layout',
    colors: 'dark',
    screen: 'desktop',
    words: /InvoiceReader\.java:41/,
  },
  {
    name: 'group-phone',
    path: 'groups/{group}',
    group: 'Layout',
    colors: 'light',
    screen: 'phone',
    words: /InvoiceReader\.java:41/,
  },
  { name: 'messages-light', path: 'messages', colors: 'light', screen: 'desktop', words: /arrived/ },
  {
    name: 'message-light',
    path: 'messages/{message}',
    group: 'Layout',
    colors: 'light',
    screen: 'desktop',
    words: /InvoiceReader\.java:41/,
  },
  {
    name: 'draft-light',
    path: 'runs/new?kind=retry&group={group}',
    group: 'Layout',
    colors: 'light',
    screen: 'desktop',
    words: /^Retry \d+ messages/,
  },
  { name: 'topics-light', path: 'topics', colors: 'light', screen: 'desktop', words: /invoices/ },
  { name: 'policies-light', path: 'policies', colors: 'light', screen: 'desktop', words: /Policies/ },
  { name: 'events-light', path: 'events', colors: 'light', screen: 'desktop', words: /What happened/ },
  {
    name: 'editor-light',
    path: 'messages/{message}/edit',
    group: 'Layout',
    colors: 'light',
    screen: 'desktop',
    words: /Review/,
  },
  {
    name: 'editor-dark',
    path: 'messages/{message}/edit',
    group: 'Layout',
    colors: 'dark',
    screen: 'desktop',
    words: /Review/,
  },
]
