// A notification route that takes every event, for tests.

import { type NotificationRoute, putNotificationRoute } from 'dlq-core/queries/notifications/routes.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

export function putTestRoute(sql: Sql, fields: Partial<NotificationRoute> & Pick<NotificationRoute, 'digestMs'>) {
  return putNotificationRoute(sql, {
    ...{
      name: 'all',
      channel: 'on-call',
      types: [],
      topics: [],
      owners: [],
      min_severity: 'info',
      dead_threshold: null,
    },
    ...{ repeatMs: 240 * 60_000, quiet: null, muted_until: null },
    ...fields,
  })
}
