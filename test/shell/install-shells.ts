import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** The shells that the differential test compares with. */
export const shells = [
  { name: 'bash', path: '/bin/bash', dialect: 'bash' },
  { name: 'dash', path: '/bin/dash', dialect: 'sh' },
  { name: 'zsh', path: '/bin/zsh', dialect: 'zsh' },
] as const

export type TestShell = (typeof shells)[number]

/** Installs the shells that are missing if this process is root. */
export function installShells(): void {
  const missing = shells.filter(({ path }) => !existsSync(path)).map(({ name }) => name)
  if (missing.length === 0 || process.getuid?.() !== 0) return
  execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' })
  execFileSync('apt-get', ['install', '-y', '-qq', ...missing], { stdio: ['ignore', 'ignore', 'inherit'] })
}
