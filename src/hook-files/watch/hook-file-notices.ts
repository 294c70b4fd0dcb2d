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
  const { scripts = {} } = status
  const file = status.file ?? status.folder
  return [
    ...stateNotices(status, file),
    ...changedScripts(scripts).map(({ path, state }) => ({
      file,
      effect: 'closed' as const,
      text: `${path} ${scriptText[state]}: hooks of ${file} that name it fail. Review it and run \`hookhelm trust\``,
    })),
    ...(status.coversScripts === false
      ? [
          {
            file,
            effect: 'open' as const,
            text: `${file} was trusted without the scripts that it names, so changes of them go unnoticed. ${REVIEW}`,
          },
        ]
      : []),
  ]
}

const REVIEW = 'Review it and run `hookhelm trust`'

const scriptText = {
  changed: 'has changed since it was trusted',
  missing: 'was trusted and no longer exists',
  link: 'was a file when it was trusted and is a symbolic link now',
  appeared: 'did not exist when its hook was trusted',
} as const

function stateNotices({ state, hooks, problems }: HookFileStatus, file: string): HookFileNotice[] {
  const inForce = `the content that you trusted stays in force (${hooks} hooks)`
  const [problem] = problems
  switch (state) {
    case 'untrusted':
      return [{ file, effect: 'open', text: untrustedText(file) }]
    case 'changed': {
      const why = problem === undefined ? `${file} has changed since you trusted it` : problem.message
      return [{ file, effect: 'open', text: `${why}; ${inForce}. ${REVIEW}` }]
    }
    case 'gone':
      return [
        {
          file,
          effect: 'open',
          text: `${file} no longer exists; ${inForce}. Restore it, or run \`hookhelm trust --revoke\``,
        },
      ]
    case 'red':
      return problems.map((each) => ({ file, effect: 'closed', text: formatProblem(each) }))
    default:
      return []
  }
}

/** A file whose content was never trusted. */
function untrustedText(file: string): string {
  return `${file} has no effect until you trust it: run \`hookhelm trust\``
}
