/** `npm run build:ui`: the web app in ui/dist. With `--if-missing` only when there is none. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ui = join(import.meta.dirname, '..', 'ui')
if (!process.argv.includes('--if-missing') || !existsSync(join(ui, 'dist', 'index.html'))) {
  console.error('Building the web app (once, some seconds) …')
  const { status } = spawnSync('vite', ['build', '--logLevel', 'warn'], {
    cwd: ui,
    // A test runner sets NODE_ENV, and vite would build the slow development version of React.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  })
  process.exitCode = status ?? 1
}
