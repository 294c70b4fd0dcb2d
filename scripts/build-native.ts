/** `npm run build:native`: the client that coding agents start, for this machine, and its platform package. */
import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileBest, findCompiler, version } from './native/compile-client.ts'

const root = join(import.meta.dirname, '..')
const built = join(root, 'native', 'build', 'hookhelm-hook')
const compiler = findCompiler()
if (compiler === undefined) {
  console.error(
    'No C compiler was found (CC, cc, gcc, clang). Without it the client runs on Node, which works as well and starts slower.',
  )
  process.exit(1)
}
const { flavour, notes } = compileBest(compiler, built)
for (const note of notes) console.log(note)
console.log(`native/build/hookhelm-hook: ${flavour}, ${statSync(built).size} bytes, by ${compiler}`)
layPackage()

/** One package per platform, which npm installs only where its `os` and `cpu` fit. */
function layPackage(): void {
  const platform = `${process.platform}-${process.arch}`
  const folder = join(root, 'packages', `client-${platform}`)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  copyFileSync(built, join(folder, 'bin', 'hookhelm-hook'))
  const manifest = {
    name: `@hookhelm/client-${platform}`,
    version: version(),
    description: `The native client of Hookhelm for ${platform}.`,
    license: 'MIT',
    os: [process.platform],
    cpu: [process.arch],
    files: ['bin'],
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  console.log(`packages/client-${platform}: ${manifest.name} ${manifest.version}`)
}
