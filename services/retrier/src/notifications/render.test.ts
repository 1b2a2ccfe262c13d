import type { Event } from 'dlq-core/domain/notifications/event.ts'
import { channelKinds } from 'dlq-core/runtime/config/notification-schema.ts'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { escapeSlack, type Rendering, renderDelivery } from './render.ts'

const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD']
const event: Event = {
  ...{ id: '0194f2c8-7a51-8e64-9d0a-2f8f2b9a3c11', type: 'group.regressed', subject: 'group/1/orders.dlq.v1' },
  ...{ severity: 'warning', title: 'Failed again after it was resolved on orders.dlq.v1', original_topic: null },
  ...{ dlq_topic: 'orders.dlq.v1', group_id: '1c9e5a3c-6d7e-8f00-a1b2-c3d4e5f60718', run_id: null, owner: 'billing' },
  ...{ data: { reason: null }, at: new Date('2026-02-20T10:45:10Z'), ended_at: null },
}
const rendering = (fields: Partial<Rendering> = {}): Rendering => ({
  ...{ id: '0194f2c8-7a51-4e64-9d0a-2f8f2b9a3c12', kind: 'begin', events: [event], source: 'dlq-manager' },
  ...{ consoleUrl: 'https://dlq.example.com', now: new Date() },
  ...fields,
})

describe('a webhook', () => {
  test('is a CloudEvent that verifies with either secret', () => {
    const { body, headers } = renderDelivery('webhook', rendering(), secrets)
    for (const secret of secrets)
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({
        ...{ specversion: '1.0', id: event.id, source: 'dlq-manager', type: 'io.dlq-manager.group.regressed' },
        ...{ subject: 'group/1/orders.dlq.v1', time: '2026-02-20T10:45:10.000Z' },
        data: { title: event.title, link: `https://dlq.example.com/console/groups/${event.group_id}` },
      })
    expect(headers['webhook-id']).toBe(event.id)
    expect(() => new Webhook('whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA').verify(body, headers)).toThrow()
    expect(() => new Webhook(secrets[0]!).verify(`${body} `, headers)).toThrow()
  })

  test('of several events is a digest with an id of its own', () => {
    const { body, headers } = renderDelivery('webhook', rendering({ events: [event, event] }), secrets)
    expect(JSON.parse(body)).toMatchObject({ type: 'io.dlq-manager.digest', data: { events: [{ id: event.id }, {}] } })
    expect(headers['webhook-id']).toBe(rendering().id)
  })

  test.each<[string, Partial<Event>, string]>([
    ['its run', { group_id: null, run_id: '7' }, '/console/runs/7'],
    ['the messages of its topic', { group_id: null, original_topic: 'a&b' }, '/console/messages?topic=a%26b'],
    ['the console', { group_id: null }, '/console/'],
  ])('of an event without a group leads to %s', (_, fields, path) => {
    const { body } = renderDelivery('webhook', rendering({ events: [{ ...event, ...fields }] }), secrets)
    expect(JSON.parse(body).data.link).toBe(`https://dlq.example.com${path}`)
  })

  test('of an end has another id than that of the beginning', () => {
    const ended = { ...event, ended_at: new Date() }
    const { headers } = renderDelivery('webhook', rendering({ kind: 'end', events: [ended] }), secrets)
    expect(headers['webhook-id']).toBe(rendering().id)
  })
})

test.each<[Rendering['kind'], Date | null, string]>([
  ['begin', null, ''],
  ['again', null, 'Still: '],
  ['end', new Date(), 'Over: '],
  ['begin', new Date(), 'Over by now: '],
  ['again', new Date(), 'Over by now: '],
])('people read what a %s says, also if it comes after the end: %s', (kind, ended_at, word) => {
  const told = (events: Event[]) => [
    JSON.parse(renderDelivery('slack', rendering({ kind, events }), []).body).blocks.at(-1).text.text,
    JSON.parse(renderDelivery('teams', rendering({ kind, events }), []).body).attachments[0].content.body.at(-1).text,
  ]
  const ended = { ...event, ended_at }
  const title = `${word}${event.title}`
  expect(told([ended])).toEqual([expect.stringContaining(`:warning: ${title} <`), title])
  expect(told([event, ended])).toEqual([
    expect.stringMatching(new RegExp(`\n:warning: ${title} <`)),
    `warning: ${title}`,
  ])
})

test('an error text calls nobody in Slack, and is no link in Teams', () => {
  const title = 'Failed: <!channel> & [click](https://evil.example)'
  const slack = renderDelivery('slack', rendering({ events: [{ ...event, title }] }), []).body
  expect(slack).toContain('&lt;!channel&gt; &amp;')
  expect(slack).not.toContain('<!')
  const teams = JSON.parse(renderDelivery('teams', rendering({ events: [{ ...event, title }] }), []).body)
  expect(teams.attachments[0].content.body[0].text).toBe(
    'Failed: \\<!channel\\> & \\[click\\]\\(https://evil.example\\)',
  )
})

test('however many events go out together, Slack and Teams take the text', () => {
  const events = Array.from({ length: 50 }, () => ({ ...event, title: '&'.repeat(250) }))
  const slack = JSON.parse(renderDelivery('slack', rendering({ events }), []).body)
  expect(Math.max(...slack.blocks.map(({ text }: { text: { text: string } }) => text.text.length))).toBeLessThan(3000)
  expect(renderDelivery('teams', rendering({ events }), []).body.length).toBeLessThan(28_000)
})

test('whatever a text is, Slack sees no command in it, and every body is JSON', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...channelKinds), (title, kind) => {
      expect(escapeSlack(title)).not.toMatch(/[<>]/)
      JSON.parse(renderDelivery(kind, rendering({ events: [{ ...event, title }] }), secrets).body)
    }),
  )
})
