import { Modal, TextInput, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { chooseTenant } from '../../gateway/call.ts'
import { useMethod } from '../../gateway/use-method.ts'
import { useCaller, useMay } from '../caller.ts'
import { navigation } from '../navigation.ts'
import styles from './command-palette.module.css'

interface Entry {
  readonly title: string
  readonly detail: string
  run(): void
}

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i

/** Goes to any view, to a hook by its name, or to an event by its id; switches the theme and the tenant. */
export function CommandPalette({ onClose }: Readonly<{ onClose: () => void }>) {
  return (
    <Modal opened onClose={onClose} withCloseButton={false} padding={0} size="lg" yOffset="12vh">
      <Palette onClose={onClose} />
    </Modal>
  )
}

function Palette({ onClose }: Readonly<{ onClose: () => void }>) {
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const entries = useEntries(typed.trim())
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setChosen((chosen + step + entries.length) % Math.max(entries.length, 1))
    } else if (event.key === 'Enter') run(entries[chosen])
  }
  return (
    <div>
      <TextInput
        data-autofocus
        aria-label="Search and commands"
        placeholder="Go to a view or a hook, or paste the id of an event"
        size="md"
        variant="unstyled"
        className={styles.input ?? ''}
        value={typed}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div className={styles.entries}>
        {entries.length === 0 ? <p className={styles.none}>Nothing matches.</p> : null}
        {entries.map((entry, index) => (
          <button
            key={`${entry.title} ${entry.detail}`}
            type="button"
            className={index === chosen ? `${styles.entry} ${styles.chosen}` : styles.entry}
            onClick={() => run(entry)}
            onMouseMove={() => setChosen(index)}
          >
            {entry.title}
            <span>{entry.detail}</span>
          </button>
        ))}
      </div>
    </div>
  )
}

function useEntries(typed: string): readonly Entry[] {
  const navigate = useNavigate()
  const actions = useActions()
  const hooks = useHookEntries()
  const views = navigation.map(({ to, title, key }) => ({
    title,
    detail: `g ${key}`,
    run: () => void navigate({ to }),
  }))
  const events = UUID.test(typed)
    ? [
        {
          title: `Event ${typed}`,
          detail: 'open',
          run: () => void navigate({ to: '/events/$eventId', params: { eventId: typed } }),
        },
      ]
    : []
  const search =
    typed === ''
      ? []
      : [
          {
            title: `Find “${typed}” in Live`,
            detail: 'filter',
            run: () => void navigate({ to: '/live', search: { filter: quote(typed) } }),
          },
        ]
  const offered = typed === '' ? [...views, ...actions] : [...views, ...hooks, ...actions]
  const named = offered.filter(({ title }) => title.toLowerCase().includes(typed.toLowerCase()))
  return [...events, ...named.slice(0, MAX_ENTRIES), ...search]
}

const MAX_ENTRIES = 20

/** The stored hooks, which a person finds by name. */
function useHookEntries(): readonly Entry[] {
  const navigate = useNavigate()
  const { data } = useMethod('hooks.list')
  return (data?.hooks ?? []).map(({ id, name, event }) => ({
    title: name ?? id,
    detail: `hook · ${event}`,
    run: () => void navigate({ to: '/hooks/$hookId', params: { hookId: id } }),
  }))
}

/** What can be done from everywhere. */
function useActions(): readonly Entry[] {
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const other = useComputedColorScheme('light') === 'light' ? 'dark' : 'light'
  const { tenant, tenants = [] } = useCaller()
  const newHook = {
    title: 'New hook',
    detail: 'create',
    run: () => void navigate({ to: '/hooks/$hookId', params: { hookId: 'new' } }),
  }
  return [
    ...(useMay('admin') ? [newHook] : []),
    { title: `Use the ${other} theme`, detail: 'appearance', run: () => setColorScheme(other) },
    ...tenants
      .filter(({ id }) => id !== tenant)
      .map(({ id, name }) => ({ title: `Work for ${name}`, detail: 'tenant', run: () => chooseTenant(id) })),
  ]
}

function quote(text: string): string {
  return text.includes(' ') ? `"${text.replaceAll('"', '')}"` : text
}
