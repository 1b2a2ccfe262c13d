import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { configSchema } from './config-schema.ts'
import { databaseUrl, linkTemplate, networks, schedule } from './config-values.ts'

describe('the URL of the database', () => {
  const faultsOfUrl = (url: string) => (v.safeParse(databaseUrl, url).issues ?? []).map(({ message }) => message)

  test.each([
    'postgres://db/dlq',
    'postgresql://app:p%23a%2Fs%3Fs%25@db:5432/dlq?sslmode=require',
    'postgres://app:p@ss:word@db/dlq',
    'postgres://app@[fd00::1]:5432/dlq',
  ])('%s is taken', (url) => expect(faultsOfUrl(url)).toEqual([]))

  test.each(['p#ss', '12#s', 'p/ss', '12/s', 'p?s', '12?s', 'p%s', '100%'])(
    'with the password %s as it is says how to write it',
    (password) => {
      const faults = faultsOfUrl(`postgres://app:${password}@db:5432/dlq`)
      expect(faults).toEqual([expect.stringMatching(/^cannot be read: write %25, /)])
      expect(faults.join()).not.toContain(password)
    },
  )

  test.each(['a:5432,b:5432', 'a,b'])('with the hosts %s says that it wants one', (hosts) => {
    expect(faultsOfUrl(`postgres://app:p,w@${hosts}/dlq?target_session_attrs=read-write`)).toEqual([
      expect.stringMatching(/^must name one host/),
    ])
  })
})

test.each(['off', '*/5 * * * *', '0,30 3-6 1 1 7'])('%s is a schedule', (text) => {
  expect(v.is(schedule, text)).toBe(true)
})

test.each(['61 * * * *', '0 24 * * *', '0 0 0 * *', '0 0 1 13 *', '0 0 * * 8', '*/0 * * * *', '5-1 * * * *', '@daily'])(
  '%s is no schedule',
  (text) => {
    const [issue, ...more] = v.safeParse(schedule, text).issues ?? []
    expect(issue?.message).toMatch(/^must be a cron pattern such as /)
    for (const { message } of more) expect(message).toBe(issue?.message)
  },
)

test.each([
  [['10.0.0.5', '10.0.0.0/8', 'fd00::/128'], true],
  [['10.0.0.0/33'], false],
  [['fd00::/129'], false],
  [['10.0.0.0/8/9'], false],
  [['proxy.example.com'], false],
])('networks: %j is %s', (list, isRight) => {
  expect(v.safeParse(networks, list).success).toBe(isRight)
})

test.each([
  ['https://traces.example.com/{trace_id}?q={"app":"{topic}"}', []],
  ['https://traces.example.com/{traceId}', ['may have no other names in braces than {topic}, {trace_id}']],
  ['traces.example.com', ['must start with https:// or http://']],
])('the template of a link: %s', (template, faults) => {
  const issues = v.safeParse(linkTemplate(['topic', 'trace_id']), template).issues ?? []
  expect(issues.map(({ message }) => message)).toEqual(faults)
})

test.each([
  ['server', 'request_timeout', 'must be at least 1s'],
  ['kafka', 'request_timeout', 'must be at least 1s'],
  ['kafka', 'topic_refresh_interval', 'must be at least 100ms'],
  ['database', 'statement_timeout', 'must be at least 100ms'],
])('no time at all is refused for %s.%s', (section, key, fault) => {
  const issues = v.safeParse(configSchema, { [section]: { [key]: 0 } }).issues ?? []
  expect(issues.map(({ message }) => message)).toEqual([fault])
})
