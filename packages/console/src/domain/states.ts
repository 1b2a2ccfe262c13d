// The states of a message, with the plain word for each.

export const statuses = ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD'] as const

export type Status = (typeof statuses)[number]

export type StatusCounts = { readonly [status in Status]: number }

/** RESOLVED is "sent": that a message stays away is seen later, and elsewhere. */
export const stateWords: Record<Status, string> = {
  PENDING: 'waiting',
  RETRYING: 'being sent',
  RESOLVED: 'sent',
  DEAD: 'given up',
}

export function totalOf(counts: StatusCounts): number {
  return statuses.reduce((sum, status) => sum + counts[status], 0)
}

/** What still wants something: waiting, being sent, given up. */
export function openOf({ PENDING, RETRYING, DEAD }: StatusCounts): number {
  return PENDING + RETRYING + DEAD
}
