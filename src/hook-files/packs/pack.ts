import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HookError } from '../../engine/core/errors/error.ts'
import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { nearest } from '../../engine/core/values/nearest.ts'
import type { HookDefinition } from '../../engine/hook-definition.ts'
import { formatProblem } from '../file-problem.ts'
import { dataFolder, type FindOptions, findHookFolders, trustFile } from '../hook-folders.ts'
import { readHookText } from '../read/read-hook-file.ts'

/** Where packs are, seen from src/hook-files/packs and from dist/config/packs. */
const folder = fileURLToPath(new URL('../../../packs', import.meta.url))

/** The packs that `hookhelm init` and the web app offer first. */
export const recommendedPacks: readonly string[] = [
  'destructive-commands',
  'force-push',
  'secrets',
  'protect-hooks',
]

type Environment = NonNullable<FindOptions['env']>

/** A starter pack: a hook file that comes with Hookhelm. Its hooks have ids that begin with its name. */
export interface Pack {
  readonly name: string
  /** One sentence. */
  readonly about: string
  readonly isRecommended: boolean
  /** The hook file, with the folders of this user filled in. */
  readonly text: string
  readonly hooks: readonly PackHook[]
}

export type PackHook = HookDefinition & Required<Pick<HookDefinition, 'id'>>

/** How a pack is added. */
export interface PackSwitch {
  /** What its hooks answer, in place of what the pack says. Hooks that redact something have no answer. */
  readonly decision?: 'ask' | 'block' | undefined
  /** Its hooks are recorded and change nothing. */
  readonly shadow?: boolean | undefined
}

/** The names of all packs. */
export function packNames(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => basename(file, '.yaml'))
    .toSorted()
}

/** A pack by its name; throws if there is none. */
export function findPack(name: string, chosen: PackSwitch = {}, env: Environment = process.env): Pack {
  const names = packNames()
  if (!names.includes(name)) {
    const near = nearest(name, names)
    throw handlerError('config.unknown_pack', `there is no pack ${name.slice(0, 80)}`, {
      hint: near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`,
    })
  }
  const shipped = readFileSync(join(folder, `${name}.yaml`), 'utf8')
  const text = applySwitch(fillFolders(shipped, env), chosen)
  const read = readHookText(text, `${name}.yaml`)
  if (read.kind === 'bad') throw new HookError('config.field', read.problems.map(formatProblem).join('\n'))
  return {
    name,
    about: /^# (.*)/.exec(text)?.[1] ?? '',
    isRecommended: recommendedPacks.includes(name),
    text,
    hooks: read.file.hooks.map((hook) => ({ ...hook, id: hook.id ?? name })),
  }
}

export function listPacks(env: Environment = process.env): Pack[] {
  return packNames().map((name) => findPack(name, {}, env))
}

/** Whether a hook with this id belongs to a pack. */
export function isOfPack(id: string | undefined, name: string): boolean {
  return id?.startsWith(`${name}/`) === true
}

/** The tag of every hook of a pack. */
export function packTag(name: string): string {
  return `pack:${name}`
}

const FOLDER = '$HOOKHELM_FOLDER'

/** Repeats each line with `$HOOKHELM_FOLDER` for every folder of Hookhelm that is not at its usual place. */
function fillFolders(text: string, env: Environment): string {
  if (!text.includes(FOLDER)) return text
  const folders = unusualFolders(env).map((path) => path.replace(/[\\'"]/g, '\\$&'))
  return text
    .split('\n')
    .flatMap((line) =>
      line.includes(FOLDER) ? folders.map((path) => line.replaceAll(FOLDER, () => path)) : [line],
    )
    .join('\n')
}

/** The folders with hooks, trust and data of this user that environment variables moved elsewhere. */
function unusualFolders(env: Environment): string[] {
  const foldersIn = (from: Environment) => [
    ...findHookFolders({ cwd: '/', env: from }).flatMap(({ level, folder: path }) =>
      level === 'repository' ? [] : [path],
    ),
    dataFolder(from),
    join(trustFile(from), '..'),
  ]
  const usual = foldersIn(env.HOME === undefined ? {} : { HOME: env.HOME })
  return [...new Set(foldersIn(env))].filter((path) => !usual.includes(path))
}

/** The text of a pack with other answers, or in shadow. Each is one word of the file, so that people can change it too. */
function applySwitch(text: string, { decision, shadow }: PackSwitch): string {
  const answered =
    decision === undefined
      ? text
      : text.replace(/^( +decision: |.*\bvar decision = ')(?:block|ask)\b/gm, `$1${decision}`)
  return shadow ? answered.replace(/^( {4})event: .*$/gm, '$&\n$1shadow: true') : answered
}
