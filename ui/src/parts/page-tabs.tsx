import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'

export interface PageTab {
  readonly name: string
  readonly title: string
  readonly content: ReactNode
  /** Only who knows its address gets there: the gateway would refuse what it shows. */
  readonly isHidden?: boolean
}

/** The tabs of a page. Only the content of the chosen one is drawn. */
export function PageTabs({
  tabs,
  chosen,
  onChoose,
  className = '',
}: {
  readonly tabs: readonly PageTab[]
  readonly chosen: string
  readonly onChoose: (name: string) => void
  readonly className?: string | undefined
}) {
  return (
    <Tabs value={chosen} onChange={(name) => onChoose(name ?? chosen)} keepMounted={false}>
      <Tabs.List mb="md" className={className}>
        {tabs.map(({ name, title, isHidden = false }) =>
          isHidden ? null : (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ),
        )}
      </Tabs.List>
      {tabs.map(({ name, content }) => (
        <Tabs.Panel key={name} value={name}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}
