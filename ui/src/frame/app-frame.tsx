import {
  ActionIcon,
  Menu,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconAlertTriangle, IconCommand, IconMoon, IconSelector, IconSun } from '@tabler/icons-react'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { chooseTenant, logOut } from '../gateway/call.ts'
import { useFollowChanges } from '../gateway/changes.ts'
import { useConnectionState } from '../gateway/live.ts'
import { plural, shortenId } from '../parts/format.ts'
import styles from './app-frame.module.css'
import { useApprovalNotifications } from './approval-notifications.tsx'
import { type Caller, useCaller } from './caller.ts'
import { useShortcuts } from './keyboard/shortcuts.ts'
import { Mark } from './mark.tsx'
import { navigation } from './navigation.ts'
import { useGuardsOff, usePendingApprovals } from './status.ts'

/** Loaded when they are opened first. */
const CommandPalette = lazy(async () => ({
  default: (await import('./keyboard/command-palette.tsx')).CommandPalette,
}))
const KeyboardHelp = lazy(async () => ({
  default: (await import('./keyboard/keyboard-help.tsx')).KeyboardHelp,
}))

/** Sidebar, header, and the view between them. On a phone the sidebar is a bar at the bottom. */
export function AppFrame() {
  const [isPaletteOpen, palette] = useDisclosure(false)
  const [isHelpOpen, help] = useDisclosure(false)
  useFollowChanges()
  useApprovalNotifications()
  useShortcuts({ openPalette: palette.open, openHelp: help.open })
  return (
    <div className={styles.app}>
      <a href="#view" className={styles.skip}>
        Skip to the content
      </a>
      <Sidebar />
      <div className={styles.content}>
        <Header onPalette={palette.open} />
        <LostConnection />
        <main id="view">
          <Outlet />
        </main>
      </div>
      <Suspense>
        {isPaletteOpen ? <CommandPalette onClose={palette.close} /> : null}
        {isHelpOpen ? <KeyboardHelp onClose={help.close} /> : null}
      </Suspense>
    </div>
  )
}

function Sidebar() {
  const { version, edition } = useCaller()
  return (
    <nav className={styles.sidebar} aria-label="Views">
      <Link to="/" className={styles.brand}>
        <Mark /> <span className={styles.label}>Hookhelm</span>
      </Link>
      {navigation.map(({ to, title, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          className={styles.link}
          activeProps={{ className: styles.active ?? '', 'aria-current': 'page' }}
          activeOptions={{ exact: to === '/', includeSearch: false }}
          title={title}
        >
          <Icon size={17} stroke={1.7} aria-hidden />
          <span className={styles.label}>{title}</span>
          {to === '/guards' ? <GuardsBadge /> : null}
          {to === '/approvals' ? <ApprovalsBadge /> : null}
        </Link>
      ))}
      <div className={styles.foot}>
        <TenantSwitch />
        <div className="faint">
          {edition} · {version}
        </div>
      </div>
    </nav>
  )
}

/** Guards that are off, so that a person sees them in every view. */
function GuardsBadge() {
  const off = useGuardsOff()
  if (off === 0) return null
  return (
    <span className={styles.badge} title={`${plural(off, 'guard')} off`}>
      <IconAlertTriangle size={12} stroke={2.2} aria-hidden />
      <span className={styles.label}>{off}</span>
      <VisuallyHidden> {off === 1 ? 'guard is' : 'guards are'} off</VisuallyHidden>
    </span>
  )
}

/** How many calls wait for a person. */
function ApprovalsBadge() {
  const { data } = usePendingApprovals()
  if (data === undefined || data.pending === 0) return null
  return (
    <span className={styles.badge} title={`${plural(data.pending, 'call')} waiting`}>
      <span>{data.pending}</span>
      <VisuallyHidden> waiting</VisuallyHidden>
    </span>
  )
}

/** The tenant whose data is shown. Only a caller who may act for several can switch. */
function TenantSwitch() {
  const { tenant, tenant_name, tenants = [] } = useCaller()
  if (tenants.length < 2) return <div>{tenant_name}</div>
  return (
    <Menu position="top-start" width={200}>
      <Menu.Target>
        <button type="button" className={styles.tenant} aria-label={`Tenant ${tenant_name}: switch`}>
          {tenant_name} <IconSelector size={13} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <TenantItems tenant={tenant} tenants={tenants} />
      </Menu.Dropdown>
    </Menu>
  )
}

function TenantItems({ tenant, tenants }: Required<Pick<Caller, 'tenant' | 'tenants'>>) {
  return tenants.map(({ id, name }) => (
    <Menu.Item key={id} disabled={id === tenant} onClick={() => chooseTenant(id)}>
      Work for {name}
    </Menu.Item>
  ))
}

function Header({ onPalette }: Readonly<{ onPalette: () => void }>) {
  return (
    <header className={styles.header}>
      <Breadcrumbs />
      <div className={styles.tools}>
        <Tooltip label="Search and commands (⌘K or Ctrl K)">
          <ActionIcon variant="subtle" color="gray" aria-label="Search and commands" onClick={onPalette}>
            <IconCommand size={17} />
          </ActionIcon>
        </Tooltip>
        <ThemeSwitch />
        <CallerMenu />
      </div>
    </header>
  )
}

function Breadcrumbs() {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [first = '', ...rest] = path.replace(/^\/ui/, '').split('/').filter(Boolean)
  const last = rest.at(-1)
  const shown = first === 'events' ? 'live' : first
  const view = navigation.find(({ to }) => to === `/${shown}`)
  return (
    <div className={styles.crumbs}>
      {view === undefined ? null : <Link to={view.to}>{view.title}</Link>}
      {last === undefined ? null : (
        <>
          <span aria-hidden>/</span> <code>{shortenId(decodeURIComponent(last))}</code>
        </>
      )}
    </div>
  )
}

function ThemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const other = scheme === 'light' ? 'dark' : 'light'
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Use the ${other} theme`}
      onClick={() => setColorScheme(other)}
    >
      {scheme === 'light' ? <IconMoon size={17} /> : <IconSun size={17} />}
    </ActionIcon>
  )
}

function CallerMenu() {
  const { name, role, tenant, tenant_name, tenants = [] } = useCaller()
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <button type="button" className={styles.caller}>
          {role}@{tenant_name}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          Signed in as {role} with the token {name}
        </Menu.Label>
        {tenants.length < 2 ? null : <TenantItems tenant={tenant} tenants={tenants} />}
        <Menu.Item onClick={() => void logOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** A quiet bar: the data stays and catches up by itself. */
function LostConnection() {
  const state = useConnectionState()
  return state === 'lost' ? (
    <div className={styles.lost} role="status">
      The connection to the gateway is lost. What you see may be old; it continues by itself.
    </div>
  ) : null
}
