import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

test('bin/hookhelm works from any folder, through a link, whichever Node the machine has', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-checkout-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const link = join(folder, 'hookhelm')
  symlinkSync(join(import.meta.dirname, '../../bin/hookhelm'), link)
  const env = { PATH: '/usr/bin:/bin', HOME: folder }
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(execFileSync(link, ['--version'], { cwd: folder, env, encoding: 'utf8' }).trim()).toBe(version)
})
