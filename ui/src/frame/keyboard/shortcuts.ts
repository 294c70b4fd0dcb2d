import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef } from 'react'
import { navigation } from '../navigation.ts'

/** `⌘K` opens the palette, `?` the help, and `g` followed by a view's key that view. */
export function useShortcuts({ openPalette, openHelp }: { openPalette(): void; openHelp(): void }): void {
  const navigate = useNavigate()
  const isGoing = useRef(false)
  usePageKeys((event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      openPalette()
      return
    }
    if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return
    const view = isGoing.current ? navigation.find(({ key }) => key === event.key) : undefined
    isGoing.current = event.key === 'g' && view === undefined
    if (view !== undefined) void navigate({ to: view.to })
    else if (event.key === '?') openHelp()
  })
}

/** Receives every key that is pressed on the page. */
export function usePageKeys(receive: (event: KeyboardEvent) => void): void {
  const onKey = useEffectEvent(receive)
  useEffect(() => {
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** Keys typed into a field are text, not commands. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
