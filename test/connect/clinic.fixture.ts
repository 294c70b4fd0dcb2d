import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { running } from '../gateway/running.fixture.ts'
import { type TemporaryHome, temporaryHome } from './home.fixture.ts'

/** A home and a real gateway. The printed commands run as a person would run them. */
export async function clinic() {
  const gateway = await running()
  const home = temporaryHome()
  const main = join(import.meta.dirname, '../../src/cli/main.ts')
  const shim = home.write('bin/hookhelm', `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
  chmodSync(shim, 0o755)
  const env = { HOOKHELM_HOME: gateway.home, HOOKHELM_URL: gateway.url, HOOKHELM_TOKEN: gateway.token }
  const examine = async () => {
    const { code, stdout } = await home.hookhelm(['doctor', '--json'], env)
    const { checks } = JSON.parse(stdout) as { checks: { state: string; text: string; hint?: string }[] }
    const bad = checks.filter(({ state }) => state === 'bad')
    return {
      code,
      bad: bad.map(({ text }) => text.replaceAll(home.folder, '~')),
      commands: [
        ...new Set(bad.map(({ hint = '' }) => /`([^`]+)`/.exec(hint)?.[1] ?? `no command: ${hint}`)),
      ],
    }
  }
  const follow = (commands: readonly string[]) => {
    for (const command of commands) {
      const path = `${home.path('bin')}:${process.env.PATH}`
      const { status, stderr } = spawnSync('/bin/sh', ['-c', command], {
        cwd: home.project,
        env: { ...env, PATH: path, HOME: home.folder, NO_COLOR: '1' },
        encoding: 'utf8',
      })
      expect([command, status, stderr]).toEqual([command, 0, expect.any(String)])
    }
  }
  const connectAgents = async (...args: readonly string[]) => {
    const connected = await home.hookhelm(['connect', ...args], env)
    expect(connected.code).toBe(0)
  }
  return { gateway, home, env, examine, follow, connectAgents }
}

/** Changes the text of a file as somebody might. */
export function spoil(home: TemporaryHome, file: string, change: (text: string) => string): void {
  const before = home.read(file)
  const after = change(before)
  if (after === before) throw new Error('nothing was spoilt')
  home.write(file, after)
}
