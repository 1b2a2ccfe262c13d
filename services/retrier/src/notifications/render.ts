// A delivery as its channel takes it. Ids, counts, titles and links; never a payload or a key.

import type { Event } from 'dlq-core/domain/notifications/event.ts'
import type { DeliveryKind } from 'dlq-core/queries/notifications/deliveries.ts'
import type { ChannelKind } from 'dlq-core/runtime/config/notification-schema.ts'
import { Webhook } from 'standardwebhooks'

export type Rendering = {
  id: string
  kind: DeliveryKind
  events: readonly Event[]
  /** The console's address, for links; null where it is not known. */
  consoleUrl: string | null
  /** The name of this deployment. */
  source: string
  now: Date
}

export type Rendered = { body: string; headers: Record<string, string> }

/** `secrets`: of a webhook; it is signed with each. */
export function renderDelivery(kind: ChannelKind, rendering: Rendering, secrets: readonly string[]): Rendered {
  const json = { 'content-type': 'application/json' }
  switch (kind) {
    case 'webhook':
      return renderWebhook(rendering, secrets)
    case 'slack':
      return { body: JSON.stringify(slackMessage(rendering)), headers: json }
    case 'teams':
      return { body: JSON.stringify(teamsMessage(rendering)), headers: json }
  }
}

/** A CloudEvent 1.0 in structured mode with the headers of Standard Webhooks. Several events are one of type `digest`. */
function renderWebhook(rendering: Rendering, secrets: readonly string[]): Rendered {
  const { id, kind, events, source, now } = rendering
  const [only, ...more] = events
  const single = only !== undefined && more.length === 0 ? only : null
  // The end of a condition is an event of its own; so is that it still lasts.
  const eventId = single === null || kind !== 'begin' ? id : single.id
  const type = kind === 'test' ? 'test' : single === null ? 'digest' : single.type
  const body = JSON.stringify({
    ...{
      specversion: '1.0',
      id: eventId,
      source,
      type: `io.dlq-manager.${type}`,
      subject: single?.subject ?? 'dlq-manager',
    },
    ...{ time: (single?.at ?? now).toISOString(), datacontenttype: 'application/json' },
    data:
      single === null
        ? { kind, events: events.map((event) => dataOf(event, rendering)) }
        : { kind, ...dataOf(single, rendering) },
  })
  return {
    body,
    headers: {
      'content-type': 'application/cloudevents+json',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(eventId, now, body)).join(' '),
    },
  }
}

function dataOf(event: Event, { consoleUrl }: Rendering) {
  const { id, type, subject, severity, title, original_topic, dlq_topic, group_id, run_id, owner, data, at } = event
  return {
    ...{ id, type, subject, severity, title, original_topic, dlq_topic, group_id, run_id, owner },
    ...{
      at: at.toISOString(),
      ended_at: event.ended_at?.toISOString() ?? null,
      link: linkOf(event, consoleUrl),
      details: data,
    },
  }
}

function linkOf({ group_id, run_id, original_topic }: Event, consoleUrl: string | null): string | null {
  if (consoleUrl === null) return null
  if (run_id !== null) return `${consoleUrl}/console/runs/${run_id}`
  if (group_id !== null) return `${consoleUrl}/console/groups/${group_id}`
  return original_topic === null
    ? `${consoleUrl}/console/`
    : `${consoleUrl}/console/messages?topic=${encodeURIComponent(original_topic)}`
}

const words: Record<DeliveryKind, string> = { begin: '', again: 'Still: ', end: 'Over: ', test: '' }

/** Tries that fail delay a delivery: its condition may be over, and the end told, before the beginning is. */
function sentence(kind: DeliveryKind, { title, ended_at }: Event): string {
  return `${kind !== 'end' && ended_at !== null ? 'Over by now: ' : words[kind]}${title}`
}

function headline({ kind, events, source }: Rendering): string {
  if (kind === 'test') return `This is a test of ${source}.`
  return events.length === 1 ? sentence(kind, events[0]!) : `${events.length} events of ${source}`
}

/** Slack refuses longer texts. */
const maxText = 2900

/** So that an error's text calls nobody: `<!channel>` is a command only with its brackets. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function slackMessage(rendering: Rendering) {
  const { events, kind, consoleUrl } = rendering
  const lines =
    kind === 'test'
      ? []
      : events.map((event) => {
          const link = linkOf(event, consoleUrl)
          const title = escapeSlack(sentence(kind, event))
          return `${marks[event.severity]} ${link === null ? title : `${title} <${link}|open>`}`
        })
  const text = escapeSlack(headline(rendering))
  return {
    text,
    blocks: [text, ...(lines.length > 1 || consoleUrl !== null ? [lines.join('\n')] : [])]
      .filter((part) => part !== '')
      .map((part) => ({ type: 'section', text: { type: 'mrkdwn', text: cut(part) } })),
  }
}

const marks = { info: '•', warning: ':warning:', critical: ':rotating_light:' } as const

/** An Adaptive Card for a Workflows URL; Teams' connectors are retired. */
function teamsMessage(rendering: Rendering) {
  const { events, kind, consoleUrl } = rendering
  const block = (text: string, bold = false) => ({
    ...{ type: 'TextBlock', text: cut(plainMarkdown(text)), wrap: true },
    ...(bold && { weight: 'Bolder' }),
  })
  const link = events.length === 1 ? linkOf(events[0]!, consoleUrl) : consoleUrl && `${consoleUrl}/console/`
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          ...{ $schema: 'http://adaptivecards.io/schemas/adaptive-card.json', type: 'AdaptiveCard', version: '1.4' },
          body: [
            block(headline(rendering), true),
            ...(events.length > 1 ? events.map((event) => block(`${event.severity}: ${sentence(kind, event)}`)) : []),
          ],
          ...(link !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] }),
        },
      },
    ],
  }
}

/** Cards render Markdown: a title must not become a link. */
function plainMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]()<>#]/g, (mark) => `\\${mark}`)
}

function cut(text: string): string {
  return text.length <= maxText ? text : `${text.slice(0, maxText)}…`
}
