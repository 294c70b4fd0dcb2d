import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const { exports, peerDependenciesMeta, dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

test.each([
  ['ai-sdk', ['ai']],
  ['langchain', ['@langchain/core/messages', 'langchain']],
  ['openai-agents', ['@openai/agents']],
  // It is only named in types.
  ['claude-agent-sdk', []],
])('hookhelm/%s loads its own SDK and no other', async (door, packages) => {
  const { metafile } = await build({
    entryPoints: [`src/sdk/${door}.ts`],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const loaded = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect([...new Set(loaded)].filter((path) => !path.startsWith('node:')).toSorted()).toEqual(packages)
  expect(exports[`./${door}`]).toEqual({
    types: `./dist/sdk/${door}.d.ts`,
    default: `./dist/sdk/${door}.js`,
  })
})

test('no SDK is installed that a program does not use', () => {
  const sdks = ['ai', '@langchain/core', 'langchain', '@openai/agents', '@anthropic-ai/claude-agent-sdk']
  for (const name of sdks) {
    expect(peerDependenciesMeta[name]).toEqual({ optional: true })
    expect(dependencies[name]).toBeUndefined()
  }
})
