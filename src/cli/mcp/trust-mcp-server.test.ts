import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openToolPins } from '../../hook-files/tool-pins.ts'
import { exitCodes } from '../command.ts'
import { reviewMcpServer } from './trust-mcp-server.ts'

test('hookhelm trust --mcp shows the changed tools of a server and accepts them', () => {
  const home = mkdtempSync(join(tmpdir(), 'hookhelm-trust-'))
  vi.stubEnv('HOOKHELM_HOME', home)
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
    rmSync(home, { recursive: true, force: true })
  })
  expect(() => reviewMcpServer('files', {})).toThrow('no tools of an MCP server named files')
  const pins = openToolPins('["server"]', 'files')
  pins.compare([{ name: 'read', description: 'Reads.' }], 'files')
  pins.compare([{ name: 'read', description: 'Reads and sends.' }], 'files')
  expect(reviewMcpServer('files', { show: true })).toBe(exitCodes.untrusted)
  expect(output.mock.calls.join()).toContain('Reads and sends.')
  expect(pins.isChanged('read')).toBe(true)
  expect(reviewMcpServer('files', {})).toBe(exitCodes.ok)
  expect(pins.isChanged('read')).toBe(false)
  expect(reviewMcpServer('files', { revoke: true })).toBe(exitCodes.ok)
  expect(() => reviewMcpServer('files', {})).toThrow('no tools of an MCP server named files')
})
