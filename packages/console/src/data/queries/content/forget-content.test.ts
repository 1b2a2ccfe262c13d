import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { forgetContentWhenHidden } from './forget-content.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const minuteMs = 60_000

/** A tab that shows a message and its topic, and has shown another message before. */
async function openTab({ isEditing = false } = {}) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  const asked: string[] = []
  const show = async (queryKey: string[]) => {
    const observer = new QueryObserver(client, {
      queryKey,
      queryFn: async () => {
        asked.push(queryKey.join(' '))
        return `what ${queryKey.join(' ')} holds`
      },
    })
    onTestFinished(observer.subscribe(() => {}))
    await vi.advanceTimersByTimeAsync(0)
  }
  client.setQueryData(['bytes', 'before'], 'value')
  client.setQueryData(['run', 'seen', 'items', 'sent'], 'keys')
  client.setQueryData(['status'], 'counts')
  await show(['message', 'now'])
  await show(['topic', 'orders'])
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState })
  const log = ['requests']
  forgetContentWhenHidden(client, page, { isEditing: () => isEditing, onForget: () => log.pop() })
  return {
    asked,
    async turn(visibilityState: DocumentVisibilityState) {
      page.visibilityState = visibilityState
      page.dispatchEvent(new Event('visibilitychange'))
      await vi.advanceTimersByTimeAsync(0)
    },
    held: () => [
      ...[['bytes', 'before'], ['message', 'now'], ['topic', 'orders'], ['status']].map((key) =>
        client.getQueryData(key),
      ),
      ...[client.getQueryData(['run', 'seen', 'items', 'sent']), ...log],
    ],
  }
}

const all = ['value', 'what message now holds', 'what topic orders holds', 'counts', 'keys', 'requests']

test('a tab that was hidden for half an hour holds no content, and asks for what it shows when somebody looks again', async () => {
  const tab = await openTab()
  await tab.turn('hidden')
  await vi.advanceTimersByTimeAsync(29 * minuteMs)
  expect(tab.held()).toEqual(all)
  await vi.advanceTimersByTimeAsync(minuteMs)
  expect(tab.held()).toEqual([undefined, undefined, all[2], all[3], undefined])
  expect(tab.asked).toEqual(['message now', 'topic orders'])
  await tab.turn('visible')
  expect(tab.held()[1]).toBe(all[1])
  expect(tab.asked).toEqual(['message now', 'topic orders', 'message now'])
})

test('a tab that is looked at within half an hour keeps it', async () => {
  const tab = await openTab()
  await tab.turn('hidden')
  await vi.advanceTimersByTimeAsync(20 * minuteMs)
  await tab.turn('visible')
  await vi.advanceTimersByTimeAsync(20 * minuteMs)
  expect(tab.held()[1]).toBe(all[1])
  expect(tab.asked).toEqual(['message now', 'topic orders'])
})

test('what is being edited stays', async () => {
  const tab = await openTab({ isEditing: true })
  await tab.turn('hidden')
  await vi.advanceTimersByTimeAsync(60 * minuteMs)
  expect(tab.held()[1]).toBe(all[1])
})
