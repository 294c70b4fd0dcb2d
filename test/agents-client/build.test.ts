import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bestFlavours, compileClient, findCompiler } from '../../scripts/native/compile-client.ts'
import { run } from './clients.fixture.ts'
import { args, replyLine, saying } from './fake-gateway.fixture.ts'

const compiler = findCompiler()

test.runIf(compiler).each(bestFlavours())(
  'the %s client compiles without a warning, is small and works',
  async (flavour) => {
    const folder = mkdtempSync(join(tmpdir(), 'hookhelm-build-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'hookhelm-hook')
    compileClient(compiler ?? '', flavour, path)
    expect(statSync(path).size).toBeLessThan(flavour === 'static' ? 1_000_000 : 50_000)
    const client = { name: flavour, isNative: true, command: [path] }
    const { socket } = await saying(replyLine({ exit: 5, stdout: 'ä' }))
    expect(await run(client, args(socket), `{"a":"${'x'.repeat(100_000)}"}`)).toMatchObject({
      code: 5,
      stdout: 'ä',
    })
    expect(await run(client, args('/nowhere'))).toMatchObject({ code: 2, stdout: '' })
  },
)
