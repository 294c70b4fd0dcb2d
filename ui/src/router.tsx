import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { AppFrame } from './frame/app-frame.tsx'
import { NoSuchPage, PageFailed } from './frame/page-states.tsx'

const root = createRootRoute({
  component: AppFrame,
  notFoundComponent: NoSuchPage,
  errorComponent: ({ error, reset }) => (
    <PageFailed error={error instanceof Error ? error : new Error(String(error))} reset={reset} />
  ),
})

const text = (value: unknown) => (typeof value === 'string' ? value : '')
/** The filter of a list stands in the address, so that it can be sent to somebody. */
const withFilter = (search: Record<string, unknown>): { filter?: string } =>
  search.filter === undefined || search.filter === '' ? {} : { filter: text(search.filter) }
const withTab = (search: Record<string, unknown>): { tab?: string } =>
  search.tab === undefined ? {} : { tab: text(search.tab) }

interface ApprovalSearch {
  tab?: string
  status?: string
  agent?: string
  hook?: string
  session?: string
}

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./views/home/home-page.tsx'), 'HomePage'),
})

const live = createRoute({
  getParentRoute: () => root,
  path: '/live',
  // `event` is the one that is open beside the list.
  validateSearch: (search: Record<string, unknown>): { filter?: string; event?: string } => ({
    ...withFilter(search),
    ...(search.event === undefined ? {} : { event: text(search.event) }),
  }),
  component: lazyRouteComponent(() => import('./views/live/live-page.tsx'), 'LivePage'),
})

const event = createRoute({
  getParentRoute: () => root,
  path: '/events/$eventId',
  component: lazyRouteComponent(() => import('./views/event/event-page.tsx'), 'EventPage'),
})

const sessions = createRoute({
  getParentRoute: () => root,
  path: '/sessions',
  component: lazyRouteComponent(() => import('./views/sessions/sessions-page.tsx'), 'SessionsPage'),
})

const session = createRoute({
  getParentRoute: () => root,
  path: '/sessions/$sessionId',
  component: lazyRouteComponent(() => import('./views/sessions/session-page.tsx'), 'SessionPage'),
})

const hooks = createRoute({
  getParentRoute: () => root,
  path: '/hooks',
  validateSearch: (search: Record<string, unknown>): { event?: string; agent?: string } => ({
    ...(search.event === undefined ? {} : { event: text(search.event) }),
    ...(search.agent === undefined ? {} : { agent: text(search.agent) }),
  }),
  component: lazyRouteComponent(() => import('./views/hooks/hooks-page.tsx'), 'HooksPage'),
})

const hook = createRoute({
  getParentRoute: () => root,
  path: '/hooks/$hookId',
  // `from` is a recorded event: a sample for the test, or the call that a new hook is about. `draft` is an approval whose
  // calls the new hook allows.
  validateSearch: (search: Record<string, unknown>): { tab?: string; from?: string; draft?: string } => ({
    ...withTab(search),
    ...(search.from === undefined ? {} : { from: text(search.from) }),
    ...(search.draft === undefined ? {} : { draft: text(search.draft) }),
  }),
  component: lazyRouteComponent(() => import('./views/hooks/hook-page.tsx'), 'HookPage'),
})

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: (search: Record<string, unknown>): { hooks?: string; status?: string; agent?: string } => ({
    ...(search.hooks === undefined ? {} : { hooks: text(search.hooks) }),
    ...(search.status === undefined ? {} : { status: text(search.status) }),
    ...(search.agent === undefined ? {} : { agent: text(search.agent) }),
  }),
  component: lazyRouteComponent(() => import('./views/runs/runs-page.tsx'), 'RunsPage'),
})

const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$runId',
  component: lazyRouteComponent(() => import('./views/runs/run-page.tsx'), 'RunPage'),
})

const blueprint = createRoute({
  getParentRoute: () => root,
  path: '/agents/$name',
  validateSearch: withTab,
  component: lazyRouteComponent(() => import('./views/blueprints/blueprint-page.tsx'), 'BlueprintPage'),
})

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: (search: Record<string, unknown>): ApprovalSearch => ({
    ...withTab(search),
    ...(search.status === undefined ? {} : { status: text(search.status) }),
    ...(search.agent === undefined ? {} : { agent: text(search.agent) }),
    ...(search.hook === undefined ? {} : { hook: text(search.hook) }),
    ...(search.session === undefined ? {} : { session: text(search.session) }),
  }),
  component: lazyRouteComponent(() => import('./views/approvals/approvals-page.tsx'), 'ApprovalsPage'),
})

const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: withTab,
  component: lazyRouteComponent(() => import('./views/agents/agents-page.tsx'), 'AgentsPage'),
})

const recovery = createRoute({
  getParentRoute: () => root,
  path: '/recovery',
  // `from` is the recorded event that is simulated, `team` and `message` what the mailbox shows.
  validateSearch: (
    search: Record<string, unknown>,
  ): { tab?: string; from?: string; team?: string; message?: string } => ({
    ...withTab(search),
    ...(search.from === undefined ? {} : { from: text(search.from) }),
    ...(search.team === undefined ? {} : { team: text(search.team) }),
    ...(search.message === undefined ? {} : { message: text(search.message) }),
  }),
  component: lazyRouteComponent(() => import('./views/recovery/recovery-page.tsx'), 'RecoveryPage'),
})

const recoveryRule = createRoute({
  getParentRoute: () => root,
  path: '/recovery/rules/$ruleId',
  // `source` is the file of the rule.
  validateSearch: (search: Record<string, unknown>): { source?: string; from?: string } => ({
    ...(search.source === undefined ? {} : { source: text(search.source) }),
    ...(search.from === undefined ? {} : { from: text(search.from) }),
  }),
  component: lazyRouteComponent(() => import('./views/recovery/rule-page.tsx'), 'RulePage'),
})

const firing = createRoute({
  getParentRoute: () => root,
  path: '/recovery/firings/$firingId',
  component: lazyRouteComponent(() => import('./views/recovery/firing-page.tsx'), 'FiringPage'),
})

const guards = createRoute({
  getParentRoute: () => root,
  path: '/guards',
  validateSearch: withTab,
  component: lazyRouteComponent(() => import('./views/guards/guards-page.tsx'), 'GuardsPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: withFilter,
  component: lazyRouteComponent(() => import('./views/audit/audit-page.tsx'), 'AuditPage'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: withTab,
  component: lazyRouteComponent(() => import('./views/settings/settings-page.tsx'), 'SettingsPage'),
})

const api = createRoute({
  getParentRoute: () => root,
  path: '/api',
  component: lazyRouteComponent(() => import('./views/api/api-page.tsx'), 'ApiPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    live,
    event,
    sessions,
    session,
    hooks,
    hook,
    runs,
    run,
    agents,
    approvals,
    blueprint,
    recovery,
    recoveryRule,
    firing,
    guards,
    audit,
    settings,
    api,
  ]),
  basepath: '/ui',
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
