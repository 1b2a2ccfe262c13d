// Numbers and small words. Numbers are never shortened: 12,340 is not "12k".

const numbers = new Intl.NumberFormat('en')

export function numberText(value: number | bigint): string {
  return numbers.format(value)
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many
}

/** "1 message", "343 messages". */
export function counted(count: number, one: string, many?: string): string {
  return `${numberText(count)} ${plural(count, one, many)}`
}

/** "a", "a and b", "a, b and c". */
export function listed(items: readonly string[]): string {
  if (items.length < 2) return items.join('')
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** How a retrier publishes. */
export const publishWords = {
  'exactly-once': 'exactly once',
  'at-least-once': 'at least once',
  resolve: 'marks as sent without publishing',
  nothing: 'publishes nothing',
}

/** "com.example.PaymentException" is "PaymentException". */
export function shortClass(name: string): string {
  return name.split(/[.\\]|::/).findLast((part) => part !== '') ?? name
}

/** The beginning of a long text, with "…" where it was cut; never half a character. */
export function headOf(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** A long name cut in its middle: its beginning and its end tell it apart. */
export function middleCut(name: string, maxChars: number): string {
  if (name.length <= maxChars) return name
  const head = Math.ceil((maxChars - 1) / 2)
  return `${name.slice(0, head)}…${name.slice(name.length - (maxChars - 1 - head))}`
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
