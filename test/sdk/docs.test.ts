import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { fakeOpenAi } from './fake-openai.fixture.ts'

const page = readFileSync('docs/sdk.md', 'utf8')
const run = promisify(execFile)

const doors = {
  "'hookhelm'": 'src/index.ts',
  "'hookhelm/ai-sdk'": 'src/sdk/ai-sdk.ts',
  "'hookhelm/langchain'": 'src/sdk/langchain.ts',
  "'hookhelm/openai-agents'": 'src/sdk/openai-agents.ts',
}

/** The program of the page, with the sources for the package and, where no provider is here, a small model. */
function programOf(name: string): string {
  const [, code = ''] = new RegExp(`^\`\`\`ts\\n// ${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? []
  const here = Object.entries(doors).reduce(
    (text, [door, path]) => text.replaceAll(`from ${door}`, `from ${JSON.stringify(resolve(path))}`),
    code,
  )
  const model = `new (await import(${JSON.stringify(resolve('test/sdk/chat-model.fixture.ts'))})).HttpChatModel(process.env.OPENAI_BASE_URL)`
  return here.replace("'openai:gpt-5'", model)
}

test.each(['ai-sdk.ts', 'langchain.ts', 'openai-agents.ts'])(
  '%s of docs/sdk.md runs and blocks',
  async (name) => {
    const server = await fakeOpenAi(
      { calls: [{ tool: 'deploy', input: { command: 'prod' } }] },
      { text: 'It is closed.' },
    )
    const folder = mkdtempSync(join(tmpdir(), 'hookhelm-docs-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, name), programOf(name))
    const env = {
      PATH: process.env.PATH,
      OPENAI_BASE_URL: server.url,
      OPENAI_API_KEY: 'x',
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    }
    const { stdout } = await run(process.execPath, [join(folder, name)], { env })
    expect(stdout).toBe('It is closed.\n')
    expect(server.requests).toHaveLength(2)
    expect(JSON.stringify(server.requests[1])).toContain('production is closed today')
    expect(JSON.stringify(server.requests[1])).not.toContain('deployed to')
  },
)
