import { getRouteApi } from '@tanstack/react-router'

const route = getRouteApi('/live')

/** Changes a part of the address: the filter, or the event that is open beside the list. */
export function useLiveSearch() {
  const navigate = route.useNavigate()
  const current = route.useSearch()
  return {
    ...current,
    change: (part: typeof current, { replace = false } = {}) =>
      void navigate({ to: '.', search: { ...current, ...part }, replace }),
  }
}
