// What somebody looked for at an address that no page has.

const kinds: Readonly<Record<string, string>> = {
  groups: 'an error group',
  messages: 'a message',
  runs: 'a run',
  topics: 'a topic',
  policies: 'a policy',
  audit: 'an entry of the audit',
  system: 'a part of the system',
}

/** "a message", by the first word of the path below /console; null where nothing is known of it. */
export function soughtKind(path: string): string | null {
  const [first = ''] = path.split('/').filter((part) => part !== '')
  return kinds[first] ?? null
}
