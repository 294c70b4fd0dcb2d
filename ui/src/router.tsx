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

/** The texts that the address of a view may name, so that what it shows can be sent to somebody. */
function texts<Name extends string>(...names: readonly Name[]) {
  return (search: Readonly<Record<string, unknown>>): { readonly [N in Name]?: string | undefined } => {
    const given = names.map((name) => [name, search[name]] as const)
    const filled = given.filter(([, value]) => typeof value === 'string' && value !== '')
    // Only texts are left, under their names.
    return Object.fromEntries(filled) as { readonly [N in Name]?: string }
  }
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
  validateSearch: texts('filter', 'event'),
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
  validateSearch: texts('event', 'agent'),
  component: lazyRouteComponent(() => import('./views/hooks/hooks-page.tsx'), 'HooksPage'),
})

const hook = createRoute({
  getParentRoute: () => root,
  path: '/hooks/$hookId',
  // `from` is a recorded event: a sample for the test, or the call that a new hook is about. `draft` is an approval whose
  // calls the new hook allows.
  validateSearch: texts('tab', 'from', 'draft'),
  component: lazyRouteComponent(() => import('./views/hook/hook-page.tsx'), 'HookPage'),
})

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: texts('hooks', 'status', 'agent'),
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
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./views/blueprints/blueprint-page.tsx'), 'BlueprintPage'),
})

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: texts('tab', 'status', 'agent', 'hook', 'session'),
  component: lazyRouteComponent(() => import('./views/approvals/approvals-page.tsx'), 'ApprovalsPage'),
})

const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./views/agents/agents-page.tsx'), 'AgentsPage'),
})

const recovery = createRoute({
  getParentRoute: () => root,
  path: '/recovery',
  // `from` is the recorded event that is simulated, `team` and `message` what the mailbox shows.
  validateSearch: texts('tab', 'from', 'team', 'message'),
  component: lazyRouteComponent(() => import('./views/recovery/recovery-page.tsx'), 'RecoveryPage'),
})

const recoveryRule = createRoute({
  getParentRoute: () => root,
  path: '/recovery/rules/$ruleId',
  // `source` is the file of the rule.
  validateSearch: texts('source', 'from'),
  component: lazyRouteComponent(() => import('./views/rules/rule-page.tsx'), 'RulePage'),
})

const firing = createRoute({
  getParentRoute: () => root,
  path: '/recovery/firings/$firingId',
  component: lazyRouteComponent(() => import('./views/recovery/firing-page.tsx'), 'FiringPage'),
})

const guards = createRoute({
  getParentRoute: () => root,
  path: '/guards',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./views/guards/guards-page.tsx'), 'GuardsPage'),
})

const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: texts('filter'),
  component: lazyRouteComponent(() => import('./views/audit/audit-page.tsx'), 'AuditPage'),
})

const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: texts('tab'),
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
