import type { ReactNode } from 'react'
import styles from './facts.module.css'

/** Named values, one below the other. What is not known is left out. */
export function Facts({
  facts,
  className = '',
}: {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[]
  readonly className?: string | undefined
}) {
  return (
    <dl className={`${styles.facts} ${className}`}>
      {facts.map(([name, value], index) =>
        value === undefined || value === null ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same fact may occur twice
          <div key={index}>
            <dt>{name}</dt>
            <dd>{typeof value === 'string' ? value : value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
