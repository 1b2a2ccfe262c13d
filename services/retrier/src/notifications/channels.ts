// The channels of the configuration, with their secrets read when they are used: a file that changes counts at once.

import type { SeenChannel } from 'dlq-core/queries/notifications/routes.ts'
import { readSecretFile } from 'dlq-core/runtime/config/config.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { ChannelKind } from 'dlq-core/runtime/config/notification-schema.ts'

export type Channel = { name: string; kind: ChannelKind; url: URL; secrets: string[] }

type Configured = Config['notifications']['channels'][number]

/** @throws where a file cannot be read, or holds no address or no secret */
export function openChannel({ name, kind, url_file, secret_file }: Configured): Channel {
  return { name, kind, url: readUrl(url_file), secrets: secret_file === undefined ? [] : readSecrets(secret_file) }
}

/** One on each line. @throws where there is none, because a webhook must not go out without a signature */
function readSecrets(file: string): string[] {
  const secrets = readSecretFile(file)
    .split('\n')
    .map((line) => line.trim())
  const found = secrets.filter((line) => line !== '')
  if (found.length === 0) throw new Error(`${file} holds no secret`)
  return found
}

/** @throws without the text, which is a secret */
export function readUrl(file: string): URL {
  const text = readSecretFile(file).trim()
  if (!URL.canParse(text)) throw new Error(`${file} holds no URL`)
  return new URL(text)
}

/** What may be shown of the channels: no paths, which are secrets, and no credentials. */
export function describeChannels(channels: readonly Configured[]): SeenChannel[] {
  return channels.map(({ name, kind, url_file }) => {
    try {
      return { name, kind, host: readUrl(url_file).host }
    } catch {
      return { name, kind, host: '' }
    }
  })
}
