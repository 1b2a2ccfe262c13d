// Every endpoint, one line per resource. Where two paths match, the first one goes.

import type { Route } from '../define-route.ts'
import { auditRoutes } from './audit.ts'
import { cronRoutes } from './cron.ts'
import { dlqStatusRoutes } from './dlq-status.ts'
import { groupRoutes } from './groups.ts'
import { messageChangeRoutes } from './message-changes.ts'
import { messageEditRoutes } from './message-edits.ts'
import { messageListRoutes } from './message-lists.ts'
import { messageReportRoutes } from './message-reports.ts'
import { messageRoutes } from './messages.ts'
import { operationRoutes } from './operations.ts'
import { policyRoutes } from './policies.ts'
import { positionRoutes } from './positions.ts'
import { runRoutes } from './runs.ts'
import { sagaRoutes } from './sagas.ts'
import { statusRoutes } from './status.ts'
import { topicMessageRoutes } from './topic-messages.ts'
import { topicRoutes } from './topics.ts'

export const allRoutes: readonly Route[] = [
  ...operationRoutes,
  ...cronRoutes,
  ...messageRoutes,
  ...messageChangeRoutes,
  ...messageEditRoutes,
  ...messageReportRoutes,
  ...messageListRoutes,
  ...topicMessageRoutes,
  ...topicRoutes,
  ...statusRoutes,
  ...positionRoutes,
  ...groupRoutes,
  ...policyRoutes,
  ...auditRoutes,
  ...dlqStatusRoutes,
  ...runRoutes,
  ...sagaRoutes,
]
