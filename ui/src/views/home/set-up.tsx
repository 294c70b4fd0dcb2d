import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useCaller, useMay } from '../../frame/caller.ts'
import { call, chooseTenant } from '../../gateway/call.ts'
import { layout, Page } from '../../parts/layout.tsx'
import styles from './set-up.module.css'

/** The first visit: three steps that tick themselves off. */
export function SetUp() {
  const hooks = useQuery({
    queryKey: ['hooks', 'effective', '', ''],
    queryFn: ({ signal }) => call('hooks.effective', {}, signal),
    refetchInterval: 3_000,
  })
  // The built-in hooks come with the gateway and are off.
  const hasHooks = hooks.data?.hooks.some(({ source }) => source.kind !== 'builtin') ?? false
  return (
    <Page title="Set up" purpose="Three steps. Each turns green by itself." actions={<PlayDemo />}>
      <ol className={`${layout.panel} ${styles.steps}`}>
        <Step number={1} isDone={false} title="Connect an agent">
          Run this where the agent runs, then let it do anything.
          <Command text="hookhelm connect claude-code" />
        </Step>
        <Step number={2} isDone={hasHooks} title="Add hooks">
          Start with the examples: no forced pushes, no reading of secrets, no deleting of folders.
          <Command text="hookhelm init" />
        </Step>
        <Step number={3} isDone={false} title="See it block">
          This lets the agent try calls that must be blocked, and reports whether they were.
          <Command text="hookhelm doctor claude-code" />
        </Step>
      </ol>
    </Page>
  )
}

/** Plays the demo and shows its tenant. Only a caller who may change tenants sees it. */
function PlayDemo() {
  const { master, demo, tenants = [] } = useCaller()
  const mayPlay = useMay('admin') && master && !demo
  const play = useMutation({
    mutationFn: () => call('demo.play', {}),
    onSuccess: ({ tenantId }) => chooseTenant(tenantId),
  })
  if (!mayPlay) return null
  return (
    <>
      {play.error === null ? null : <span role="alert">{play.error.message}</span>}
      <Button variant="default" size="xs" loading={play.isPending} onClick={() => play.mutate()}>
        {tenants.some((tenant) => tenant.demo) ? 'Open the demo' : 'Play the demo'}
      </Button>
    </>
  )
}

interface StepProps {
  readonly number: number
  readonly isDone: boolean
  readonly title: string
  readonly children: ReactNode
}

function Step({ number, isDone, title, children }: StepProps) {
  return (
    <li className={styles.step}>
      <span className={isDone ? `${styles.mark} ${styles.done}` : styles.mark}>
        {isDone ? <IconCheck size={15} aria-label="done" /> : number}
      </span>
      <div>
        <h2>{title}</h2>
        {children}
      </div>
    </li>
  )
}

function Command({ text }: { readonly text: string }) {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
  return (
    <div className={styles.command}>
      <code>{text}</code>
      <Button
        variant="default"
        size="compact-xs"
        leftSection={<IconCopy size={13} />}
        onClick={() => copy(text)}
        aria-label={`Copy ${text}`}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  )
}
