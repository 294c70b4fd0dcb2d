import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useCaller, useMay } from '../../frame/caller.ts'
import { Empty, Page } from '../../parts/layout.tsx'
import { PageTabs } from '../../parts/page-tabs.tsx'
import { Appearance } from './appearance.tsx'
import { Limits } from './limits.tsx'
import { Providers } from './providers.tsx'
import { Secrets } from './secrets.tsx'
import { Tenants } from './tenants.tsx'
import { Tokens } from './tokens.tsx'

const route = getRouteApi('/settings')

/** Who may do what, and what the gateway may reach. */
export function SettingsPage() {
  const { tab = 'appearance' } = route.useSearch()
  const navigate = useNavigate()
  const isAdmin = useMay('admin')
  const { master } = useCaller()
  return (
    <Page title="Settings" purpose="Who may do what, what the gateway may reach, and how this app looks.">
      <PageTabs
        chosen={tab}
        onChoose={(name) => void navigate({ to: '/settings', search: { tab: name } })}
        tabs={[
          {
            name: 'appearance',
            title: 'Appearance',
            content: (
              <>
                <Appearance />
                {isAdmin ? null : <Empty title="The other settings need the role admin" />}
              </>
            ),
          },
          { name: 'tokens', title: 'Tokens', content: <Tokens />, isHidden: !isAdmin },
          { name: 'secrets', title: 'Secrets', content: <Secrets />, isHidden: !isAdmin },
          { name: 'providers', title: 'Providers', content: <Providers />, isHidden: !isAdmin },
          { name: 'limits', title: 'Limits and retention', content: <Limits />, isHidden: !isAdmin },
          { name: 'tenants', title: 'Tenants', content: <Tenants />, isHidden: !master },
        ]}
      />
    </Page>
  )
}
