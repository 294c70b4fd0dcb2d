import { ActionIcon, Menu, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCommand, IconMoon, IconSun } from '@tabler/icons-react'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { chooseTenant, logOut } from '../gateway/call.ts'
import { useConnectionState } from '../gateway/live.ts'
import { shortenId } from '../parts/format.ts'
import styles from './app-frame.module.css'
import { useCaller } from './caller.ts'
import { Mark } from './mark.tsx'
import { navigation } from './navigation.ts'
import { useShortcuts } from './shortcuts.ts'

/** Loaded when they are opened first. */
const CommandPalette = lazy(async () => ({ default: (await import('./command-palette.tsx')).CommandPalette }))
const KeyboardHelp = lazy(async () => ({ default: (await import('./keyboard-help.tsx')).KeyboardHelp }))

/** Sidebar, header, and the view between them. On a phone the sidebar is a bar at the bottom. */
export function AppFrame() {
  const [isPaletteOpen, palette] = useDisclosure(false)
  const [isHelpOpen, help] = useDisclosure(false)
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
        {isPaletteOpen ? <CommandPalette opened onClose={palette.close} /> : null}
        {isHelpOpen ? <KeyboardHelp opened onClose={help.close} /> : null}
      </Suspense>
    </div>
  )
}

function Sidebar() {
  const { tenant_name, version, edition } = useCaller()
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
        </Link>
      ))}
      <div className={styles.foot}>
        <div>{tenant_name}</div>
        <div className={styles.faint}>
          {edition} · {version}
        </div>
      </div>
    </nav>
  )
}

function Header({ onPalette }: { readonly onPalette: () => void }) {
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
  const [first = '', second] = path.replace(/^\/ui/, '').split('/').filter(Boolean)
  const shown = first === 'events' ? 'live' : first
  const view = navigation.find(({ to }) => to === `/${shown}`)
  return (
    <div className={styles.crumbs}>
      {view === undefined ? null : <Link to={view.to}>{view.title}</Link>}
      {second === undefined ? null : (
        <>
          <span aria-hidden>/</span> <code>{shortenId(decodeURIComponent(second))}</code>
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
        {tenants.length < 2
          ? null
          : tenants.map(({ id, name: title }) => (
              <Menu.Item key={id} disabled={id === tenant} onClick={() => chooseTenant(id)}>
                Work for {title}
              </Menu.Item>
            ))}
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
