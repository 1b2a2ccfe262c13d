// Turns go round among those who ask, and what waits is bounded.
import { expect, test } from 'vitest'
import { createTurns, NoTurn } from './fair-turns.ts'

const bounds = { maxWaiting: 4, maxWaitingOfOne: 3, maxWaitMs: 60_000 }

test('one who asks for many waits behind one who asks for one', async () => {
  const turns = createTurns(bounds)
  const served: string[] = []
  const serve = async (owner: string, name: string) => {
    const end = await turns.take(owner)
    served.push(name)
    await Promise.resolve()
    end()
  }
  const first = await turns.take('ann')
  const all = [serve('ann', 'ann 1'), serve('ann', 'ann 2'), serve('ann', 'ann 3'), serve('bob', 'bob 1')]
  expect(served).toEqual([])
  first()
  await Promise.all(all)
  expect(served).toEqual(['ann 1', 'bob 1', 'ann 2', 'ann 3'])
})

test('one may have few waiting, and all together some more', async () => {
  const turns = createTurns(bounds)
  const end = await turns.take('ann')
  const waiting = ['ann', 'ann', 'ann'].map((owner) => turns.take(owner))
  await expect(turns.take('ann')).rejects.toEqual(new NoTurn('own'))
  waiting.push(turns.take('bob'))
  await expect(turns.take('eve')).rejects.toEqual(new NoTurn('all'))
  end()
  for (const turn of [waiting[0]!, waiting[3]!, waiting[1]!, waiting[2]!]) (await turn)()
  // Nothing is left behind.
  for (let n = 0; n < 10; n += 1) (await turns.take('ann'))()
})

test('who is not reached in time, or gives up, leaves the others their turns', async () => {
  const turns = createTurns({ ...bounds, maxWaitMs: 20 })
  const end = await turns.take('ann')
  await expect(turns.take('bob')).rejects.toEqual(new NoTurn('late'))
  const gone = new AbortController()
  const leaving = turns.take('bob', gone.signal)
  const staying = turns.take('bob')
  gone.abort(new Error('gone'))
  await expect(leaving).rejects.toThrow('gone')
  end()
  end() // A second end passes nothing on.
  const next = await staying
  let isTaken = false
  const last = turns.take('eve').then((end) => {
    isTaken = true
    return end
  })
  await new Promise(setImmediate)
  expect(isTaken).toBe(false)
  next()
  ;(await last)()
})
