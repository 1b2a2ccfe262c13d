// The audit: who changed what, newest first.

import { infiniteQueryOptions, keepPreviousData } from '@tanstack/react-query'
import { dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { resolveTime } from '../../domain/addresses.ts'
import { type ReadEntry, readAudit } from '../../domain/audit/read-audit.ts'
import { api } from '../api.ts'
import { serverNow } from '../server-clock.ts'

export type AuditEntry = ReadEntry<components['schemas']['AuditEntry']>

export const auditFilterNames = ['actor', 'action', 'target_type', 'target_id', 'topic', 'q', 'from', 'to'] as const
export type AuditFilter = { readonly [name in (typeof auditFilterNames)[number]]?: string }

export function auditListQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ['audit', 'list', filter],
    queryFn: async ({ signal, pageParam }) => {
      const query = { ...resolved(filter), limit: 100, ...(pageParam === null ? {} : { cursor: pageParam }) }
      // As text: what was before and after keeps its digits.
      const text = await dataOf(api.GET('/api/v1/audit', { params: { query }, parseAs: 'text', signal }))
      return readAudit<components['schemas']['AuditEntry']>(text as unknown as string)
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })
}

function resolved({ from, to, ...rest }: AuditFilter): AuditFilter {
  const now = new Date(serverNow())
  return {
    ...rest,
    ...(from === undefined ? {} : { from: resolveTime(from, now) ?? from }),
    ...(to === undefined ? {} : { to: resolveTime(to, now) ?? to }),
  }
}
