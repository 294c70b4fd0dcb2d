import { Button } from '@mantine/core'
import { useRef, useState } from 'react'

interface ConfirmedProps {
  readonly word: string
  /** What the second click does. */
  readonly sure: string
  /** Whether a person can take it back for ten seconds. A revoked token must stop working at once. */
  readonly canUndo?: boolean
  readonly onDo: () => void
}

const UNDO_MS = 10_000

/** A button that says what it destroys before it does, and that can be taken back for a while. */
export function Confirmed({ word, sure, canUndo = false, onDo }: ConfirmedProps) {
  const [state, setState] = useState<'idle' | 'asked' | 'waiting'>('idle')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const confirm = () => {
    setState(canUndo ? 'waiting' : 'idle')
    if (!canUndo) return onDo()
    // Goes on when the person leaves the view: the deletion is confirmed.
    timer.current = setTimeout(() => {
      setState('idle')
      onDo()
    }, UNDO_MS)
  }
  const undo = () => {
    clearTimeout(timer.current)
    setState('idle')
  }
  if (state === 'waiting')
    return (
      <Button variant="default" size="compact-xs" onClick={undo} title="it happens in ten seconds">
        Undo
      </Button>
    )
  const isAsked = state === 'asked'
  return (
    <Button
      variant={isAsked ? 'filled' : 'default'}
      color="red"
      size="compact-xs"
      h="auto"
      mih={22}
      styles={{ label: { whiteSpace: 'normal' } }}
      onBlur={() => setState('idle')}
      onClick={() => (isAsked ? confirm() : setState('asked'))}
    >
      {isAsked ? sure : word}
    </Button>
  )
}
