import { formatProblem } from '../file-problem.ts'
import { changedScripts } from '../trusted-scripts.ts'
import type { HookFileStatus } from './watched-folder.ts'

/** A hook file that needs a person's attention: what is wrong, and the command that mends it. */
export interface HookFileNotice {
  readonly file: string
  /** `closed`: gates that use the file block or fail · `open`: hooks are in force, or none were ever trusted. */
  readonly effect: 'closed' | 'open'
  readonly text: string
}

/** What a person should know about a hook file. Empty if its hooks are in use as they are written. */
export function hookFileNotices(status: HookFileStatus): HookFileNotice[] {
  const { scripts = {}, coversScripts } = status
  const file = status.file ?? status.folder
  const notice = (effect: HookFileNotice['effect'], text: string): HookFileNotice => ({ file, effect, text })
  const opening = openingText(status, file)
  const closings = status.state === 'red' ? status.problems.map(formatProblem) : []
  const changes = changedScripts(scripts).map(
    ({ path, state }) =>
      `${path} ${scriptText[state]}: hooks of ${file} that name it fail. Review it and run \`hookhelm trust\``,
  )
  const uncovered = `${file} was trusted without the scripts that it names, so changes of them go unnoticed. ${REVIEW}`
  return [
    ...(opening === undefined ? [] : [notice('open', opening)]),
    ...[...closings, ...changes].map((text) => notice('closed', text)),
    ...(coversScripts === false ? [notice('open', uncovered)] : []),
  ]
}

const REVIEW = 'Review it and run `hookhelm trust`'

const scriptText = {
  changed: 'has changed since it was trusted',
  missing: 'was trusted and no longer exists',
  link: 'was a file when it was trusted and is a symbolic link now',
  appeared: 'did not exist when its hook was trusted',
} as const

/** What became of a file whose trusted hooks, if there are any, stay in force. */
function openingText(
  { state, hooks, problems: [problem] }: HookFileStatus,
  file: string,
): string | undefined {
  const inForce = `the content that you trusted stays in force (${hooks} hooks)`
  if (state === 'untrusted') return `${file} has no effect until you trust it: run \`hookhelm trust\``
  if (state === 'changed')
    return `${problem?.message ?? `${file} has changed since you trusted it`}; ${inForce}. ${REVIEW}`
  return state === 'gone'
    ? `${file} no longer exists; ${inForce}. Restore it, or run \`hookhelm trust --revoke\``
    : undefined
}
