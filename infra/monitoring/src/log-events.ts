// Finds the log calls in a source file, and the events that they name.

/** From `log.info(` or `log[level](` to the end of its arguments. */
const start = /\blog\??(?:\.(?:trace|debug|info|warn|error|fatal)|\[[^\]]*\])\(/g

export type LogCall = { text: string; events: string[] }

export function logCallsIn(source: string): LogCall[] {
  return [...source.matchAll(start)].map(({ index, 0: begin }) => {
    const text = source.slice(index, endOfArguments(source, index + begin.length))
    // The event is the last argument: a name, or one of two.
    const last = /(?:\(|[,?]\s)\s*(?:[^,{}]*\?\s*)?'(\w+)'(?:\s*:\s*'(\w+)')?,?\s*\)$/.exec(text)
    return { text, events: [last?.[1], last?.[2]].filter((name) => name !== undefined) }
  })
}

function endOfArguments(source: string, from: number): number {
  let depth = 1
  let at = from
  for (; depth > 0 && at < source.length; at += 1) {
    if (source[at] === '(') depth += 1
    if (source[at] === ')') depth -= 1
  }
  return at
}

/** The events that infra/docs/logs.md lists. */
export function documentedEvents(document: string): string[] {
  const rows = document.split('\n').filter((line) => line.startsWith('| `'))
  return rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`(\w+)`/g)].map((match) => match[1]!))
}
