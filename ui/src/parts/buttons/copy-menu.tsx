import { Button, Menu } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import { useCopy } from './use-copy.ts'

interface CopyMenuProps {
  /** What each entry is called, and what it copies. */
  readonly texts: readonly (readonly [title: string, text: string])[]
  readonly isSmall?: boolean
}

/** Copies what the view shows in one of several forms. */
export function CopyMenu({ texts, isSmall = false }: CopyMenuProps) {
  const { copy, copied } = useCopy()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          size={isSmall ? 'compact-xs' : 'xs'}
          rightSection={<IconChevronDown size={isSmall ? 12 : 14} />}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {texts.map(([title, text]) => (
          <Menu.Item key={title} onClick={() => copy(text)}>
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
