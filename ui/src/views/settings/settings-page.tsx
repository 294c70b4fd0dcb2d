import { Tabs } from '@mantine/core'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useCaller, useMay } from '../../frame/caller.ts'
import { Empty, Page } from '../../parts/layout.tsx'
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
      <Tabs
        value={tab}
        onChange={(chosen) =>
          void navigate({ to: '/settings', search: chosen === null ? {} : { tab: chosen } })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="appearance">Appearance</Tabs.Tab>
          {isAdmin ? (
            <>
              <Tabs.Tab value="tokens">Tokens</Tabs.Tab>
              <Tabs.Tab value="secrets">Secrets</Tabs.Tab>
              <Tabs.Tab value="providers">Providers</Tabs.Tab>
              <Tabs.Tab value="limits">Limits and retention</Tabs.Tab>
            </>
          ) : null}
          {master ? <Tabs.Tab value="tenants">Tenants</Tabs.Tab> : null}
        </Tabs.List>
        <Tabs.Panel value="appearance">
          <Appearance />
          {isAdmin ? null : <Empty title="The other settings need the role admin" />}
        </Tabs.Panel>
        <Tabs.Panel value="tokens">
          <Tokens />
        </Tabs.Panel>
        <Tabs.Panel value="secrets">
          <Secrets />
        </Tabs.Panel>
        <Tabs.Panel value="providers">
          <Providers />
        </Tabs.Panel>
        <Tabs.Panel value="limits">
          <Limits />
        </Tabs.Panel>
        <Tabs.Panel value="tenants">
          <Tenants />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
