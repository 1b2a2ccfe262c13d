// The names in braces that the addresses of `console.links` may have: the configuration refuses others, and the console
// fills these in.

export const messageLinkNames = [
  'message_id',
  'topic',
  'partition',
  'offset',
  'consumer_group',
  'failed_at',
  'trace_id',
] as const

export const frameLinkNames = ['file', 'line'] as const
