import { Modal, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import styles from './command-palette.module.css'
import { navigation } from './navigation.ts'

interface Entry {
  readonly title: string
  readonly detail: string
  run(): void
}

interface CommandPaletteProps {
  readonly opened: boolean
  readonly onClose: () => void
}

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i

/** Goes to any view, or to an event by its id. */
export function CommandPalette({ opened, onClose }: CommandPaletteProps) {
  return (
    <Modal opened={opened} onClose={onClose} withCloseButton={false} padding={0} size="lg" yOffset="12vh">
      {opened ? <Palette onClose={onClose} /> : null}
    </Modal>
  )
}

function Palette({ onClose }: { readonly onClose: () => void }) {
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
        placeholder="Go to a view, or paste the id of an event"
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
        {entries.length === 0 ? <p className={styles.none}>Nothing has this name.</p> : null}
        {entries.map((entry, index) => (
          <button
            key={entry.title}
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
  const named = views.filter(({ title }) => title.toLowerCase().includes(typed.toLowerCase()))
  return [...events, ...named, ...search]
}

function quote(text: string): string {
  return text.includes(' ') ? `"${text.replaceAll('"', '')}"` : text
}
