import { Link } from '@tanstack/react-router'
import { Empty, Failed, Page } from '../parts/layout.tsx'

export function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <Empty title="There is nothing at this address" action={<Link to="/">Go to Home</Link>}>
        The link may be from another version, or what it showed was deleted.
      </Empty>
    </Page>
  )
}

export function PageFailed({ error, reset }: Readonly<{ error: Error; reset: () => void }>) {
  return (
    <Page title="This view failed">
      <Failed error={error} onRetry={reset} />
    </Page>
  )
}
