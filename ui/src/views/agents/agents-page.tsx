import { Empty, Page } from '../../parts/layout.tsx'

export function AgentsPage() {
  return (
    <Page title="Agents" purpose="Connected coding agents and what can be enforced there.">
      <Empty title="Nothing here yet" />
    </Page>
  )
}
