// What a run can do with messages, and who may ask for it. The API and the console decide by the same lists.

// biome-ignore format: one line
export const runKinds = ['retry', 'redirect', 'dead', 'revive', 'delete', 'archive', 'restore', 'purge', 'edit', 'erase', 'origin'] as const
export type RunKind = (typeof runKinds)[number]

/** Kinds that accept archived messages. A message is restored before it is sent. */
export const archiveKinds: readonly RunKind[] = ['retry', 'redirect', 'restore', 'purge', 'erase']

/** Kinds that are about the archive alone. */
export const archiveOnlyKinds: readonly RunKind[] = ['restore', 'purge']

/** They reach what the archive keeps of all topics, so only those who may see all topics may ask for them. */
export const unlimitedKinds: readonly RunKind[] = ['archive', 'purge', 'erase']

/** Nothing brings back what they take away, so only admins may ask for them. */
export const adminKinds: readonly RunKind[] = ['purge', 'erase']

/** What takes back what a run of the kind has done to the state of its messages. */
export const undoKinds: Readonly<Partial<Record<RunKind, RunKind>>> = { dead: 'revive', archive: 'restore' }
