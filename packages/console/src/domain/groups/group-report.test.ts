import { expect, test } from 'vitest'
import { groupReport } from './group-report.ts'

test('a report tells in words who changed what', () => {
  const at = '2026-02-20T10:30:00Z'
  const report = groupReport({
    group: {
      ...{ title: 'Late in pay', error_class: 'Late', message: 'm', dlq_topics: ['orders.dlq.v1'], note: null },
      ...{ counts: { PENDING: 1, RETRYING: 0, RESOLVED: 0, DEAD: 2 }, state: 'open', owner: null },
      ...{ first_seen_at: at, last_seen_at: at },
    },
    newest: null,
    audit: [
      { at, actor: 'maria', action: 'group.change', reason: 'PAY-1' },
      { at, actor: 'jo', action: 'group.resume', reason: null },
    ],
    url: 'https://dlq.example/console/groups/1',
  })
  expect(report).toContain(`- ${at} maria changed the group (PAY-1)\n`)
  expect(report).toContain(`- ${at} jo resumed the automatic retries of the group\n`)
})
