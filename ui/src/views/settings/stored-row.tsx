import type { ReactNode } from 'react'
import { Confirmed } from '../../parts/buttons/confirmed.tsx'
import { layout } from '../../parts/layout.tsx'
import styles from './settings.module.css'

interface StoredRowProps {
  readonly word?: string
  /** What is lost with it. */
  readonly sure: string
  readonly canUndo?: boolean
  readonly onDelete: () => void
  /** Three cells. */
  readonly children: ReactNode
}

/** Something stored, with a button that deletes it. */
export function StoredRow({ word = 'Delete', sure, canUndo = true, onDelete, children }: StoredRowProps) {
  return (
    <div className={`${layout.row} ${styles.row}`}>
      {children}
      <Confirmed word={word} sure={sure} canUndo={canUndo} onDo={onDelete} />
    </div>
  )
}
