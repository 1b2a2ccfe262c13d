// Patterns of topic names, as configuration, tokens and policies have them.

/** Patterns with `*` (any text) and `?` (one character); a text holds several, parted by commas or spaces. */
export type TopicGlobs = string | readonly string[]

/** The single patterns of `globs`. */
function topicGlobList(globs: TopicGlobs): readonly string[] {
  // Called for every record, usually with globs that are split already.
  if (typeof globs !== 'string' && !globs.some((glob) => /[\s,]/.test(glob))) return globs
  return [globs].flat().flatMap((glob) => glob.split(/[\s,]+/).filter((pattern) => pattern !== ''))
}

/** Whether the whole topic name matches one of the globs; upper and lower case differ, as in Kafka. */
export function matchesTopicGlobs(globs: TopicGlobs, topic: string): boolean {
  return topicGlobList(globs).some((glob) => captureGlob(glob, topic) !== null)
}

/**
 * The text that each `*` of the glob matches, or null where the topic does not match. All but the last `*`
 * take as little as they can. Only the last `*` seen is ever extended, so the time is at most
 * glob × topic, whatever the pattern.
 */
export function captureGlob(glob: string, topic: string): string[] | null {
  const captures: { start: number; end: number }[] = []
  let star = -1
  let g = 0
  let t = 0
  while (t < topic.length) {
    if (glob[g] === '*') {
      star = g++
      captures.push({ start: t, end: t })
    } else if (g < glob.length && (glob[g] === '?' || glob[g] === topic[t])) {
      g++
      t++
    } else if (star !== -1) {
      g = star + 1
      t = ++captures.at(-1)!.end
    } else {
      return null
    }
  }
  for (; glob[g] === '*'; g++) captures.push({ start: t, end: t })
  return g === glob.length ? captures.map(({ start, end }) => topic.slice(start, end)) : null
}
