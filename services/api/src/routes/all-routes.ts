// Every endpoint, one line per resource. Where two paths match, the first one goes.

import type { Route } from '../define-route.ts'
import { cronRoutes } from './cron.ts'
import { messageChangeRoutes } from './message-changes.ts'
import { messageRoutes } from './messages.ts'
import { operationRoutes } from './operations.ts'
import { topicMessageRoutes } from './topic-messages.ts'

export const allRoutes: readonly Route[] = [
  ...operationRoutes,
  ...cronRoutes,
  ...messageRoutes,
  ...messageChangeRoutes,
  ...topicMessageRoutes,
]
