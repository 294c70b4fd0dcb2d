import { Empty, Page } from '../../parts/layout.tsx'

export function GuardsPage() {
  return (
    <Page title="Guards" purpose="Breakers, budgets, quotas, cooldowns and deliveries.">
      <Empty title="Nothing here yet" />
    </Page>
  )
}
