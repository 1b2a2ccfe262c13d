// The query of an address as plain text parameters, named as the API names them: what stands behind the `?` of a list's
// page can be put behind `/api/v1/messages?` and means the same. No JSON in addresses, and no order but the page's own.

export type Search = { readonly [name: string]: string | undefined }

/** `?status=DEAD&status=PENDING` is `status=DEAD,PENDING`: the API takes both. */
export function parseSearch(text: string): Record<string, string> {
  const values = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  return Object.fromEntries([...values].map(([name, pairs]) => [name, pairs.map(([, value]) => value).join(',')]))
}

/** Empty values are left out; commas, colons and slashes stay readable. */
export function printSearch(search: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(search)
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => `${encode(name)}=${encode(String(value))}`)
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

/** The address of a page with another query, or with none; what stands behind its `#` is left out. */
export function addressWith(page: string, query: string): string {
  const { origin, pathname } = new URL(page)
  return `${origin}${pathname}${query}`
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/%(2C|3A|2F|40|20)/g, (all, hex: string) =>
    hex === '20' ? '+' : decodeURIComponent(all),
  )
}

/** The parameters that the API's filter of messages knows. */
export const filterNames = [
  'status',
  'topic',
  'consumer_group',
  'error_class',
  'group_id',
  'partition',
  'offset_from',
  'offset_to',
  'key',
  'from',
  'to',
  'arrived_from',
  'arrived_to',
  'failed_from',
  'failed_to',
  'retry_count_min',
  'retry_count_max',
  'q',
  'payload',
  'archived',
] as const

export type FilterName = (typeof filterNames)[number]
export type MessageFilter = { readonly [name in FilterName]?: string }

const timeNames: ReadonlySet<string> = new Set(['from', 'to', 'arrived_from', 'arrived_to', 'failed_from', 'failed_to'])
const known: ReadonlySet<string> = new Set(filterNames)

/** What belongs to the page and not to the filter. */
const pageNames: ReadonlySet<string> = new Set(['sort', 'tab', 'view', 'open', 'at', 'in', 'state'])

export function filterOf(search: Search): MessageFilter {
  return Object.fromEntries(filterNames.flatMap((name) => (search[name] ? [[name, search[name]]] : [])))
}

/** Parameters that no one understands. They are named, because an ignored filter does harm. */
export function unknownNames(search: Search): string[] {
  return Object.keys(search).filter((name) => !known.has(name) && !pageNames.has(name))
}

/** The filter with relative times (`-24h`) resolved, as the API wants it. */
export function requestFilter(filter: MessageFilter, now: Date): MessageFilter {
  return Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [
      name,
      timeNames.has(name) ? (resolveTime(value, now) ?? value) : value,
    ]),
  )
}

/** The query of a page with its relative times resolved: it says the same to whoever opens it later. */
export function pinnedSearch(search: Search, now: Date): Search {
  return { ...search, ...requestFilter(filterOf(search), now) }
}

const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `-24h`, `-10m` as a moment; null where the text is no relative time. */
export function resolveTime(text: string, now: Date): string | null {
  const match = /^-(\d{1,6})([smhd])$/.exec(text)
  if (match === null) return null
  return new Date(now.getTime() - Number(match[1]) * unitMs[match[2] as keyof typeof unitMs]).toISOString()
}
