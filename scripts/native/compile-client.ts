/** How native/hookhelm-hook.c becomes a program. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Flavour = 'bare' | 'static' | 'dynamic' | 'sanitized'

const root = join(import.meta.dirname, '..', '..')
const source = join(root, 'native', 'hookhelm-hook.c')
const noLibc = join(root, 'native', 'no-libc.c')
const warnings = ['-Wall', '-Wextra', '-Wshadow', '-Werror']
const linux = process.platform === 'linux'
const hardened = ['-fstack-protector-strong', ...(linux ? ['-Wl,-z,noexecstack', '-Wl,-z,relro,-z,now'] : [])]

const flags: Readonly<Record<Flavour, readonly string[]>> = {
  // Without a C library, which is what starting takes the longest for.
  bare: [
    ...['-std=gnu11', '-Os', '-ffreestanding', '-nostdlib', '-static-pie', '-fPIE', '-fvisibility=hidden'],
    ...['-fno-asynchronous-unwind-tables', '-Wl,--build-id=none', '-s', '-mstack-protector-guard=global'],
    ...hardened,
    noLibc,
  ],
  static: ['-std=c11', '-Os', '-static', '-s', ...hardened],
  dynamic: ['-std=c11', '-Os', '-fPIE', ...(linux ? ['-pie', '-s'] : []), ...hardened],
  sanitized: ['-std=c11', '-O1', '-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=all'],
}

/** The first compiler that answers. */
export function findCompiler(): string | undefined {
  const { CC } = process.env
  return [CC, 'cc', 'gcc', 'clang'].find((name) => name !== undefined && name !== '' && answers(name))
}

export function version(): string {
  return String(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version)
}

/** Builds it in that flavour and sees that it starts. Throws with what the compiler said. */
export function compileClient(compiler: string, flavour: Flavour, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  // Somebody may be starting the one that is there.
  const fresh = `${to}.${process.pid}`
  const given = [...flags[flavour], ...warnings, `-DHOOKHELM_VERSION="${version()}"`]
  execFileSync(compiler, ['-o', fresh, source, ...given], { stdio: ['ignore', 'ignore', 'pipe'] })
  const said = execFileSync(fresh, ['--version'], { encoding: 'utf8' })
  if (said !== `hookhelm-hook ${version()}\n`) throw new Error(`the ${flavour} client does not start`)
  renameSync(fresh, to)
}

/** The flavours worth trying here, the one that starts quickest first. */
export function bestFlavours(): Flavour[] {
  const bare: Flavour[] = linux && process.arch === 'x64' ? ['bare'] : []
  return [...bare, ...(linux ? (['static'] as const) : []), 'dynamic']
}

/** Builds the best that works here. Answers which, and what did not work. */
export function compileBest(compiler: string, to: string): { flavour: Flavour; notes: string[] } {
  const notes: string[] = []
  for (const flavour of bestFlavours()) {
    try {
      compileClient(compiler, flavour, to)
      return { flavour, notes }
    } catch (error) {
      notes.push(`not ${flavour}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  throw new Error(notes.join('\n'))
}

function answers(compiler: string): boolean {
  try {
    execFileSync(compiler, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
