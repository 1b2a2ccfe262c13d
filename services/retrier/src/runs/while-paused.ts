/** What a step of a run answers while the run is paused. It looks seldom, because a resume or a cancel runs its job at once. */
export const whilePaused = { isLast: false, afterMs: 60_000 } as const
