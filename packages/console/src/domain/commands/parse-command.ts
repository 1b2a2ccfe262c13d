// What somebody types into the commands: "pause orders 2h", "resume orders", "retry orders", or text.

export type Command = {
  readonly verb: 'pause' | 'resume' | 'retry'
  /** A topic's name, or the beginning of one. */
  readonly name: string
  /** "2h"; null: until somebody resumes it. */
  readonly duration: string | null
}

const typed =
  /^(pause|stop|resume|retry)\s+(?:retries\s+of\s+|topic\s+)?([^\s]+)(?:\s+(?:for\s+)?((?:\d+(?:ms|s|m|h|d))+))?$/i

export function parseCommand(text: string): Command | null {
  const [, verb, name, duration] = typed.exec(text.trim()) ?? []
  if (verb === undefined || name === undefined) return null
  const word = verb.toLowerCase()
  return {
    verb: word === 'stop' ? 'pause' : (word as Command['verb']),
    name,
    duration: word === 'pause' || word === 'stop' ? (duration?.toLowerCase() ?? null) : null,
  }
}
