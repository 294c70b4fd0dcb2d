import { Empty, Page } from '../../parts/layout.tsx'

export function SettingsPage() {
  return (
    <Page title="Settings" purpose="Tenants, tokens, providers, secrets and limits.">
      <Empty title="Nothing here yet" />
    </Page>
  )
}
