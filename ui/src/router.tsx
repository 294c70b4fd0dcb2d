import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { AppFrame } from './frame/app-frame.tsx'
import { NoSuchPage, PageFailed } from './frame/page-states.tsx'

const root = createRootRoute({
  component: AppFrame,
  notFoundComponent: NoSuchPage,
  errorComponent: PageFailed,
})

const text = (value: unknown) => (typeof value === 'string' ? value : '')

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./views/home/home-page.tsx'), 'HomePage'),
})

const live = createRoute({
  getParentRoute: () => root,
  path: '/live',
  validateSearch: (search: Record<string, unknown>) => ({ filter: text(search.filter) }),
  component: lazyRouteComponent(() => import('./views/live/live-page.tsx'), 'LivePage'),
})

const event = createRoute({
  getParentRoute: () => root,
  path: '/events/$eventId',
  component: lazyRouteComponent(() => import('./views/event/event-page.tsx'), 'EventPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([home, live, event]),
  basepath: '/ui',
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
