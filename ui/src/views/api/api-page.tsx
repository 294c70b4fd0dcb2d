import { Empty, Page } from '../../parts/layout.tsx'

export function ApiPage() {
  return (
    <Page title="API" purpose="Every method, to read and to try.">
      <Empty title="Nothing here yet" />
    </Page>
  )
}
