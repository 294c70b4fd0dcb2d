import { Empty, Page } from '../../parts/layout.tsx'

export function SessionsPage() {
  return (
    <Page title="Sessions" purpose="Read a session like a story.">
      <Empty title="Nothing here yet" />
    </Page>
  )
}
