import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { block } from '../src/engine/core/decision.ts'
import { createHooks } from '../src/engine/dispatch/hooks.ts'
import { analyzeShell } from '../src/shell/index.ts'
import { readCaseGroups, readHoldout, readRounds } from '../test/shell/read-cases.ts'
import type { Figure } from './figure.ts'

/** Whether a guard stops a line: it blocks it, or asks because it cannot know. */
type Guard = (line: string) => boolean | Promise<boolean>

const files: Readonly<Record<string, string>> = {
  '/app/script.sh': 'rm -rf x\n',
  '/app/venv/bin/activate': 'export A=1\n',
  '/app/.venv/bin/activate': 'export A=1\n',
  '/home/u/.nvm/nvm.sh': 'export A=1\n',
}

/** A hook with `Bash(rm -rf*)`, as a user writes it. */
function hookGuard(opaque: 'allow' | 'ask'): Guard {
  const hooks = createHooks({
    shell: (line, given) =>
      analyzeShell(line, { home: '/home/u', readFile: (path) => files[path], ...given }),
  })
  hooks.on('pre_tool_use', { matcher: 'Bash(rm -rf*)', opaque }, () => block('no deletions'))
  return async (command) => {
    const call = { tool_name: 'Bash', tool_input: { command } }
    return (await hooks.dispatch('pre_tool_use', call, { cwd: '/app' })).kind !== 'allow'
  }
}

/** Eight rules as people write them for coding agents. */
const denyRules: readonly RegExp[] = [
  /^\s*(sudo\s+)?rm\s+(-\w*r\w*f|-\w*f\w*r|-r\s+-f|-f\s+-r|--recursive\s+--force)/,
  /[;&|]\s*(sudo\s+)?rm\s+-\w*[rf]/,
  /\b(ba|z|da)?sh\s+-\w*c\s+['"]?.*\brm\b/,
  /(curl|wget)[^|]*\|\s*(sudo\s+)?(ba|z)?sh\b/,
  /\bxargs\s+(-\S+\s+)*(sudo\s+)?rm\b/,
  /\bfind\b.*(-delete|-exec\s+rm)\b/,
  /\beval\b/,
  /base64\s+(-d|--decode)[^|]*\|\s*(ba|z)?sh/,
]

/** Prefixes as the settings of coding agents list them; a line is split where agents split it. */
const denyPrefixes = ['rm -rf', 'rm -fr', 'rm -r', 'sudo', 'chmod 777', 'dd', 'mkfs', 'curl', 'wget', 'ssh']
const hasDeniedPrefix: Guard = (line) =>
  line
    .split(/&&|\|\||[;|\n]/)
    .some((part) => denyPrefixes.some((prefix) => `${part.trim()} `.startsWith(`${prefix} `)))

/** Counts for each guard: lines that it lets through although it must not, and lines that it stops although it must not. */
export async function scoreboardFigures(): Promise<Figure[]> {
  const corpus = readCorpus()
  const guards: Readonly<Record<string, Guard>> = {
    'Bash(rm -rf*), opaque: ask': hookGuard('ask'),
    'Bash(rm -rf*), opaque: allow': hookGuard('allow'),
    'a regular expression': (line) => /\brm\s+-rf\b/.test(line),
    'eight deny rules': (line) => denyRules.some((rule) => rule.test(line)),
    'a list of denied prefixes': hasDeniedPrefix,
    ...governanceToolkit(),
  }
  const figures = Object.entries(guards).map(async ([name, stops], index) => {
    const count = async (lines: readonly string[], wanted: boolean) =>
      (await Promise.all(lines.map(stops))).filter((stopped) => stopped === wanted).length
    const missed = await count(corpus.deletions, false)
    const unseen = await count(corpus.hidden, false)
    const stopped = await count(corpus.ordinary, true)
    const isOurs = index === 0
    return [
      {
        name: `${name}: bypasses`,
        value: missed,
        unit: 'rows',
        goal: isOurs ? corpus.gaps : corpus.deletions.length,
        better: 'at most',
        detail: `of ${corpus.deletions.length} spellings of one deletion; ${unseen} of ${corpus.hidden.length} hidden lines`,
      },
      {
        name: `${name}: false blocks`,
        value: stopped,
        unit: 'rows',
        goal: isOurs ? corpus.marked : corpus.ordinary.length,
        better: 'at most',
        detail: `of ${corpus.ordinary.length} ordinary lines`,
      },
    ] as const satisfies readonly Figure[]
  })
  return (await Promise.all(figures)).flat()
}

function readCorpus() {
  const linesOf = (name: Parameters<typeof readCaseGroups>[0]) =>
    readCaseGroups(name).flatMap(({ lines }) => lines)
  const heldOut = (expect: string) =>
    [...readHoldout(), ...readRounds()].flatMap((group) => (group.expect === expect ? group.lines : []))
  const gaps = readRounds().flatMap(({ gap, expect, lines }) => (gap && expect === 'deletion' ? lines : []))
  const marked = heldOut('marked')
  return {
    /** The deletions that the analyser is known to miss. */
    gaps: gaps.length,
    /** The ordinary lines with a mark that has a reason; `perl -ne` is another one. */
    marked: marked.length + 1,
    deletions: [...linesOf('deletions'), ...heldOut('deletion')],
    hidden: [...linesOf('hidden'), ...heldOut('hidden')],
    // A deletion that developers type is stopped by every guard, so it is no false block.
    ordinary: [...linesOf('harmless'), ...linesOf('ordinary'), ...heldOut('ordinary'), ...marked].filter(
      (line) => !/^rm -rf/.test(line),
    ),
  }
}

const TOOLKIT = '@microsoft/agent-governance-sdk@4.0.0'

/** Its conditions compare whole values, so the rule names the command as it is usually written. */
function governanceToolkit(): Readonly<Record<string, Guard>> {
  const folder = join(import.meta.dirname, '../node_modules/.cache/hookhelm/governance-toolkit')
  if (!existsSync(join(folder, 'node_modules'))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
    spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', TOOLKIT], { cwd: folder })
  }
  try {
    const { PolicyEngine } = createRequire(join(folder, 'main.js'))('@microsoft/agent-governance-sdk')
    const engine = new PolicyEngine()
    const rule = {
      name: 'no-rm',
      condition: "command == 'rm -rf x'",
      action: 'deny',
      enabled: true,
      priority: 1,
    }
    engine.loadPolicy({
      ...{ apiVersion: 'v1', name: 'no-deletions', scope: 'global', enabled: true },
      default_action: 'allow',
      rules: [rule],
    })
    return {
      'Agent Governance Toolkit 4.0.0': (command) =>
        engine.evaluatePolicy('did:a', { command }).allowed === false,
    }
  } catch {
    console.error(`${TOOLKIT} cannot be installed here, so it is not compared`)
    return {}
  }
}
