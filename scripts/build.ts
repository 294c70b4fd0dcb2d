/** `npm run build`: the bundles and declarations of `hookhelm` in dist. */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { bundleSource } from './build/bundle.ts'
import { writeDeclarations } from './build/declarations.ts'

const root = join(import.meta.dirname, '..')
const outdir = join(root, 'dist')

/** Files that run in a thread or process of their own, or that are loaded by their path. */
const workers = [
  'engine/dispatch/watchdog.ts',
  'engine/match/cel/condition.ts',
  'engine/match/effects/command-condition.ts',
  'engine/match/effects/effect-pattern.ts',
  'engine/match/effects/except-effects.ts',
  'handlers/script/sandbox-worker.ts',
  'safe/process/helper-main.ts',
  'store/sqlite/store-worker.ts',
]

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

rmSync(outdir, { recursive: true, force: true })
mkdirSync(outdir)
const { bin, exports, dependencies, peerDependencies }: Manifest = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const doors = Object.values(exports).flatMap((door) =>
  typeof door === 'string' ? [] : [sourceOf(door.default)],
)
await bundleSource({
  entries: [...doors, ...Object.values(bin).map(sourceOf), ...workers],
  outdir,
  external: Object.keys({ ...dependencies, ...peerDependencies }),
  group: {
    file: 'cli/local-commands.ts',
    modules: ['dispatch', 'list', 'test', 'trust', 'validate'].map((name) => `./hooks/${name}.ts`),
  },
})
writeDeclarations({ doors, outdir })
for (const path of Object.values(bin)) chmodSync(join(root, path), 0o755)
copyPlainFiles()
cpSync(join(root, 'ui/dist'), join(outdir, 'ui'), { recursive: true })
inlineClientModules()
writeExamples()

function sourceOf(built: string): string {
  return built.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts')
}

/** Coding agents load these files as they are. */
function copyPlainFiles(): void {
  for (const file of globSync('**/*.{cjs,js}', { cwd: join(root, 'src') })) {
    const to = join(outdir, file)
    mkdirSync(dirname(to), { recursive: true })
    copyFileSync(join(root, 'src', file), to)
  }
}

/** The published client is one file: each module that it loads makes it start later. */
function inlineClientModules(): void {
  const client = join(outdir, 'agents/client/hookhelm-hook.cjs')
  const inline = (text: string, name: string) => {
    const module = readFileSync(join(outdir, `agents/client/${name}.cjs`), 'utf8')
    const body = module.replace(/^'use strict'\n|^module\.exports = \{[^}]*\}\n/gm, '')
    const load = new RegExp(`^const \\{[^}]*\\} = require\\('\\./${name}\\.cjs'\\)\\n`, 'm')
    if (!load.test(text)) throw new Error(`${client} does not load ${name}.cjs`)
    return text.replace(load, () => body)
  }
  writeFileSync(client, ['gateway-link', 'caller-watch'].reduce(inline, readFileSync(client, 'utf8')))
}

/** Node runs no TypeScript below node_modules, so the package carries the examples as JavaScript as well. */
function writeExamples(): void {
  mkdirSync(join(outdir, 'examples'))
  for (const file of globSync('*.ts', { cwd: join(root, 'examples') })) {
    const text = readFileSync(join(root, 'examples', file), 'utf8')
      .replace(/^\/\/ In your own program: .*\n/m, '')
      .replaceAll("'../src/index.ts'", "'hookhelm'")
      .replaceAll(/'\.\.\/src\/(\w+)\/index\.ts'/g, "'hookhelm/$1'")
    writeFileSync(join(outdir, 'examples', file.replace(/\.ts$/, '.js')), stripTypeScriptTypes(text))
  }
}
