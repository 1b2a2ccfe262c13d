// Every address of the console. A page is loaded when somebody goes there; its search parameters stay plain text.

import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type SearchSchemaInput,
} from '@tanstack/react-router'
import { Frame } from './app/frame.tsx'
import { NotFound } from './app/not-found.tsx'
import type { AuditFilter } from './data/queries/audit.ts'
import { type MessageFilter, parseSearch, printSearch } from './domain/addresses.ts'
import { NowPage } from './pages/now/now-page.tsx'

type Context = { queryClient: QueryClient }

/** What a page knows of its query; what it does not know stays in the address, and the page names it. */
function searchOf<T extends object>() {
  return (search: T & SearchSchemaInput): T => search
}

export type GroupsSearch = {
  tab?: string
  q?: string
  dlq_topic?: string
  owner?: string
  sort?: string
}
export type GroupSearch = { n?: string; view?: string; status?: string }
export type MessagesSearch = MessageFilter & { sort?: string; open?: string }
export type MessageSearch = { tab?: string; view?: string; in?: string }
export type DraftSearch = MessageFilter & {
  kind?: string
  group?: string
  ids?: string
  failed_again_in?: string
  rate_per_second?: string
  canary?: string
  on_refailure?: string
  max_refailure?: string
  target_topic?: string
  force?: string
  adopt?: string
  staleness?: string
}
export type RunSearch = { outcome?: string }
export type RunsSearch = { status?: string; kind?: string; page?: string }

export type TopicsSearch = { kind?: string; q?: string; sort?: string; only?: string }
export type TopicSearch = { kind?: string }
export type PoliciesSearch = { topic?: string }
export type PolicyEditSearch = { setting?: string }
export type AuditSearch = AuditFilter & { open?: string }
export type EventsSearch = { type?: string; only?: string }
export type SagasSearch = { status?: string; page?: string }

const root = createRootRouteWithContext<Context>()({ component: Frame, notFoundComponent: NotFound })

const now = createRoute({
  getParentRoute: () => root,
  path: '/',
  // Part of the first load: it is what people open, and in one file with the frame it is smaller.
  component: NowPage,
})

const groups = createRoute({
  getParentRoute: () => root,
  path: '/groups',
  validateSearch: searchOf<GroupsSearch>(),
  component: lazyRouteComponent(() => import('./pages/groups/groups-page.tsx'), 'GroupsPage'),
})

const group = createRoute({
  getParentRoute: () => root,
  path: '/groups/$id',
  validateSearch: searchOf<GroupSearch>(),
  component: lazyRouteComponent(() => import('./pages/group/group-page.tsx'), 'GroupPage'),
})

const messages = createRoute({
  getParentRoute: () => root,
  path: '/messages',
  validateSearch: searchOf<MessagesSearch>(),
  component: lazyRouteComponent(() => import('./pages/messages/messages-page.tsx'), 'MessagesPage'),
})

const message = createRoute({
  getParentRoute: () => root,
  path: '/messages/$id',
  validateSearch: searchOf<MessageSearch>(),
  component: lazyRouteComponent(() => import('./pages/message/message-page.tsx'), 'MessagePage'),
})

const edit = createRoute({
  getParentRoute: () => root,
  path: '/messages/$id/edit',
  validateSearch: searchOf<MessageSearch>(),
  component: lazyRouteComponent(() => import('./pages/edit/edit-page.tsx'), 'EditPage'),
})

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: searchOf<RunsSearch>(),
  component: lazyRouteComponent(() => import('./pages/runs/runs-page.tsx'), 'RunsPage'),
})

const draft = createRoute({
  getParentRoute: () => root,
  path: '/runs/new',
  validateSearch: searchOf<DraftSearch>(),
  component: lazyRouteComponent(() => import('./pages/run-draft/draft-page.tsx'), 'DraftPage'),
})

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  validateSearch: searchOf<RunSearch>(),
  component: lazyRouteComponent(() => import('./pages/run/run-page.tsx'), 'RunPage'),
})

const topics = createRoute({
  getParentRoute: () => root,
  path: '/topics',
  validateSearch: searchOf<TopicsSearch>(),
  component: lazyRouteComponent(() => import('./pages/topics/topics-page.tsx'), 'TopicsPage'),
})

const topic = createRoute({
  getParentRoute: () => root,
  path: '/topics/$topic',
  validateSearch: searchOf<TopicSearch>(),
  component: lazyRouteComponent(() => import('./pages/topics/topic-page.tsx'), 'TopicPage'),
})

const policies = createRoute({
  getParentRoute: () => root,
  path: '/policies',
  validateSearch: searchOf<PoliciesSearch>(),
  component: lazyRouteComponent(() => import('./pages/policies/policies-page.tsx'), 'PoliciesPage'),
})

const policy = createRoute({
  getParentRoute: () => root,
  path: '/policies/$pattern',
  component: lazyRouteComponent(() => import('./pages/policies/policy-page.tsx'), 'PolicyPage'),
})

const policyEdit = createRoute({
  getParentRoute: () => root,
  path: '/policies/$pattern/edit',
  validateSearch: searchOf<PolicyEditSearch>(),
  component: lazyRouteComponent(() => import('./pages/policies/policy-edit-page.tsx'), 'PolicyEditPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: searchOf<AuditSearch>(),
  component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
})

const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  component: lazyRouteComponent(() => import('./pages/system/system-page.tsx'), 'SystemPage'),
})

const job = createRoute({
  getParentRoute: () => root,
  path: '/system/cron/$job',
  component: lazyRouteComponent(() => import('./pages/system/job-page.tsx'), 'JobPage'),
})

const sagas = createRoute({
  getParentRoute: () => root,
  path: '/system/sagas',
  validateSearch: searchOf<SagasSearch>(),
  component: lazyRouteComponent(() => import('./pages/system/sagas-page.tsx'), 'SagasPage'),
})

const saga = createRoute({
  getParentRoute: () => root,
  path: '/system/sagas/$id',
  component: lazyRouteComponent(() => import('./pages/system/saga-page.tsx'), 'SagaPage'),
})

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: searchOf<EventsSearch>(),
  component: lazyRouteComponent(() => import('./pages/events/events-page.tsx'), 'EventsPage'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
})

const routeTree = root.addChildren([
  ...[now, groups, group, messages, message, edit, runs, draft, run],
  ...[topics, topic, policies, policy, policyEdit, audit, events, system, job, sagas, saga, settings],
])

export function createAppRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    // The prefix under which the console is served; see <base> in index.html.
    basepath: new URL(document.baseURI).pathname,
    parseSearch,
    stringifySearch: printSearch,
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultNotFoundComponent: NotFound,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
