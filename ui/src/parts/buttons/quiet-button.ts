import { Button } from '@mantine/core'

/** A button beside the one that a person most likely wants. */
export const QuietButton = Button.withProps({ variant: 'default', size: 'xs' })

/** The same in the head of a panel, or below a list. */
export const SmallButton = Button.withProps({ variant: 'default', size: 'compact-sm' })

/** The same in a row. */
export const TinyButton = Button.withProps({ variant: 'default', size: 'compact-xs' })
