import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import type { ReactNode } from 'react'
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

/** A view at an address. Its code loads when it is opened first. */
function view<const Path extends string, const Name extends string>(
  path: Path,
  load: () => Promise<Readonly<Record<NoInfer<Name>, () => ReactNode>>>,
  name: Name,
) {
  return { getParentRoute: () => root, path, component: lazyRouteComponent(load, name) }
}

const home = createRoute(view('/', () => import('./views/home/home-page.tsx'), 'HomePage'))

const live = createRoute({
  ...view('/live', () => import('./views/live/live-page.tsx'), 'LivePage'),
  // `event` is the one that is open beside the list.
  validateSearch: texts('filter', 'event'),
})

const event = createRoute(view('/events/$eventId', () => import('./views/event/event-page.tsx'), 'EventPage'))

const sessions = createRoute(
  view('/sessions', () => import('./views/sessions/sessions-page.tsx'), 'SessionsPage'),
)

const session = createRoute(
  view('/sessions/$sessionId', () => import('./views/sessions/session-page.tsx'), 'SessionPage'),
)

const hooks = createRoute({
  ...view('/hooks', () => import('./views/hooks/hooks-page.tsx'), 'HooksPage'),
  validateSearch: texts('event', 'agent', 'folder'),
})

const hook = createRoute({
  ...view('/hooks/$hookId', () => import('./views/hook/hook-page.tsx'), 'HookPage'),
  // `from` is a recorded event: a sample for the test, or the call that a new hook is about. `draft` is an approval whose
  // calls the new hook allows.
  validateSearch: texts('tab', 'from', 'draft'),
})

const runs = createRoute({
  ...view('/runs', () => import('./views/runs/runs-page.tsx'), 'RunsPage'),
  validateSearch: texts('hooks', 'status', 'agent'),
})

const run = createRoute(view('/runs/$runId', () => import('./views/runs/run/run-page.tsx'), 'RunPage'))

const blueprint = createRoute({
  ...view('/agents/$name', () => import('./views/blueprints/blueprint-page.tsx'), 'BlueprintPage'),
  validateSearch: texts('tab'),
})

const approvals = createRoute({
  ...view('/approvals', () => import('./views/approvals/approvals-page.tsx'), 'ApprovalsPage'),
  validateSearch: texts('tab', 'status', 'agent', 'hook', 'session'),
})

const agents = createRoute({
  ...view('/agents', () => import('./views/agents/agents-page.tsx'), 'AgentsPage'),
  validateSearch: texts('tab'),
})

const recovery = createRoute({
  ...view('/recovery', () => import('./views/recovery/recovery-page.tsx'), 'RecoveryPage'),
  // `from` is the recorded event that is simulated, `team` and `message` what the mailbox shows.
  validateSearch: texts('tab', 'from', 'team', 'message'),
})

const recoveryRule = createRoute({
  ...view('/recovery/rules/$ruleId', () => import('./views/rules/rule-page.tsx'), 'RulePage'),
  // `source` is the file of the rule.
  validateSearch: texts('source', 'from'),
})

const firing = createRoute(
  view('/recovery/firings/$firingId', () => import('./views/recovery/firing-page.tsx'), 'FiringPage'),
)

const guards = createRoute({
  ...view('/guards', () => import('./views/guards/guards-page.tsx'), 'GuardsPage'),
  validateSearch: texts('tab'),
})

const audit = createRoute({
  ...view('/audit', () => import('./views/audit/audit-page.tsx'), 'AuditPage'),
  validateSearch: texts('filter'),
})

const settings = createRoute({
  ...view('/settings', () => import('./views/settings/settings-page.tsx'), 'SettingsPage'),
  validateSearch: texts('tab'),
})

const api = createRoute(view('/api', () => import('./views/api/api-page.tsx'), 'ApiPage'))

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
