// A list that is longer than what is kept of it: pages around the place that is looked at, each at the rows where it was first
// seen. Rows outside are known by their number only, so that nothing moves while pages come and go.

/** Where a page begins: its cursor, the number of its first row, and the page before it. */
export type PagePlace = {
  readonly cursor: string | null
  readonly start: number
  readonly before: PagePlace | null
  /** Of the whole list, as its first page told; later pages do not tell it. */
  readonly total: { readonly value: number; readonly relation: 'eq' | 'gte' } | null
}

export const firstPlace: PagePlace = { cursor: null, start: 0, before: null, total: null }

/** So many pages are kept; what is further away is read again once it is looked at. */
export const keptPages = 20

export type PageWindow<Row> = {
  /** The number of the first row that is kept. */
  readonly start: number
  /** After the last row that is kept. */
  readonly end: number
  readonly rows: readonly Row[]
  /** Null where the row is not kept, or has left the list since it was first seen. */
  readonly at: (index: number) => Row | null
}

/**
 * A page that is read again may begin with rows of the next one, because rows have left it meanwhile: each row is shown once,
 * and the pages after it stay where they were.
 */
export function windowOf<Row extends { readonly id: string }>(
  pages: readonly (readonly Row[])[],
  places: readonly PagePlace[],
): PageWindow<Row> {
  const start = places[0]?.start ?? 0
  const later = new Set<string>()
  const numbered = new Map<number, Row>()
  let end = start
  for (let page = pages.length - 1; page >= 0; page--) {
    const first = places[page]!.start
    const room = (places[page + 1]?.start ?? Number.POSITIVE_INFINITY) - first
    const rows = pages[page]!.filter(({ id }) => !later.has(id)).slice(0, room)
    rows.forEach((row, at) => {
      later.add(row.id)
      numbered.set(first + at, row)
    })
    end = Math.max(end, first + rows.length)
  }
  const kept = [...numbered].toSorted(([a], [b]) => a - b).map(([, row]) => row)
  return { start, end, rows: kept, at: (index) => numbered.get(index) ?? null }
}

/** The page on which the row was seen, from those before `from`. */
export function placeOf(index: number, from: PagePlace): PagePlace {
  let place = from
  while (place.start > index && place.before !== null) place = place.before
  return place
}

/** What has to be read for the rows in sight; null where all of them are there. `known`: rows that were seen so far. */
export function toRead(
  { first, last }: { readonly first: number; readonly last: number },
  { start, end }: Pick<PageWindow<unknown>, 'start' | 'end'>,
  { pageRows, known }: { readonly pageRows: number; readonly known: number },
): 'before' | 'after' | 'afresh' | null {
  if (first < start - 2 * pageRows || (first > end + 2 * pageRows && first < known)) return 'afresh'
  if (start > 0 && first < start + ahead) return 'before'
  return last >= end - ahead ? 'after' : null
}

/** A page is read so many rows before it is needed. */
const ahead = 20
