import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

interface DeclarationOptions {
  /** Files below `src` that a package exports. */
  readonly doors: readonly string[]
  readonly outdir: string
}

/** Writes the declarations of the doors and of every module that their types mention, and no others. */
export function writeDeclarations({ doors, outdir }: DeclarationOptions): void {
  const config = join(outdir, 'tsconfig.json')
  const files = doors.map((door) => join(root, 'src', door))
  const compilerOptions = { rootDir: join(root, 'src'), outDir: outdir }
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, 'tsconfig.build.json'), compilerOptions, files }),
  )
  try {
    execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', config], { stdio: 'inherit' })
  } finally {
    rmSync(config)
  }
  const used = new Set<string>()
  for (const door of doors) collect(join(outdir, door.replace(/\.ts$/, '.d.ts')), used)
  for (const path of globSync('**/*.d.ts', { cwd: outdir }))
    if (!used.has(join(outdir, path))) rmSync(join(outdir, path))
}

function collect(path: string, used: Set<string>): void {
  if (used.has(path)) return
  used.add(path)
  const text = readFileSync(path, 'utf8')
  for (const [, specifier = ''] of text.matchAll(/(?:from |import\(|import )["'](\.[^"']+)["']/g))
    collect(resolve(dirname(path), specifier.replace(/\.[jt]s$/, '.d.ts')), used)
}
