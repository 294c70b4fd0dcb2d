import { getRouteApi, useNavigate } from '@tanstack/react-router'

const route = getRouteApi('/live')

interface LiveSearch {
  readonly filter?: string
  readonly event?: string
}

/** Changes a part of the address: the filter, or the event that is open beside the list. */
export function useLiveSearch() {
  const navigate = useNavigate()
  const current = route.useSearch()
  return {
    ...current,
    change: (part: LiveSearch, { replace = false } = {}) => {
      const wanted = { ...current, ...part }
      const search = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''))
      void navigate({ to: '/live', search, replace })
    },
  }
}
