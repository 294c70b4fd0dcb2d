import { Empty, Page } from '../../parts/layout.tsx'

export function HooksPage() {
  return (
    <Page title="Hooks" purpose="The hooks in the order in which they run.">
      <Empty title="Nothing here yet" />
    </Page>
  )
}
