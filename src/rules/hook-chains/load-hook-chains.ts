import { readFileSync, type Stats, statSync } from 'node:fs'
import { errorText } from '../../engine/core/errors/error.ts'
import type { Log } from '../../engine/core/records/sink.ts'
import { readSchema } from '../../engine/core/schema/schema.ts'
import { type Clock, systemClock } from '../../engine/core/time/clock.ts'
import { parseJson } from '../../safe/json.ts'
import { compileRules, type RuleSet } from '../compile-rules.ts'
import { type Environment, hookChainsPath, isHookChainsEnabled } from '../files/rule-file-paths.ts'
import {
  completeConfig,
  type HookChainRule,
  type HookChainsConfig,
  hookChainsSchema,
  unwrapHookChains,
} from '../files/rule-schema.ts'

export interface LoadHookChainsOptions {
  /** The file to read, in place of the one that the environment or the working directory names. */
  readonly pathOverride?: string
  /** Reads the file although the cache has it. */
  readonly forceReload?: boolean
}

/** A config and where it comes from. */
export interface LoadedHookChains {
  readonly config: HookChainsConfig
  readonly path: string
  readonly exists: boolean
  readonly fromCache: boolean
  /** Why the file cannot be used. Its config is then switched off and has no rules. */
  readonly error?: string
}

/** A loaded config with its compiled rules. The config is shared; callers must not change it. */
export interface SharedHookChains extends LoadedHookChains {
  readonly ruleSet: RuleSet<HookChainRule>
}

export interface HookChainsLoader {
  load(options?: LoadHookChainsOptions): SharedHookChains
  clear(): void
}

export interface LoaderParts {
  /** The variables that switch hook chains on and name their file; those of the process if omitted. */
  readonly env?: () => Environment
  /** The directory where the host was started; the current one if it throws. */
  readonly originalCwd?: () => string
  readonly clock?: Clock
  readonly log?: Log
}

const MAX_CACHE_AGE_MS = 300_000
const LIMITS = { maxBytes: 16 * 1_048_576, maxDepth: 64, maxKeys: 1_000_000 }

interface CacheEntry {
  readonly loaded: SharedHookChains
  readonly mtimeMs: number
  readonly size: number
  readonly readAt: number
}

export function createHookChainsLoader(parts: LoaderParts = {}): HookChainsLoader {
  const { env = () => process.env, clock = systemClock, log = () => {} } = parts
  let cache: CacheEntry | undefined

  const cached = (path: string, { mtimeMs, size }: Stats): SharedHookChains | undefined => {
    if (cache === undefined || cache.loaded.path !== path) return undefined
    const isSame = cache.mtimeMs === mtimeMs && cache.size === size
    return isSame && clock.elapsed() - cache.readAt <= MAX_CACHE_AGE_MS ? cache.loaded : undefined
  }

  return {
    load({ pathOverride, forceReload = false } = {}) {
      const variables = env()
      const path = hookChainsPath(variables, originalCwd(parts), pathOverride)
      if (!isHookChainsEnabled(variables)) return withoutConfig(path, false)
      const stats = statFile(path, log)
      if (stats === undefined) {
        if (cache?.loaded.path === path) cache = undefined
        return withoutConfig(path, false)
      }
      const known = forceReload ? undefined : cached(path, stats)
      if (known !== undefined) return { ...known, fromCache: true }
      const loaded = readFile(path)
      if (loaded.error === undefined) {
        const { mtimeMs, size } = stats
        cache = { loaded, mtimeMs, size, readAt: clock.elapsed() }
      }
      return loaded
    },
    clear() {
      cache = undefined
    },
  }
}

function originalCwd({ originalCwd: find }: LoaderParts): string {
  try {
    return find?.() ?? process.cwd()
  } catch {
    return process.cwd()
  }
}

function statFile(path: string, log: Log): Stats | undefined {
  try {
    return statSync(path)
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
    if (!isMissing)
      log('debug', { text: `[hook-chains] Failed to stat config at ${path}: ${errorText(thrown)}` })
    return undefined
  }
}

function readFile(path: string): SharedHookChains {
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (thrown) {
    return withoutConfig(path, true, `Failed to read hook chain config file: ${errorText(thrown)}`)
  }
  const parsed = parseContent(content)
  if (!parsed) return withoutConfig(path, true, 'Invalid JSON in hook chain config file.')
  const { value, problems } = readSchema(hookChainsSchema, unwrapHookChains(parsed).value)
  if (problems.length > 0) return withoutConfig(path, true, problems.map(({ message }) => message).join('; '))
  const config = completeConfig(value)
  return { config, path, exists: true, fromCache: false, ruleSet: compileRules(config.rules) }
}

function parseContent(content: string): unknown {
  try {
    return parseJson(content, LIMITS)
  } catch {
    return undefined
  }
}

function withoutConfig(path: string, exists: boolean, error?: string): SharedHookChains {
  const config = { ...completeConfig<HookChainRule>({}), enabled: false }
  const loaded = { config, path, exists, fromCache: false, ruleSet: compileRules<HookChainRule>([]) }
  return error === undefined ? loaded : { ...loaded, error }
}
