import { expect, test } from 'vitest'
import { demoTopicConfigs } from './fleet.ts'

test('each DLQ topic of the demo takes larger records than its original topic', () => {
  const mostOf = (wanted: string) =>
    demoTopicConfigs()
      .find(({ topic }) => topic === wanted)
      ?.configEntries?.find(({ name }) => name === 'max.message.bytes')?.value
  const originals = demoTopicConfigs().filter(({ topic }) => !topic.endsWith('.dlq.v1'))
  expect(originals).not.toHaveLength(0)
  for (const { topic } of originals) {
    expect(mostOf(topic)).toBeUndefined()
    expect(Number(mostOf(`${topic}.dlq.v1`))).toBeGreaterThan(1024 * 1024 + 12)
  }
})
