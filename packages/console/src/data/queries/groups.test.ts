import { QueryClient } from '@tanstack/react-query'
import { expect, onTestFinished, test, vi } from 'vitest'

/** What Now reads of the groups; `pages` are the answers, by their order. */
async function readOpen(pages: Record<string, { ids: string[]; next_cursor: string | null }>) {
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('document', { baseURI: 'https://ops.example.com/console/' })
  const asked: string[] = []
  vi.stubGlobal('fetch', async ({ url }: Request) => {
    const order = new URL(url).searchParams.get('sort') ?? 'last_seen'
    asked.push(order)
    const { ids, next_cursor } = pages[order]!
    return Response.json({ groups: ids.map((id) => ({ id })), totals: { open: 4000 }, next_cursor })
  })
  const { openGroupsQuery } = await import('./groups.ts')
  const { groups, totals, next_cursor } = await new QueryClient().fetchQuery(openGroupsQuery({ trend: false }))
  return { asked, read: groups.map(({ id }) => id), totals, next_cursor }
}

test('where more groups are open than were read, those with the most DEAD are among them, each once', async () => {
  const dead = { ids: ['old', 'new'], next_cursor: null }
  expect(await readOpen({ last_seen: { ids: ['new', 'newer'], next_cursor: 'more' }, dead })).toEqual({
    ...{ asked: ['last_seen', 'dead'], read: ['new', 'newer', 'old'], totals: { open: 4000 }, next_cursor: 'more' },
  })
  expect(await readOpen({ last_seen: { ids: ['new'], next_cursor: null } })).toMatchObject({
    ...{ asked: ['last_seen'], read: ['new'], next_cursor: null },
  })
})
