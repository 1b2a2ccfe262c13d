import { expect, test } from 'vitest'
import { insist } from './insist.ts'

/** Fails so often, then writes. */
function insistOn(failures: number, { isLost = (): boolean => false, signal = new AbortController().signal } = {}) {
  const waits: number[] = []
  const since = performance.now()
  let tries = 0
  const write = async () => {
    tries += 1
    if (tries <= failures) throw new Error(`failure ${tries}`)
    return { tries, tookMs: performance.now() - since }
  }
  const onFailure = ({ backoffMs }: { backoffMs: number }) => void waits.push(backoffMs)
  return { waits, written: insist({ signal }, { isLost }, { write, onFailure }) }
}

test('what the database refuses is written again, after a longer wait each time', async () => {
  const { waits, written } = insistOn(2)
  const { tries, tookMs } = await written
  expect(tries).toBe(3)
  expect(tookMs).toBeGreaterThan(140)
  expect(waits).toEqual([50, 100])
})

test('nobody insists once the slot is lost, or the service stops', async () => {
  let looks = 0
  const lost = insistOn(9, { isLost: () => ++looks === 2 })
  await expect(lost.written).rejects.toThrow('failure 2')
  expect(lost.waits).toEqual([50])
  const stopped = insistOn(9, { signal: AbortSignal.abort() })
  await expect(stopped.written).rejects.toThrow('failure 1')
})
