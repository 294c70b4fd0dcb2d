import { ActionIcon } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'

interface IconActionProps {
  readonly icon: Icon
  /** What it does: the picture alone tells it to nobody. */
  readonly label: string
  readonly isDisabled?: boolean
  readonly onDo: () => void
}

/** A small button with a picture, beside what it changes. */
export function IconAction({ icon: Picture, label, isDisabled = false, onDo }: IconActionProps) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={isDisabled} onClick={onDo}>
      <Picture size={15} />
    </ActionIcon>
  )
}
