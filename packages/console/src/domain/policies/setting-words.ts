// The settings of a policy in words, in the seven questions that they answer.

import type { SettingName } from 'dlq-core/domain/retry/policy-settings.ts'

export type SettingKind =
  | 'switch'
  | 'whole'
  | 'decimal'
  | 'duration'
  | 'durations'
  | 'detectors'
  | 'topic'
  | 'group'
  | readonly string[]

export type SettingWords = { readonly label: string; readonly kind: SettingKind; readonly note: string }

export const settingWords: Readonly<Record<SettingName, SettingWords>> = {
  auto_retry: { label: 'Retried by itself', kind: 'switch', note: 'no: only when somebody asks' },
  paused: { label: 'Paused', kind: 'switch', note: 'yes: nothing is sent, even if somebody asks' },
  backoff: {
    label: 'How the waits grow',
    kind: ['exponential', 'fixed', 'list'],
    note: 'by a factor, not at all, or by a list',
  },
  initial_delay: { label: 'First wait', kind: 'duration', note: '5m, 1h30m; with fixed: every wait' },
  multiplier: { label: 'Factor', kind: 'decimal', note: 'from one wait to the next, with exponential' },
  max_delay: { label: 'Longest wait', kind: 'duration', note: 'with exponential' },
  backoff_list: { label: 'List of waits', kind: 'durations', note: '1m, 10m, 1h; the last one repeats' },
  run_every: { label: 'Only in windows', kind: 'duration', note: '1h: at each full hour (UTC); 0s: whenever due' },
  max_retries: { label: 'Attempts', kind: 'whole', note: 'then it is DEAD' },
  refailure_threshold: { label: 'Stop a group after', kind: 'whole', note: 'so many that come back; 0: never' },
  refailure_share: { label: '… and this share', kind: 'decimal', note: 'of those sent, from 0 to 1' },
  refailure_window: { label: '… within', kind: 'duration', note: '' },
  rate_per_second: { label: 'Messages a second', kind: 'decimal', note: 'by all retriers together' },
  max_in_flight: { label: 'At once', kind: 'whole', note: 'being sent at the same time' },
  run_limit: { label: 'In one window', kind: 'whole', note: 'with windows only' },
  weight: { label: 'Weight', kind: 'whole', note: 'its share beside other topics' },
  redirect_topic: {
    label: 'Sent to',
    kind: 'topic',
    note: 'may hold {topic} and {group}; (none): to the original topic',
  },
  delivery: { label: 'Delivery', kind: ['republish', 'pull'], note: 'pull: its application claims them by SQL' },
  ordering: { label: 'Order', kind: ['none', 'per-key'], note: 'per-key: one waits for earlier ones of its key' },
  timestamp: { label: 'Time of the record', kind: ['keep', 'now'], note: 'as it was, or that of the retry' },
  payload: {
    label: 'Payload as JSON',
    kind: ['stored', 'derived', 'auto'],
    note: 'derived: made from the bytes when it is read; auto: stored, in a backlog afterwards',
  },
  record: {
    label: 'Record',
    kind: ['dlq', 'origin', 'origin-if-available'],
    note: 'what is sent: the copy on the DLQ, or the record that failed',
  },
  scrub: {
    label: 'Taken out of errors',
    kind: 'detectors',
    note: 'email, iban, card, or patterns, before anything is stored; (none): nothing',
  },
  staleness: {
    label: 'Newer records',
    kind: ['ignore', 'warn', 'hold'],
    note: 'warn: looked for and said; hold: only what is not older is sent',
  },
  for_group_header: { label: 'Says for which group', kind: 'switch', note: 'in dlq-for-group, which others may skip' },
  verdict_group: {
    label: 'Judged by',
    kind: 'group',
    note: 'the group whose reading counts where none is known; (none): all that read the topic',
  },
  verdict_horizon: { label: 'May come back for', kind: 'duration', note: 'after it was read; then it is consumed' },
  auto_resolve: {
    label: 'Group resolved after',
    kind: 'duration',
    note: 'without a failure, once nothing is left; 0s: never',
  },
  retention: {
    label: 'Archived after',
    kind: 'duration',
    note: 'counted from the last change of what is sent or DEAD',
  },
}

export const settingGroups: readonly { readonly title: string; readonly settings: readonly SettingName[] }[] = [
  {
    title: 'When',
    settings: [
      'auto_retry',
      'paused',
      'backoff',
      'initial_delay',
      'multiplier',
      'max_delay',
      'backoff_list',
      'run_every',
    ],
  },
  { title: 'How often', settings: ['max_retries', 'refailure_threshold', 'refailure_share', 'refailure_window'] },
  { title: 'How fast', settings: ['rate_per_second', 'max_in_flight', 'run_limit', 'weight'] },
  { title: 'Where to', settings: ['redirect_topic', 'delivery', 'record'] },
  { title: 'In which order', settings: ['ordering', 'staleness', 'timestamp'] },
  {
    title: 'Did it help',
    settings: ['for_group_header', 'verdict_group', 'verdict_horizon', 'auto_resolve'],
  },
  { title: 'How long kept', settings: ['retention', 'payload', 'scrub'] },
]

export type SettingValue = null | boolean | number | string | readonly string[]

/** "yes", "5", "1m, 10m", "not set". */
export function valueWords(name: SettingName, value: SettingValue | undefined): string {
  if (value === null || value === undefined) return 'not set'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  if (name === 'redirect_topic' && value === '') return 'the original topic'
  if (name === 'verdict_group' && value === '') return 'all that read the topic'
  return String(value)
}
