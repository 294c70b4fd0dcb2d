import { useClipboard } from '@mantine/hooks'
import { showControls } from '../format.ts'

/** Copies text. It may come from an agent, and a terminal obeys what is pasted into it. */
export function useCopy(): { copy(text: string): void; readonly copied: boolean } {
  const { copy, copied } = useClipboard({ timeout: 1_500 })
  return { copy: (text) => copy(showControls(text)), copied }
}
