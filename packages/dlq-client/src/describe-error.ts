// Describes any thrown value for the headers of a dead letter: class, message and stack trace with its causes.

/** Longer texts are cut, with a note. */
export type CutErrors = { maxMessageBytes: number; maxStackBytes: number }

const defaults: CutErrors = { maxMessageBytes: 8 * 1024, maxStackBytes: 32 * 1024 }
const maxCauses = 10

export function describeError(
  error: unknown,
  { maxMessageBytes = defaults.maxMessageBytes, maxStackBytes = defaults.maxStackBytes }: Partial<CutErrors> = {},
): { name: string; text: string; stack: string } {
  return {
    name: nameOf(error),
    text: cut(textOf(error), maxMessageBytes),
    stack: cut(stackOf(error), maxStackBytes),
  }
}

/** `class OutOfStock extends Error {}` has the name "Error" by default, which would put all such classes into one group. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Error'
  return error.name === 'Error' ? error.constructor.name || 'Error' : error.name
}

function textOf(error: unknown): string {
  if (error instanceof Error) return error.message
  if (typeof error === 'string') return error
  try {
    return JSON.stringify(error) ?? String(error)
  } catch {
    return String(error)
  }
}

function stackOf(error: unknown): string {
  const stacks: string[] = []
  for (let at = error; at instanceof Error && stacks.length < maxCauses; at = at.cause)
    stacks.push(at.stack ?? `${at.name}: ${at.message}`)
  return stacks.join('\nCaused by: ')
}

/** Cut between characters, so that it stays UTF-8. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return bytes.toString()
  let end = maxBytes - Buffer.byteLength(ellipsis)
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, Math.max(0, end)).toString() + ellipsis
}

const ellipsis = ' …'
