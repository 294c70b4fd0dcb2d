import { SegmentedControl } from '@mantine/core'

interface TwoWayProps {
  readonly label: string
  readonly words: readonly [first: string, second: string]
  readonly isSecond: boolean
  readonly onChange: (isSecond: boolean) => void
  readonly className?: string | undefined
}

/** Chooses one of two ways to show the same. */
export function TwoWay({ label, words: [first, second], isSecond, onChange, className = '' }: TwoWayProps) {
  return (
    <SegmentedControl
      size="xs"
      className={className}
      aria-label={label}
      data={[first, second]}
      value={isSecond ? second : first}
      onChange={(word) => onChange(word === second)}
    />
  )
}
