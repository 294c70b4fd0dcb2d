import { useLocalStorage } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCaller, useMay } from '../../frame/caller.ts'
import { chooseTenant } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { QuietButton, TinyButton } from '../../parts/buttons/quiet-button.ts'
import { useCopy } from '../../parts/buttons/use-copy.ts'
import { layout, Page, Panel } from '../../parts/layout.tsx'
import { PackList } from '../hooks/pack-list.tsx'
import { useConnectedAgentsQuery } from './home-queries.ts'
import styles from './set-up.module.css'

/** The first visit: three steps that tick themselves off. */
export function SetUp() {
  const { steps } = useSetUpSteps()
  return (
    <Page title="Set up" purpose="Three steps. Each turns green by itself." actions={<PlayDemo />}>
      <ol className={`${layout.panel} ${styles.steps}`}>{steps}</ol>
    </Page>
  )
}

/** What is left of the set-up once events arrive, until it is done or hidden. */
export function SetUpPanel() {
  const { demo } = useCaller()
  const { steps, done } = useSetUpSteps()
  const [isHidden, hide] = useLocalStorage({
    key: 'hookhelm.set-up-hidden',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  if (demo || isHidden || done === undefined || done === steps.length) return null
  return (
    <Panel
      title={`Set up: ${done} of ${steps.length} steps done`}
      aside={<TinyButton onClick={() => hide(true)}>Hide</TinyButton>}
    >
      <ol className={styles.steps}>{steps}</ol>
    </Panel>
  )
}

/** The steps, and how many are done; undefined until that is known. */
function useSetUpSteps(): { readonly steps: readonly ReactNode[]; readonly done: number | undefined } {
  const mayCreate = useMay('admin')
  const agents = useConnectedAgentsQuery()
  const hooks = useMethod('hooks.effective', { everywhere: true })
  const blocked = useMethod('events.list', { kind: 'block', probes: true, limit: 1 })
  const isConnected = (agents.data?.length ?? 0) > 0
  // The built-in hooks come with the gateway and are off.
  const hasHooks = hooks.data?.hooks.some(({ source }) => source.kind !== 'builtin') ?? false
  const hasBlocked = (blocked.data?.events.length ?? 0) > 0
  const isKnown = agents.data !== undefined && hooks.data !== undefined && blocked.data !== undefined
  return {
    done: isKnown ? [isConnected, hasHooks, hasBlocked].filter(Boolean).length : undefined,
    steps: [
      <Step key={1} number={1} isDone={isConnected} title="Connect an agent">
        Run this where the agent runs, then let it do anything.{' '}
        <Link to="/agents" className={layout.inText}>
          Other agents
        </Link>
        <Command text="hookhelm connect claude-code" />
      </Step>,
      <Step key={2} number={2} isDone={hasHooks} title="Add hooks">
        Start with packs that stop what no agent should do.{' '}
        <Link to="/hooks" className={layout.inText}>
          All packs
        </Link>
        {mayCreate ? (
          <>
            {' · '}
            <Link to="/hooks/$hookId" params={{ hookId: 'new' }} className={layout.inText}>
              make a hook
            </Link>
          </>
        ) : null}
        <PackList isShort />
        Or write them to a file of the repository:
        <Command text="hookhelm init" />
      </Step>,
      <Step key={3} number={3} isDone={hasBlocked} title="See it block">
        This lets the agent try calls that must be blocked, and reports whether they were.
        <Command text="hookhelm doctor claude-code" />
      </Step>,
    ],
  }
}

/** Plays the demo and shows its tenant. Only a caller who may change tenants sees it. */
function PlayDemo() {
  const { master, demo, tenants = [] } = useCaller()
  const mayPlay = useMay('admin') && master && !demo
  const play = useAction('demo.play', { onSuccess: ({ tenantId }) => chooseTenant(tenantId) })
  if (!mayPlay) return null
  return (
    <>
      {play.error === null ? null : <span role="alert">{play.error.message}</span>}
      <QuietButton loading={play.isPending} onClick={() => play.mutate({})}>
        {tenants.some((tenant) => tenant.demo) ? 'Open the demo' : 'Play the demo'}
      </QuietButton>
    </>
  )
}

function Step({
  number,
  isDone,
  title,
  children,
}: Readonly<{ number: number; isDone: boolean; title: string; children: ReactNode }>) {
  return (
    <li className={`${styles.step} lined`}>
      <span className={isDone ? `${styles.mark} ${styles.done}` : styles.mark}>
        {isDone ? <IconCheck size={15} role="img" aria-label="done" /> : number}
      </span>
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  )
}

function Command({ text }: Readonly<{ text: string }>) {
  const { copy, copied } = useCopy()
  return (
    <div className={styles.command}>
      <code>{text}</code>
      <TinyButton leftSection={<IconCopy size={13} />} onClick={() => copy(text)} aria-label={`Copy ${text}`}>
        {copied ? 'Copied' : 'Copy'}
      </TinyButton>
    </div>
  )
}
