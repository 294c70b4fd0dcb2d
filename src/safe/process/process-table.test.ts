import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { agentProcess } from './process-table.ts'

/** Starts `sleep` below shells, and answers its process id. */
function below(shells: number): Promise<number> {
  // `; :` keeps a shell from becoming the command.
  const line = shells === 1 ? 'sleep 60 & echo $!; wait; :' : 'sh -c "sleep 60 & echo \\$!; wait; :"; :'
  const child = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'], detached: true })
  onTestFinished(() => void process.kill(-(child.pid ?? 0), 'SIGKILL'))
  return new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(Number(String(chunk)))))
}

const isLinux = process.platform === 'linux'

test.runIf(isLinux)('a hook client works for the first process above it that is no shell', async () => {
  const own = agentProcess(process.pid, false)
  expect(own).toMatch(new RegExp(`^${process.pid}/\\d+$`))
  for (const shells of [1, 2]) expect(agentProcess(await below(shells), true)).toBe(own)
})

test.runIf(isLinux)(
  'a program that stays is a process of its own, and an id that no process has is none',
  async () => {
    const client = await below(1)
    expect(agentProcess(client, false)).toMatch(new RegExp(`^${client}/\\d+$`))
    for (const none of [0, -1, 1.5, Number.NaN, 4_194_305]) expect(agentProcess(none, true)).toBeUndefined()
  },
)
