import {
  IconCheck,
  IconCircleArrowUp,
  IconCircleDashed,
  IconCircleHalf2,
  IconExclamationCircle,
  IconHelpCircle,
  IconOctagonFilled,
  IconPencil,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './decision.module.css'

/** The outcomes of a hook or of a whole dispatch, as every view names and colours them. */
export type Outcome = 'allow' | 'rewrite' | 'ask' | 'block' | 'skip' | 'failed' | 'shadow' | 'opened'

const icons = {
  allow: IconCheck,
  rewrite: IconPencil,
  ask: IconHelpCircle,
  block: IconOctagonFilled,
  skip: IconCircleDashed,
  failed: IconExclamationCircle,
  shadow: IconCircleHalf2,
  opened: IconCircleArrowUp,
} as const

interface DecisionProps {
  readonly outcome: Outcome
  /** Instead of the outcome's own word, for example the name of the hook. */
  readonly children?: ReactNode
}

/** A decision with its icon, so that colour is never the only sign. */
export function Decision({ outcome, children = outcome }: DecisionProps) {
  const Icon = icons[outcome]
  return (
    <span
      className={[styles.decision, styles[outcome]].join(' ')}
      style={{ color: `var(--${roleOf(outcome)})` }}
      data-outcome={outcome}
    >
      <Icon size={14} stroke={2} aria-hidden />
      {children}
    </span>
  )
}

/** Its colour role in theme.css. */
export function roleOf(outcome: Outcome): string {
  if (outcome === 'opened') return 'ask'
  return outcome === 'failed' ? 'block' : outcome
}

interface DecidedEvent {
  readonly event: string
  readonly kind: 'allow' | 'ask' | 'block'
  readonly rewritten: boolean
  readonly opened: string | null
}

/** What an event came to. One that only tells something has no decision: its text says what happened. */
export function EventDecision({ event }: Readonly<{ event: DecidedEvent }>) {
  return isReport(event) ? <span className="muted">recorded</span> : <Decision outcome={outcomeOf(event)} />
}

/** Whether an event tells what happened, such as a step of an approval, and asks nothing. */
export function isReport({ event }: Pick<DecidedEvent, 'event'>): boolean {
  return event === 'agent_event'
}

/** What a dispatch as a whole came to. */
export function outcomeOf({ kind, rewritten, opened }: Omit<DecidedEvent, 'event'>): Outcome {
  if (kind !== 'allow') return kind
  if (opened !== null) return 'opened'
  return rewritten ? 'rewrite' : 'allow'
}
