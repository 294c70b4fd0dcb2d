import { Button } from '@mantine/core'
import { useRef, useState } from 'react'
import { TinyButton } from './quiet-button.ts'

interface ConfirmedProps {
  readonly word: string
  /** What the second click does. */
  readonly sure: string
  /** Whether a person can take it back for ten seconds. A revoked token must stop working at once. */
  readonly canUndo?: boolean
  readonly isBig?: boolean
  readonly isBusy?: boolean
  readonly onDo: () => void
}

const UNDO_MS = 10_000
/** In a row, where a long sentence takes several lines. */
const small = { size: 'compact-xs', h: 'auto', mih: 22, styles: { label: { whiteSpace: 'normal' } } } as const

/** A button that says what it destroys before it does, and that can be taken back for a while. */
export function Confirmed(props: ConfirmedProps) {
  const { word, sure, canUndo = false, isBig = false, isBusy = false, onDo } = props
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
      <TinyButton onClick={undo} title="it happens in ten seconds">
        Undo
      </TinyButton>
    )
  const isAsked = state === 'asked'
  return (
    <Button
      variant={isAsked ? 'filled' : 'default'}
      color="red"
      {...(isBig ? { size: 'xs' } : small)}
      loading={isBusy}
      onBlur={() => setState('idle')}
      onClick={() => (isAsked ? confirm() : setState('asked'))}
    >
      {isAsked ? sure : word}
    </Button>
  )
}
