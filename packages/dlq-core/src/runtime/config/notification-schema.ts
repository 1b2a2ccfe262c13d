// The section "notifications": where events are sent to. Routes, which say who hears of what, are rows.

import { isIP } from 'node:net'
import * as v from 'valibot'
import { boolean, text, textList } from './config-values.ts'

export const channelKinds = ['webhook', 'slack', 'teams'] as const
export type ChannelKind = (typeof channelKinds)[number]

const channel = v.pipe(
  v.strictObject({
    name: v.pipe(text, v.regex(/^[a-z0-9][a-z0-9-]{0,99}$/, 'must be small letters, digits and "-"')),
    kind: v.picklist(channelKinds, `must be one of ${channelKinds.join(', ')}`),
    /** A file with the address, because the addresses of Slack and Teams are secrets. */
    url_file: text,
    /** A file with the secret that webhooks are signed with: `whsec_…`; a second line while it is rotated. */
    secret_file: v.optional(text),
  }),
  v.forward(
    v.check(
      ({ kind, secret_file: file }) => (kind === 'webhook') === (file !== undefined),
      'belongs to webhooks, and each needs one',
    ),
    ['secret_file'],
  ),
)

const network = v.check<string, string>((text) => {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}, 'must be an address or a network such as 10.20.0.0/16')

export const notifications = v.strictObject({
  channels: v.optional(
    v.pipe(
      v.array(channel, 'must be a list of { name, kind, url_file, secret_file }'),
      v.check(
        (list) => new Set(list.map(({ name }) => name)).size === list.length,
        'must not have two of the same name',
      ),
    ),
    [],
  ),
  /** http: too, for trials. */
  allow_http: v.optional(boolean, false),
  /** Private addresses that may be called; none by default. */
  allow_networks: v.optional(
    v.pipe(
      textList,
      v.everyItem(
        (item) => v.is(v.pipe(v.string(), network), item),
        'must be addresses or networks such as 10.20.0.0/16',
      ),
    ),
  ),
  /** The error's message in titles; it may quote data. */
  include_messages: v.optional(boolean, false),
  /** A file with an address that is called every minute; its silence alarms elsewhere. */
  heartbeat_url_file: v.optional(text),
})
