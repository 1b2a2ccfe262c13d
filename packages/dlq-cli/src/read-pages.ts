// A list that is longer than one answer of the API, as one.

type Reading<Page, Item> = {
  /** The most that the API gives at once. */
  atOnce: number
  ask(query: { limit: number; cursor?: string }): Promise<Page>
  itemsOf(page: Page): readonly Item[]
  /** Where the list goes on; null where it ends. */
  nextOf(page: Page): string | null
}

/** The first `limit` items, with the first and the last of their pages. */
export async function readPages<Page, Item>(
  limit: number,
  { atOnce, ask, itemsOf, nextOf }: Reading<Page, Item>,
): Promise<{ items: Item[]; first: Page; last: Page }> {
  const first = await ask({ limit: Math.min(limit, atOnce) })
  const items = [...itemsOf(first)]
  let last = first
  for (let next = nextOf(first); next !== null && items.length < limit; next = nextOf(last)) {
    last = await ask({ limit: Math.min(limit - items.length, atOnce), cursor: next })
    items.push(...itemsOf(last))
  }
  return { items, first, last }
}
