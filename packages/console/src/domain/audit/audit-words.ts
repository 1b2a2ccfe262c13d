// An entry of the audit in words.

import { headOf } from '../words.ts'

const words: Readonly<Record<string, string>> = {
  'attempt.confirm': 'confirmed the attempt',
  'channel.test': 'tried the channel',
  'consumer.purge': 'purged the messages of',
  'consumer_group.rename': 'renamed the consumer group',
  'candidate.dismiss': 'dismissed the candidate',
  'candidate.restore': 'took back the dismissal of',
  'cron.run': 'asked to run the job',
  'delivery.retry': 'asked to deliver again',
  'group.change': 'changed the group',
  'group.resume': 'resumed the automatic retries of the group',
  'message.dead': 'gave up the message',
  'message.delete': 'deleted the message',
  'message.edit': 'changed the message',
  'message.read': 'read the message',
  'message.report': 'reported the message',
  'message.restore': 'restored the message',
  'message.retry': 'retried the message',
  'message.retry_forced': 'retried the message, forced',
  'message.adopt_origin': 'took the original of the message',
  'message.revive': 'revived the message',
  'message.schedule': 'scheduled the message',
  'messages.read': 'read messages of',
  'notification.route.delete': 'deleted the notification route',
  'notification.route.put': 'set the notification route',
  'policy.delete': 'deleted the policy',
  'policy.put': 'set the policy',
  'position.reset': 'moved the position',
  'route.approved': 'approved the route',
  'route.blocked': 'blocked the route',
  'run.cancel': 'cancelled the run',
  'run.create': 'started the run',
  'run.pause': 'paused the run',
  'run.rate': 'changed the rate of the run',
  'run.resume': 'resumed the run',
  'saga.cancel': 'cancelled the saga',
  'schema.refresh': 'asked again for the schema',
  'subscription.add': 'added the subscription',
  'subscription.delete': 'deleted the subscription',
  'topic.pause': 'paused the topic',
  'topic.rename': 'renamed the topic',
  'topic.resume': 'resumed the topic',
}

/** The actions that the console knows, for its filter. An action that is new is shown as it is. */
export const knownActions = Object.keys(words)

/** "gave up the message". */
export function actionWords(action: string): string {
  return words[action] ?? action
}

/** The kinds of things that somebody changes. */
export const targetTypes = [
  ...(['message', 'messages', 'group', 'run', 'topic', 'consumer_group', 'policy', 'route', 'position'] as const),
  ...(['cron', 'consumer', 'subscription', 'notification-route', 'channel', 'delivery', 'schema', 'saga'] as const),
] as const

/**
 * A group by its title, where that is known. Else an id in short: its last eight characters tell it apart, as time-ordered
 * ids begin alike.
 */
export function targetName(type: string, id: string, title: string | null = null): string {
  if (title !== null) return `“${headOf(title, 120)}”`
  return ['message', 'group', 'run', 'subscription', 'saga'].includes(type) ? `…${id.slice(-8)}` : id
}
