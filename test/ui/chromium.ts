import { execFileSync } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const root = join(import.meta.dirname, '../..')
/** The shell has no browser around the page, and needs a quarter of the time. */
const HEADLESS_SHELL = '/usr/bin/chromium-headless-shell'
const executablePath = () =>
  process.env.CHROMIUM ?? (existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : '/usr/bin/chromium')

/** Builds the web app if its build is stale. Installs Chromium if it is missing and this process is root. */
export function prepareChromium(): void {
  if (isBuildStale()) execFileSync(process.execPath, ['scripts/build-ui.ts'], { cwd: root, stdio: 'inherit' })
  if (!existsSync(executablePath()) && process.getuid?.() === 0) {
    execFileSync('apt-get', ['update', '-qq'], { stdio: 'inherit' })
    execFileSync('apt-get', ['install', '-y', '-qq', 'chromium-headless-shell'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }
}

export function launchChromium(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  return chromium.launch({ executablePath: executablePath(), args })
}

/** Whether a source file of the web app is newer than its build. */
function isBuildStale(): boolean {
  const built = join(root, 'ui/dist/index.html')
  if (!existsSync(built)) return true
  const builtAt = statSync(built).mtimeMs
  return globSync('ui/{src/**/*,index.html,vite.config.ts,package.json}', { cwd: root }).some(
    (file) => statSync(join(root, file)).mtimeMs > builtAt,
  )
}
