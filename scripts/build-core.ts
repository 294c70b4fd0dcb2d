/** Part of `npm run build`: `@hookhelm/core` in packages/core, the engine and its doors without gateway, store and handlers. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleSource } from './build/bundle.ts'
import { writeDeclarations } from './build/declarations.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'packages', 'core')
const outdir = join(folder, 'dist')
const doors = {
  '.': 'core',
  './shell': 'shell/index',
  './openclaw': 'openclaw/index',
  './testing': 'testing/index',
}
const entries = Object.values(doors).map((door) => `${door}.ts`)
/** Loaded by their paths when they are needed. */
const loadedByPath = [
  'engine/dispatch/watchdog.ts',
  'engine/match/cel/condition.ts',
  'engine/match/effects/command-condition.ts',
  'engine/match/effects/effect-pattern.ts',
  'engine/match/effects/except-effects.ts',
]

rmSync(folder, { recursive: true, force: true })
mkdirSync(outdir, { recursive: true })
await bundleSource({ entries: [...entries, ...loadedByPath], outdir, external: [] })
writeDeclarations({ doors: entries, outdir })
writeManifest()
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
writeFileSync(
  join(folder, 'README.md'),
  `# @hookhelm/core

The hook engine of [Hookhelm](https://www.npmjs.com/package/hookhelm) for programs that run hooks in their own process: the doors
\`hookhelm\`, \`hookhelm/openclaw\` and \`hookhelm/testing\` under the names \`@hookhelm/core\`, \`@hookhelm/core/openclaw\` and
\`@hookhelm/core/testing\`, built from the same source, without dependencies.

\`\`\`ts
import { block, createHooks } from '@hookhelm/core'

const hooks = createHooks()
hooks.on('pre_tool_use', { matcher: 'Bash(rm -rf*)' }, () => block('rm -rf is not allowed'))
\`\`\`
`,
)

function writeManifest(): void {
  const { version, license, type, sideEffects, engines, keywords } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const exports = Object.fromEntries(
    Object.entries(doors).map(([name, door]) => [
      name,
      { types: `./dist/${door}.d.ts`, default: `./dist/${door}.js` },
    ]),
  )
  const manifest = {
    name: '@hookhelm/core',
    version,
    description: 'The hook engine of Hookhelm, for programs that run hooks in their own process.',
    keywords,
    license,
    type,
    sideEffects,
    engines,
    files: ['dist'],
    exports: { ...exports, './package.json': './package.json' },
    publishConfig: { access: 'public' },
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
