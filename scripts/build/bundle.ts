import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

const root = join(import.meta.dirname, '..', '..')
const source = join(root, 'src')

interface BundleOptions {
  /** Files below `src`, such as `cli/main.ts`. Each becomes the `.js` file of the same path below `outdir`. */
  readonly entries: readonly string[]
  readonly outdir: string
  /** Packages that are installed with this one. Every other package becomes part of the bundle. */
  readonly external: readonly string[]
  /** Modules that load together, as one file. */
  readonly group?: ModuleGroup
}

/** Linking forty chunks takes longer than most commands run, so modules that share nearly everything become one file. */
interface ModuleGroup {
  /** The file, such as `cli/local-commands.ts`; it need not exist. */
  readonly file: string
  /** Its modules, below its folder, such as `./hooks/list.ts`. They are imported with `import()` only. */
  readonly modules: readonly string[]
}

/** Bundles the entries and splits off the code that they share. */
export async function bundleSource({ entries, outdir, external, group }: BundleOptions): Promise<void> {
  const celFolders = new Set<string>()
  const inputs = await bundleEntries({
    entries,
    outdir,
    external,
    plugins: [...outside(group), sourcePlugin(celFolders)],
  })
  if (group !== undefined) {
    const plugins = [groupPlugin(group), sourcePlugin(celFolders)]
    inputs.push(...(await bundleEntries({ entries: [group.file], outdir, external, plugins })))
  }
  for (const folder of celFolders) inputs.push(...(await bundleCel(join(outdir, folder, 'cel.cjs'))))
  writeLicenses(inputs, join(outdir, 'THIRD-PARTY-LICENSES.txt'))
}

type EntryOptions = Omit<BundleOptions, 'group'> & { readonly plugins: Plugin[] }

async function bundleEntries({ entries, outdir, external, plugins }: EntryOptions): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: entries.map((entry) => join(source, entry)),
    outbase: source,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    external: external.flatMap((name) => [name, `${name}/*`]),
    platform: 'node',
    // jsonc-parser's CommonJS build requires its own files in a way that cannot be bundled.
    mainFields: ['module', 'main'],
    target: 'node24',
    format: 'esm',
    // Identifiers keep their names, so that stack traces stay readable.
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [...plugins, lazyBuiltins],
    metafile: true,
    write: false,
  })
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, placeModulePaths(text, relative(outdir, dirname(path))))
  }
  return Object.keys(metafile.inputs)
}

/** Imports of the group's modules lead to its file. */
function outside(group: ModuleGroup | undefined): Plugin[] {
  if (group === undefined) return []
  const path = `./${basename(group.file).replace(/\.ts$/, '.js')}`
  const setup: Plugin['setup'] = ({ onResolve }) =>
    onResolve({ filter: /^\.\// }, ({ path: module, kind, resolveDir }) => {
      const isMember = kind === 'dynamic-import' && group.modules.includes(module)
      return isMember && resolveDir === join(source, dirname(group.file))
        ? { path, external: true }
        : undefined
    })
  return [{ name: 'outside-group', setup }]
}

function groupPlugin({ file, modules }: ModuleGroup): Plugin {
  const path = join(source, file)
  const contents = modules.map((module) => `export * from '${module}'`).join('\n')
  return {
    name: 'group',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /./ }, (given) => (given.path === path ? { path } : undefined))
      onLoad({ filter: /./ }, (given) =>
        given.path === path ? { contents, loader: 'ts', resolveDir: dirname(path) } : undefined,
      )
    },
  }
}

/**
 * A module looks for files next to itself (workers, plugins, package.json) with `import.meta`, which after bundling is that of
 * the chunk. The plugin marks each use with the path of its module; `placeModulePaths` fills in where that is from the chunk.
 */
function sourcePlugin(celFolders: Set<string>): Plugin {
  return {
    name: 'hookhelm-source',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.startsWith(source)) return undefined
        const module = relative(source, path).replace(/\.ts$/, '.js')
        const text = readFileSync(path, 'utf8')
        const contents = text
          .replaceAll(/import\.meta\.(url|filename|dirname)\b/g, `__module_$1__("${module}")`)
          .replaceAll(/\brequire\('@bufbuild\/[^']+'\)/g, () => {
            celFolders.add(dirname(module))
            return "require('./cel.cjs')"
          })
        return { contents, loader: 'ts' }
      })
    },
  }
}

function placeModulePaths(text: string, folder: string): string {
  return text.replaceAll(
    /__module_(url|filename|dirname)__\("([^"]+)"\)/g,
    (_, kind: string, module: string) => {
      const path = relative(folder, kind === 'dirname' ? dirname(module) : module)
      return kind === 'url'
        ? `new URL(${JSON.stringify(path)},import.meta.url).href`
        : `process.getBuiltinModule("node:path").join(import.meta.dirname,${JSON.stringify(path)})`
    },
  )
}

/** Built-in modules that cost milliseconds to load and that most commands do not use. */
const slowBuiltins =
  /^node:(?:child_process|crypto|dns|fs\/promises|http|https|net|perf_hooks|readline\/promises|tls|vm|worker_threads|zlib)$/

/** Loads each of them when one of its exports is first used, instead of with the chunk that imports it. */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: slowBuiltins }, ({ path, kind, namespace }) =>
      kind === 'import-statement' && namespace === 'file' ? { path, namespace: 'lazy-builtin' } : undefined,
    )
    onLoad({ filter: /./, namespace: 'lazy-builtin' }, ({ path }) => ({
      contents: `
        let loaded
        const load = () => (loaded ??= process.getBuiltinModule(${JSON.stringify(path)}))
        for (const name of ${JSON.stringify(Object.keys(process.getBuiltinModule(path) ?? {}))})
          Object.defineProperty(exports, name, { enumerable: true, get: () => load()[name] })`,
      loader: 'js',
    }))
  },
}

/**
 * CommonJS, because registering a hook with a condition is synchronous. The packages of CEL weigh 9 MB and take 130 ms to load;
 * one bundle of what Hookhelm uses weighs 0.3 MB and takes 50 ms.
 */
async function bundleCel(outfile: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: {
      contents: "export * from '@bufbuild/cel'; export { strings } from '@bufbuild/cel/ext'",
      resolveDir: root,
    },
    outfile,
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    metafile: true,
  })
  return Object.keys(metafile.inputs)
}

/** The licenses of bundled packages ask to be passed on with them. */
function writeLicenses(inputs: readonly string[], path: string): void {
  const folders = inputs.flatMap(
    (input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? [],
  )
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: folder })
    const text =
      file === undefined
        ? 'https://spdx.org/licenses has the text.'
        : readFileSync(join(folder, file), 'utf8')
    return `${name} ${version} (${license})\n\n${text.trim()}\n`
  })
  if (texts.length > 0) writeFileSync(path, texts.join(`\n${'-'.repeat(80)}\n\n`))
}
