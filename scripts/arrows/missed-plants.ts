import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { followArrows } from './follow-arrows.ts'

interface Plant {
  readonly rule: string
  readonly file: string
  readonly imports: string
  readonly typeOnly?: true
  readonly andBack?: true
}

/** Violations that must be caught. They are planted in a scratch tree, never in src. */
const plants: readonly Plant[] = [
  { rule: 'arrow: engine', file: 'engine/a.ts', imports: '../openclaw/z.ts' },
  { rule: 'arrow: engine/core', file: 'engine/core/a.ts', imports: '../dispatch/z.ts' },
  { rule: 'arrow: engine/match', file: 'engine/match/a.ts', imports: '../guard/z.ts' },
  { rule: 'arrow: engine/guard', file: 'engine/guard/a.ts', imports: '../events/z.ts', typeOnly: true },
  { rule: 'arrow: engine/events', file: 'engine/events/openclaw/a.ts', imports: '../../match/z.ts' },
  { rule: 'arrow: engine/dispatch', file: 'engine/dispatch/a.ts', imports: '../../handlers/z.ts' },
  { rule: 'arrow: index', file: 'index.ts', imports: './openclaw/z.ts' },
  { rule: 'arrow: openclaw', file: 'openclaw/a.ts', imports: '../engine/dispatch/z.ts' },
  { rule: 'arrow: testing', file: 'testing/a.ts', imports: '../gateway/z.ts' },
  { rule: 'testing knows the store by type', file: 'testing/b.ts', imports: '../store/z.ts' },
  { rule: 'arrow: safe', file: 'safe/a.ts', imports: '../engine/events/z.ts' },
  { rule: 'arrow: handlers', file: 'handlers/a.ts', imports: '../engine/dispatch/z.ts' },
  { rule: 'arrow: sdk', file: 'sdk/a.ts', imports: '../store/z.ts' },
  { rule: 'arrow: deliveries', file: 'deliveries/a.ts', imports: '../hook-files/z.ts' },
  { rule: 'arrow: runs', file: 'runs/a.ts', imports: '../rules/z.ts' },
  { rule: 'type arrow: history', file: 'history/a.ts', imports: '../store/z.ts' },
  { rule: 'arrow: gateway', file: 'gateway/a.ts', imports: '../app/z.ts' },
  { rule: 'arrow: client', file: 'client/a.ts', imports: '../store/z.ts', typeOnly: true },
  { rule: 'type arrow: client', file: 'client/b.ts', imports: '../methods/z.ts' },
  { rule: 'edge: process', file: 'handlers/b.ts', imports: 'node:child_process' },
  { rule: 'edge: outbound', file: 'agents/b.ts', imports: 'node:net' },
  { rule: 'edge: postgres', file: 'history/b.ts', imports: 'pg' },
  { rule: 'edge: all tenants', file: 'store/postgres/b.ts', imports: './system-role.ts' },
  { rule: 'edge: outbound', file: 'gateway/doors/ws/b.ts', imports: 'ws' },
  { rule: 'engine packages', file: 'engine/core/b.ts', imports: 'zod' },
  { rule: 'no test in the product', file: 'rules/a.ts', imports: './z.test.ts' },
  { rule: 'no cycle', file: 'store/a.ts', imports: './z.ts', andBack: true },
]

/** Plants that no rule caught: then the check is blind, and its silence means nothing. */
export async function missedPlants(): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'hookhelm-arrows-'))
  try {
    for (const plant of plants) put(join(root, 'src'), plant)
    const { violations } = await followArrows(root)
    return plants
      .filter(({ rule, file }) => !violations.some((line) => line.startsWith(`[${rule}] src/${file} `)))
      .map(({ rule, file, imports }) => `blind: rule "${rule}" did not see ${file} importing ${imports}`)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function put(src: string, { file, imports, typeOnly, andBack }: Plant): void {
  const path = join(src, file)
  write(path, `import ${typeOnly ? 'type ' : ''}{ z } from '${imports}'\nexport const a: typeof z = 1\n`)
  if (!imports.startsWith('.')) return
  const back = andBack ? `import { a } from './${basename(path)}'\nexport const b = a\n` : ''
  write(join(dirname(path), imports), `${back}export const z = 1\n`)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
