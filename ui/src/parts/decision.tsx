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
    <span className={`${styles.decision} ${styles[outcome]}`} data-outcome={outcome}>
      <Icon size={14} stroke={2} aria-hidden />
      {children}
    </span>
  )
}

interface DecidedEvent {
  readonly kind: 'allow' | 'ask' | 'block'
  readonly rewritten: boolean
  readonly opened: string | null
}

/** What a dispatch as a whole came to. */
export function outcomeOf({ kind, rewritten, opened }: DecidedEvent): Outcome {
  if (kind !== 'allow') return kind
  if (opened !== null) return 'opened'
  return rewritten ? 'rewrite' : 'allow'
}
