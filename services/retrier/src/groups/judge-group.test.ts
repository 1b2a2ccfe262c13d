import { describe, expect, test } from 'vitest'
import { judgeProbes, postponeMs, probeAfterMs, quietMs, whyPause } from './judge-group.ts'

const rules = { refailureThreshold: 20, refailureShare: 0.5, refailureWindowMs: 300_000 }

describe('a group is paused', () => {
  test.each<[string, { refailures: number; retries: number }, string | null]>([
    ['not, where few retries failed again', { refailures: 19, retries: 19 }, null],
    ['where all failed again', { refailures: 20, retries: 20 }, '20 retries failed again within 300 s'],
    ['where half of them did', { refailures: 30, retries: 60 }, '30 of 60 retries failed again within 300 s'],
    ['not, where three of four succeed, however many there are', { refailures: 500, retries: 2000 }, null],
    ['where its retries are not counted yet', { refailures: 20, retries: 3 }, '20 retries failed again within 300 s'],
  ])('%s', (_, figures, reason) => {
    expect(whyPause(figures, rules)).toBe(reason)
  })

  test('by the count alone, where the policy asks for no share', () => {
    expect(whyPause({ refailures: 20, retries: 2000 }, { ...rules, refailureShare: 0 })).toContain('20 of 2000')
  })

  test('never, where the policy has no threshold', () => {
    expect(whyPause({ refailures: 500, retries: 500 }, { ...rules, refailureThreshold: null })).toBeNull()
  })
})

describe('five probes', () => {
  const [sent, quiet, failed, gone] = ['waiting', 'published', 'failed_again', 'gone'] as const
  test.each([
    ['are waited for', [sent, sent, sent, sent, sent], 'wait'],
    ['resume the group where none has failed again', [quiet, quiet, quiet, quiet, quiet], 'resume'],
    ['resume it at once where too few are left to fail', [quiet, quiet, quiet, sent, sent], 'resume'],
    ['resume it where fewer than half have failed', [quiet, quiet, quiet, failed, failed], 'resume'],
    [
      'are waited for where those that failed and those to come may be half',
      [quiet, failed, failed, sent, sent],
      'wait',
    ],
    ['keep it paused as soon as half have failed', [failed, failed, failed, sent, sent], 'failed'],
    ['are judged without those that came to nothing', [failed, gone, gone, gone, quiet], 'failed'],
    ['are sent again where all came to nothing', [gone, gone], 'again'],
  ] as const)('%s', (_, states, verdict) => {
    expect(judgeProbes(states, rules)).toBe(verdict)
  })

  test('keep it paused where one fails and any share is too much', () => {
    const any = { refailureShare: 0 }
    expect(judgeProbes([quiet, quiet, quiet, quiet, failed], any)).toBe('failed')
    expect(judgeProbes([quiet, quiet], any)).toBe('resume')
  })
})

test('a group is probed soon after its pause, and later after each failure, but every hour', () => {
  expect([0, 1, 2, 3, 9].map((failed) => probeAfterMs(rules, failed) / 1000)).toEqual([30, 600, 1200, 2400, 3600])
})

test('a probe has succeeded when it is quiet for longer than re-failures take', () => {
  expect(quietMs(rules, 1500)).toBe(4500)
  expect(quietMs(rules, 10)).toBe(2000)
  expect(quietMs(rules, 3_600_000)).toBe(300_000)
  expect(quietMs(rules, null)).toBe(300_000)
})

test('due messages of a paused group are put off until the probes have an answer, at most a window', () => {
  const times = [-5, 32_000, 3_600_000].map((untilAnswerMs) => postponeMs(rules, { untilAnswerMs, puttingOffMs: 0 }))
  expect(times).toEqual([10_000, 32_000, 300_000])
})

test('a backlog of any size is put off once, and not again and again for as long as its group is paused', () => {
  // As measured: 25,000 messages a second.
  const perPass = { messages: 1000, ms: 40 }
  for (const backlog of [1000, 300_000, 5_000_000]) {
    const dueAt: number[] = new Array(backlog / perPass.messages).fill(0)
    let [now, passes] = [0, 0]
    const enough = 2 * dueAt.length
    for (let at = 0; at !== -1 && passes < enough; at = dueAt.findIndex((due) => due <= now)) {
      passes += 1
      now += perPass.ms
      dueAt[at] = now + postponeMs(rules, { untilAnswerMs: 0, puttingOffMs: now })
    }
    expect(passes).toBeLessThan(enough)
  }
})
