import { Empty, Page } from '../../parts/layout.tsx'

export function AuditPage() {
  return (
    <Page title="Audit" purpose="Every decision, searchable and provable.">
      <Empty title="Nothing here yet" />
    </Page>
  )
}
