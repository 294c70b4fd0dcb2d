import { execFileSync } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Prepares what the browser tests need, once for all workers: the built web app, and Chromium. */
export function setup(): void {
  const paths = process.argv.slice(2).filter((word) => word !== 'run' && !word.startsWith('-'))
  const isWanted = paths.length === 0 || paths.some((path) => path.includes('ui'))
  if (!isWanted) return
  if (isStale()) execFileSync(process.execPath, ['scripts/build-ui.ts'], { cwd: root, stdio: 'inherit' })
  if (!existsSync('/usr/bin/chromium') && process.getuid?.() === 0) {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' })
    execFileSync('apt-get', ['install', '-y', '-qq', 'chromium'], { stdio: ['ignore', 'ignore', 'inherit'] })
  }
}

/** Whether a source file of the web app is newer than its build. */
function isStale(): boolean {
  const built = join(root, 'ui/dist/index.html')
  if (!existsSync(built)) return true
  const builtAt = statSync(built).mtimeMs
  return globSync('ui/{src/**/*,index.html,vite.config.ts,package.json}', { cwd: root }).some(
    (file) => statSync(join(root, file)).mtimeMs > builtAt,
  )
}
