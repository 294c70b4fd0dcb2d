import { expect, test } from 'vitest'
import { openclawAdapter } from '../../src/agents/openclaw/adapter.ts'
import { openclawHost } from '../../src/agents/openclaw/host.ts'
import { opencodeAdapter } from '../../src/agents/opencode/adapter.ts'
import { opencodeHost } from '../../src/agents/opencode/host.ts'

const openclawFiles = openclawHost.pluginFiles
const opencodeFiles = opencodeHost.pluginFiles

const settings = {
  agent: 'opencode',
  version: '1.2.3',
  socket: "/home/o'brien/$& `x`/gateway.sock",
  spool: '/spool */',
  within: 55_000,
  failOpen: false,
}

test('a plugin is one file that imports nothing but Node, and has its settings in one line', () => {
  for (const files of [opencodeFiles, openclawFiles]) {
    const text = files(settings).at(-1)?.text ?? ''
    expect(text.match(/^import .*$/gm)).toEqual([
      "import fs from 'node:fs'",
      "import net from 'node:net'",
      "import path from 'node:path'",
    ])
    expect(text.match(/^export .*$/gm)).toHaveLength(1)
    const line = text.split('\n').filter((each) => each.includes('hookhelm:settings'))
    expect(line).toHaveLength(1)
    expect(JSON.parse(line[0]?.split('/* hookhelm:settings */ ')[1] ?? '')).toEqual(settings)
  }
})

test('the same settings make the same files', () => {
  expect(openclawFiles(settings)).toEqual(openclawFiles({ ...settings }))
  expect(opencodeFiles(settings).map(({ path }) => path)).toEqual(['hookhelm.js'])
})

test('OpenClaw finds the plugin by its manifest', () => {
  const [about, manifest, index] = openclawFiles(settings)
  expect(JSON.parse(about?.text ?? '')).toMatchObject({
    version: '1.2.3',
    openclaw: { extensions: [`./${index?.path}`] },
  })
  expect(JSON.parse(manifest?.text ?? '')).toMatchObject({ id: 'hookhelm' })
})

test('what a plugin tells is what the adapter knows', () => {
  const quoted = (text: string) =>
    new Set([...text.matchAll(/'([a-z]+[._][a-z._]+)'/g)].map(([, name]) => name))
  const told = quoted(openclawFiles(settings)[2]?.text ?? '')
  for (const name of Object.keys(openclawAdapter.events)) expect(told).toContain(name)
  const heard = quoted(opencodeFiles(settings)[0]?.text ?? '')
  for (const name of Object.keys(opencodeAdapter.events)) expect(heard).toContain(name)
})
