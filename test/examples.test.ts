import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Lines that must appear, in this order. */
const promised: Readonly<Record<string, readonly string[]>> = {
  'demo.ts': [
    'Bash  ls -la',
    '  decision  allow',
    'Bash  cd /tmp && sudo rm -rf cache',
    '  decision  block by no-rm: rm -rf is never run here',
    '  rewrite   dry-run: npm publish → npm publish --dry-run',
    '  why       no-rm      asked about the new input: block',
    '  decision  block by slow-scan: slow-scan failed (timeout): no answer within 100 ms',
    '  code      handler.timeout',
    '  why       on-trial   would have said block: secrets stay unread',
    'The observer was told of what ran: Bash, Bash, Read.',
  ],
  'own-loop.ts': [
    'read_file: config.ini: token=[redacted]',
    'write_file: refused (block): Write below the workspace only.',
    'deploy: refused (ask): a deploy needs a person',
    'goes on: run the tests before you stop',
    'run_tests: all green',
    'done',
  ],
  'openclaw.ts': [
    'ls: goes ahead',
    'rm -rf /: blocked, not this one',
    'sends: the ****** is out',
    'hooks on agent_end: 1',
    'agent ended, well',
  ],
}

describe('the examples', () => {
  test('are all here', () => {
    expect(
      globSync('examples/*.ts')
        .map((path) => basename(path))
        .sort(),
    ).toEqual(Object.keys(promised).sort())
  })

  test.each(Object.entries(promised))('%s runs and says what it does', (file, lines) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`examples/${file}`], { encoding: 'utf8' })
    const printed = stdout.split('\n')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(printed.filter((line) => lines.includes(line)).filter(onlyOnce)).toEqual(lines)
    // Colours are for terminals.
    expect(stdout).not.toContain('\u001b')
  })
})

function onlyOnce(line: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(line) === index
}
