// Every endpoint, one line per resource. Where two paths match a request, the first one answers.

import type { Route } from '../http/define-route.ts'
import { auditRoutes } from './audit.ts'
import { consoleRoutes } from './console.ts'
import { candidateRoutes } from './discovery/candidates.ts'
import { subscriptionRoutes } from './discovery/subscriptions.ts'
import { cronRoutes } from './fleet/cron.ts'
import { dlqRouteRoutes } from './fleet/dlq-routes.ts'
import { dlqStatusRoutes } from './fleet/dlq-status.ts'
import { eventRoutes } from './fleet/events.ts'
import { nameRoutes } from './fleet/names.ts'
import { operationRoutes } from './fleet/operations.ts'
import { positionRoutes } from './fleet/positions.ts'
import { readerRoutes } from './fleet/readers.ts'
import { statusRoutes } from './fleet/status.ts'
import { topicPauseRoutes } from './fleet/topic-pauses.ts'
import { topicRoutes } from './fleet/topics.ts'
import { groupListRoutes } from './group-list.ts'
import { groupResumeRoutes } from './group-resume.ts'
import { groupRoutes } from './groups.ts'
import { meRoutes } from './me.ts'
import { messageOriginRoutes } from './message-origins.ts'
import { activityRoutes } from './messages/activity.ts'
import { attemptConfirmRoutes } from './messages/attempt-confirm.ts'
import { attemptRoutes } from './messages/attempts.ts'
import { messageChangeRoutes } from './messages/message-changes.ts'
import { messageEditRoutes } from './messages/message-edits.ts'
import { messageFacetRoutes } from './messages/message-facets.ts'
import { messageListRoutes } from './messages/message-lists.ts'
import { messageReportRoutes } from './messages/message-reports.ts'
import { messageUndoRoutes } from './messages/message-undo.ts'
import { messageRoutes } from './messages/messages.ts'
import { retryAllRoutes } from './messages/retry-all.ts'
import { notificationReadRoutes } from './notifications/notification-reads.ts'
import { notificationRouteRoutes } from './notifications/notification-routes.ts'
import { policyRoutes } from './policies.ts'
import { readRoutes } from './reads.ts'
import { runChangeRoutes } from './runs/run-changes.ts'
import { runCreationRoutes } from './runs/run-creation.ts'
import { runReadRoutes } from './runs/run-reads.ts'
import { sagaRoutes } from './sagas.ts'
import { schemaRefreshRoutes } from './schemas/schema-refresh.ts'
import { sessionRoutes } from './session.ts'

export const allRoutes: readonly Route[] = [
  ...operationRoutes,
  ...consoleRoutes,
  ...sessionRoutes,
  ...cronRoutes,
  ...messageRoutes,
  ...messageChangeRoutes,
  ...messageEditRoutes,
  ...messageOriginRoutes,
  ...messageUndoRoutes,
  ...messageReportRoutes,
  ...attemptConfirmRoutes,
  ...messageListRoutes,
  ...messageFacetRoutes,
  ...activityRoutes,
  ...attemptRoutes,
  ...retryAllRoutes,
  ...topicRoutes,
  ...readerRoutes,
  ...candidateRoutes,
  ...subscriptionRoutes,
  ...topicPauseRoutes,
  ...nameRoutes,
  ...statusRoutes,
  ...eventRoutes,
  ...positionRoutes,
  ...dlqRouteRoutes,
  ...groupListRoutes,
  ...groupRoutes,
  ...groupResumeRoutes,
  ...policyRoutes,
  ...schemaRefreshRoutes,
  ...notificationReadRoutes,
  ...notificationRouteRoutes,
  ...auditRoutes,
  ...readRoutes,
  ...meRoutes,
  ...dlqStatusRoutes,
  ...runCreationRoutes,
  ...runReadRoutes,
  ...runChangeRoutes,
  ...sagaRoutes,
]
