import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** An empty project with a `hookhelm` in its node_modules that is the packed package, and nothing but its dependencies. */
export interface InstalledProject {
  readonly folder: string
  readonly package: string
  node(args: readonly string[], stdin?: string): { code: number | null; stdout: string; stderr: string }
}

/** Builds both packages; packing needs what they build. */
export function buildPackages(): void {
  for (const script of ['build.ts', 'build-core.ts'])
    execFileSync(process.execPath, [join(root, 'scripts', script)], { cwd: root, stdio: 'pipe' })
}

/** Unpacks `hookhelm` and links its dependencies from the checkout, so that no registry is needed. */
export function installHookhelm(): InstalledProject {
  const project = emptyProject()
  const installed = join(project.folder, 'node_modules', 'hookhelm')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', pack(root, project.folder), '-C', installed, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    const link = join(project.folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
  return { ...project, package: installed }
}

/** `@hookhelm/core` has no dependencies, so npm itself can install it without a registry. */
export function installCore(): InstalledProject {
  const project = emptyProject()
  const tarball = pack(join(root, 'packages', 'core'), project.folder)
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], {
    cwd: project.folder,
    stdio: 'pipe',
  })
  return { ...project, package: join(project.folder, 'node_modules', '@hookhelm', 'core') }
}

function pack(folder: string, destination: string): string {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', destination]
  const [{ filename }] = JSON.parse(
    execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
  )
  return join(destination, filename)
}

function emptyProject(): Omit<InstalledProject, 'package'> {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-installed-'))
  execFileSync('npm', ['init', '--yes'], { cwd: folder, stdio: 'pipe' })
  mkdirSync(join(folder, '.git'))
  const env = { PATH: process.env.PATH, HOME: folder, HOOKHELM_HOME: join(folder, 'own'), NO_COLOR: '1' }
  return {
    folder,
    node(args, stdin = '') {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: folder,
        env,
        input: stdin,
        encoding: 'utf8',
      })
      return { code: status, stdout, stderr }
    },
  }
}
