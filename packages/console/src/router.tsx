// Every address of the console. A page is loaded when somebody goes there; its search parameters stay plain text.

import type { QueryClient } from '@tanstack/react-query'
import { createRootRouteWithContext, createRoute, createRouter, type SearchSchemaInput } from '@tanstack/react-router'
import { BrokenPage } from './app/broken-page.tsx'
import { Frame } from './app/frame.tsx'
import { NotFound } from './app/not-found.tsx'
import { lazyPart } from './components/lazy-part.tsx'
import type { AuditFilter } from './data/queries/audit.ts'
import { filterOf, type MessageFilter, parseSearch, printSearch } from './domain/addresses.ts'
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
/** `open`: the id of the message that is shown; the newest unless it is given. */
export type GroupSearch = { open?: string; view?: string; status?: string }
export type MessagesSearch = MessageFilter & { sort?: string; open?: string }
export type MessageSearch = { tab?: string; view?: string; in?: string }
export type DraftSearch = MessageFilter & {
  kind?: string
  group?: string
  ids?: string
  failed_again_in?: string
  changed_in?: string
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
export type SignInSearch = { error?: string; return?: string }
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
  component: lazyPart(() => import('./pages/groups/groups-page.tsx').then(({ GroupsPage }) => GroupsPage), 'page'),
})

const group = createRoute({
  getParentRoute: () => root,
  path: '/groups/$id',
  validateSearch: searchOf<GroupSearch>(),
  component: lazyPart(() => import('./pages/group/group-page.tsx').then(({ GroupPage }) => GroupPage), 'page'),
})

const messages = createRoute({
  getParentRoute: () => root,
  path: '/messages',
  validateSearch: searchOf<MessagesSearch>(),
  component: lazyPart(
    () => import('./pages/messages/messages-page.tsx').then(({ MessagesPage }) => MessagesPage),
    'page',
  ),
})

const message = createRoute({
  getParentRoute: () => root,
  path: '/messages/$id',
  validateSearch: searchOf<MessageSearch>(),
  component: lazyPart(() => import('./pages/message/message-page.tsx').then(({ MessagePage }) => MessagePage), 'page'),
})

const edit = createRoute({
  getParentRoute: () => root,
  path: '/messages/$id/edit',
  validateSearch: searchOf<MessageSearch>(),
  component: lazyPart(() => import('./pages/edit/edit-page.tsx').then(({ EditPage }) => EditPage), 'page'),
})

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: searchOf<RunsSearch>(),
  component: lazyPart(() => import('./pages/runs/runs-page.tsx').then(({ RunsPage }) => RunsPage), 'page'),
})

const draft = createRoute({
  getParentRoute: () => root,
  path: '/runs/new',
  validateSearch: searchOf<DraftSearch>(),
  // What was typed and agreed to is of this selection alone.
  remountDeps: ({ search }) => {
    const { kind, group, ids, failed_again_in, changed_in } = search
    return { ...filterOf(search), kind, group, ids, failed_again_in, changed_in }
  },
  component: lazyPart(() => import('./pages/run-draft/draft-page.tsx').then(({ DraftPage }) => DraftPage), 'page'),
})

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$id',
  validateSearch: searchOf<RunSearch>(),
  component: lazyPart(() => import('./pages/run/run-page.tsx').then(({ RunPage }) => RunPage), 'page'),
})

const topics = createRoute({
  getParentRoute: () => root,
  path: '/topics',
  validateSearch: searchOf<TopicsSearch>(),
  component: lazyPart(() => import('./pages/topics/topics-page.tsx').then(({ TopicsPage }) => TopicsPage), 'page'),
})

const topic = createRoute({
  getParentRoute: () => root,
  path: '/topics/$topic',
  validateSearch: searchOf<TopicSearch>(),
  component: lazyPart(() => import('./pages/topics/topic-page.tsx').then(({ TopicPage }) => TopicPage), 'page'),
})

const policies = createRoute({
  getParentRoute: () => root,
  path: '/policies',
  validateSearch: searchOf<PoliciesSearch>(),
  component: lazyPart(
    () => import('./pages/policies/policies-page.tsx').then(({ PoliciesPage }) => PoliciesPage),
    'page',
  ),
})

const policy = createRoute({
  getParentRoute: () => root,
  path: '/policies/$pattern',
  component: lazyPart(() => import('./pages/policies/policy-page.tsx').then(({ PolicyPage }) => PolicyPage), 'page'),
})

const policyEdit = createRoute({
  getParentRoute: () => root,
  path: '/policies/$pattern/edit',
  validateSearch: searchOf<PolicyEditSearch>(),
  component: lazyPart(
    () => import('./pages/policies/policy-edit-page.tsx').then(({ PolicyEditPage }) => PolicyEditPage),
    'page',
  ),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: searchOf<AuditSearch>(),
  component: lazyPart(() => import('./pages/audit/audit-page.tsx').then(({ AuditPage }) => AuditPage), 'page'),
})

const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  component: lazyPart(() => import('./pages/system/system-page.tsx').then(({ SystemPage }) => SystemPage), 'page'),
})

const job = createRoute({
  getParentRoute: () => root,
  path: '/system/cron/$job',
  component: lazyPart(() => import('./pages/system/job-page.tsx').then(({ JobPage }) => JobPage), 'page'),
})

const sagas = createRoute({
  getParentRoute: () => root,
  path: '/system/sagas',
  validateSearch: searchOf<SagasSearch>(),
  component: lazyPart(() => import('./pages/system/sagas-page.tsx').then(({ SagasPage }) => SagasPage), 'page'),
})

const saga = createRoute({
  getParentRoute: () => root,
  path: '/system/sagas/$id',
  component: lazyPart(() => import('./pages/system/saga-page.tsx').then(({ SagaPage }) => SagaPage), 'page'),
})

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: searchOf<EventsSearch>(),
  component: lazyPart(() => import('./pages/events/events-page.tsx').then(({ EventsPage }) => EventsPage), 'page'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyPart(
    () => import('./pages/settings/settings-page.tsx').then(({ SettingsPage }) => SettingsPage),
    'page',
  ),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: searchOf<SignInSearch>(),
  component: lazyPart(() => import('./pages/sign-in/sign-in-page.tsx').then(({ SignInPage }) => SignInPage), 'page'),
})

const routeTree = root.addChildren([
  ...[now, groups, group, messages, message, edit, runs, draft, run],
  ...[topics, topic, policies, policy, policyEdit, audit, events, system, job, sagas, saga, settings, signIn],
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
    // What was asked and answered about one thing is not said of the next.
    defaultRemountDeps: ({ params }) => params,
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultNotFoundComponent: NotFound,
    // In the place of the page alone: sections and active runs stay within reach.
    defaultErrorComponent: BrokenPage,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
