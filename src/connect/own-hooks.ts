import { readState, textOf } from './files/config-file.ts'
import type { CommandHost, Where } from './host.ts'
import { hooksTarget } from './target.ts'
import { readConfigText, withoutMark } from './text/config-text.ts'

/** A configuration of an agent, without what is ours in it. */
export interface OwnHooks {
  readonly path: string
  readonly text: string
}

/** What people wrote into the configurations of an agent, of the user and of the project. */
export function ownHooks(host: CommandHost, where: Where): readonly OwnHooks[] {
  const paths = [...new Set(host.places(where).map(({ file }) => file))]
  return paths.flatMap((path) => {
    const state = readState(path)
    if (state === undefined) return []
    const text = hooksTarget(host, path, []).stripped(textOf(path, state))
    return text === undefined || !hasHooks(text, path) ? [] : [{ path, text }]
  })
}

function hasHooks(text: string, path: string): boolean {
  const { root } = readConfigText(withoutMark(text).text, path)
  return (
    root?.type === 'object' && (root.children ?? []).some(({ children }) => children?.[0]?.value === 'hooks')
  )
}
