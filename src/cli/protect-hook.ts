import { basename, dirname, relative } from 'node:path'
import type { AgentHost } from '../agents/agent-host.ts'
import { agentProfiles } from '../agents/table.ts'
import { dataFolder, findHookFolders, trustFile } from '../config/hook-folders.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What the hook protects. Relative paths count wherever they end a path: in a repository, and in the home folder. */
export interface ProtectedPaths {
  /** Folders, with everything in them. */
  readonly folders: readonly string[]
  readonly files: readonly string[]
}

/** The hook folder of the repository, the folders of Hookhelm, and the hook settings of every agent that it knows. */
export function protectedPaths(env: Environment): ProtectedPaths {
  const root = '/root'
  const host = { env: { HOME: root }, project: root, system: '/' }
  const inRoot = (path: string) => relative(root, path)
  const configs = agentProfiles.flatMap(({ host: agent }) =>
    agent
      .configFiles(host)
      .map(({ file }) => ({ file: inRoot(file), isLoadedByFolder: loadsFolder(agent, file) })),
  )
  const shared = configs.filter((config) => config.isLoadedByFolder).map(({ file }) => dirname(file))
  const own = [host.env, env].flatMap((from) => [
    ...findHookFolders({ cwd: '/', env: from })
      .filter(({ level }) => level !== 'repository')
      .map(({ folder }) => folder),
    dataFolder(from),
    trustFile(from).replace(/\/[^/]*$/, ''),
  ])
  const folders = own.map((path) => (path.startsWith(`${root}/`) ? inRoot(path) : path))
  const home = env.HOME ?? ''
  // Those have a relative path already.
  const isNotInHome = (path: string) => home === '' || !path.startsWith(`${home}/.`)
  return {
    folders: ['.hookhelm', ...new Set([...folders.filter(isNotInHome), ...shared])],
    // Codex keeps its trust in hooks, and the switch that turns them off, in a file of its own.
    files: [...new Set([...configs.map(({ file }) => file), '.codex/config.toml'])],
  }
}

/** Whether the agent loads every file of the folder, so that another file there counts too. */
function loadsFolder(agent: AgentHost, file: string): boolean {
  return agent.transport === 'plugin' ? agent.entryFile === basename(file) : agent.ownFile === true
}

/** The text of the hook, for the list in a hook file. */
export function protectHook(paths: ProtectedPaths): string {
  const source = scriptSource.replace('FOLDERS', list(paths.folders)).replace('FILES', list(paths.files))
  return `  # Keep agents from changing the hooks that guard them: the files of Hookhelm and their own hook settings.
  # It knows the paths that a call names. A command that hides them in a variable or a wildcard passes.
  - id: protect-hooks
    event: pre_tool_use
    handler_type: script
    config:
      source: |
${source.replace(/^(?=.)/gm, '        ')}`
}

function list(values: readonly string[]): string {
  return `[\n${values.map((value) => `  ${JSON.stringify(value)},\n`).join('')}]`
}

const scriptSource = String.raw`const folders = FOLDERS
const files = FILES
const isReader = /^(cat|ls|head|tail|less|more|grep|rg|wc|stat|file|diff|jq|yq|tree|pwd|echo|printf)$/
const isMover = /^(mv|rm|rmdir|unlink|ln|chmod|chown|find|rsync)$/
const readsOnly = /^(Read|Grep|Glob|LS|NotebookRead|WebFetch|WebSearch|Agent|Skill)$|(^|_)(read|list|get|search|view|find|stat)/
const isPathField = /path|file|dir|folder|target|source|destination|uri/i
const isHarmless = /^(list|status|validate|explain|test|doctor|agents|sessions|events|history|help|completion|-.*)$/

function clean(path) {
  const parts = []
  for (const part of path.toLowerCase().replace(/\\/g, '/').replace(/^file:\/\//, '').split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return '/' + parts.join('/')
}

function touches(path, alsoAround) {
  const at = clean(path)
  const ends = (inner) => at === clean(inner) || at.endsWith(clean(inner))
  if (folders.some((folder) => (at + '/').includes(clean(folder) + '/'))) return true
  if (files.some(ends)) return true
  return alsoAround && [...folders, ...files].some((inner) => {
    const parts = clean(inner).split('/')
    return parts.some((_, count) => count > 1 && ends(parts.slice(0, count).join('/')))
  })
}

function commandTouches(command) {
  return command.split(/[;&|\n]+/).some((part) => {
    const words = part.split(/[\s"'()<>={}$,\x60]+/).filter((word) => word !== '')
    const program = (words.find((word) => !/^([A-Z_]+|sudo|env|exec|command)$/.test(word)) || '').split('/').pop()
    const called = words.findIndex((word) => /(^|\/)hookhelm$/.test(word))
    if (/^(pkill|killall)$/.test(program) && /hookhelm/.test(part)) return true
    if (called !== -1 && (words[called] === program || /^(npx|node|bunx|pnpm|yarn|npm)$/.test(program)))
      return words[called + 1] !== undefined && !isHarmless.test(words[called + 1])
    const written = part.split('>').slice(1).map((text) => text.trim().split(/\s/)[0].replace(/["']/g, ''))
    if (written.some((path) => touches(path, false))) return true
    if (isReader.test(program) || /^\s*git (status|diff|log|show|add|commit)\b/.test(part)) return false
    return /HOOKHELM_(HOME|MANAGED_DIR)/.test(part) || words.some((word) => touches(word, isMover.test(program)))
  })
}

function named(value, key) {
  if (typeof value === 'string') {
    const patched = [...value.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)].map((found) => found[1].trim())
    return isPathField.test(key) && value.length < 4096 && !value.includes('\n') ? [value, ...patched] : patched
  }
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([name, inner]) => named(inner, Array.isArray(value) ? key : name))
}

function handle(event) {
  const tool = event.toolName || ''
  const input = event.toolInput || {}
  const isShell = tool === 'Bash'
  const isTouched = isShell
    ? commandTouches(String(input.command || ''))
    : !readsOnly.test(tool) && named(input, '').some((path) => touches(path, /delete|move|rename|remove/i.test(tool)))
  if (!isTouched) return { decision: 'allow' }
  return { decision: 'block', reason: 'the files of Hookhelm and the hook settings of agents are only for people to change' }
}
`
