// A topic to redirect to may be named per message: {topic} is its original topic, {group} its consumer group. So only the
// consumer that failed reads the retry: orders.billing.retry.

import { withoutRetrySuffix } from '../failure/topic-names.ts'

/** What a template may be made of. Characters that no topic has keep it from being taken for a topic. */
export const targetTemplate = /^(?!\.{1,2}$)(?:[A-Za-z0-9._-]|\{topic\}|\{group\})*$/

export function isTemplate(target: string): boolean {
  return target.includes('{')
}

/**
 * The topic that the template names for the message. Where the message has no consumer group, {group} stays, and what is
 * left is no topic's name: nothing can be sent there.
 */
export function fillTarget(
  template: string,
  { original_topic, consumer_group }: { original_topic: string; consumer_group: string | null },
): string {
  if (!isTemplate(template)) return template
  return template.replace(/\{(topic|group)\}/g, (placeholder, name) => {
    if (name === 'topic') return original_topic
    return consumer_group === null ? placeholder : withoutRetrySuffix(consumer_group)
  })
}

export type Addressed = { target_topic: string | null; original_topic: string; consumer_group: string | null }

/** Where a message is sent: its own target topic or that of its run, else the policy's, else its original topic. */
export function targetOf(message: Addressed, { redirectTopic }: { redirectTopic: string | null }): string {
  return fillTarget(message.target_topic ?? redirectTopic ?? message.original_topic, message)
}
