/**
 * Lists exported names that more than one file of src declares, and first checks that it notices a planted reuse. Tests,
 * fixtures and re-exports do not count, and neither do a type and a value of the same name in one file.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { report } from './page.ts'

const TEST = /\.(?:test(?:-d)?|fixture)\.ts$/
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|namespace) ([A-Za-z_$][\w$]*)/gm
/** `export const { a, b: c } = …` declares a and c. */
const DESTRUCTURED = /^export const \{([^}]*)\} =/gm
/** `export { a as b }` without `from` exports a local declaration as b. */
const LIST = /^export (?:type )?\{([^}]*)\}(?!\s*from)/gm

/** Name → the files below `<root>/src` that declare it, for names that several files declare. */
function reusedExports(root: string): ReadonlyMap<string, readonly string[]> {
  const declaredIn = new Map<string, string[]>()
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !TEST.test(file))
  for (const file of files.sort())
    for (const name of new Set(exportedNames(readFileSync(join(root, file), 'utf8'))))
      declaredIn.set(name, [...(declaredIn.get(name) ?? []), file])
  return new Map([...declaredIn].filter(([, where]) => where.length > 1).sort())
}

function exportedNames(source: string): string[] {
  const lists = [...source.matchAll(DESTRUCTURED), ...source.matchAll(LIST)].flatMap(([, list = '']) =>
    list.split(',').map(
      (entry) =>
        entry
          .trim()
          .replace(/^type /, '')
          .split(/\s+as\s+|\s*:\s*/)
          .at(-1) ?? '',
    ),
  )
  return [...[...source.matchAll(DECLARATION)].map(([, name = '']) => name), ...lists].filter(Boolean)
}

/** File → text. The names say whether the check must find them. */
const plants: Readonly<Record<string, string>> = {
  'a.ts': [
    'export function reusedFunction() {}',
    'export const reusedConst = 1',
    'export type ReusedType = 1',
    'const local = 1',
    'export { local as reusedInList }',
    'export const { reusedInPattern } = { reusedInPattern: 1 }',
    'export type Pair = 1',
    'export const Pair = 1',
    'export const onlyTested = 1',
    'export const throughDoor = 1',
  ].join('\n'),
  'deep/b.ts': [
    'export async function reusedFunction() {}',
    'export class reusedConst {}',
    'export interface ReusedType {}',
    'export const reusedInList = 1',
    'export function* reusedInPattern() {}',
  ].join('\n'),
  'door.ts': "export { throughDoor } from './a.ts'\nexport type { ReusedType } from './a.ts'",
  'c.test.ts': 'export const onlyTested = 1',
  'c.fixture.ts': 'export const onlyTested = 1',
}
const planted = ['ReusedType', 'reusedConst', 'reusedFunction', 'reusedInList', 'reusedInPattern']

/** What the check gets wrong about the planted files: then its silence means nothing. */
function misjudgedPlants(): string[] {
  const root = mkdtempSync(join(tmpdir(), 'hookhelm-names-'))
  try {
    for (const [file, text] of Object.entries(plants)) {
      mkdirSync(dirname(join(root, 'src', file)), { recursive: true })
      writeFileSync(join(root, 'src', file), `${text}\n`)
    }
    const found = [...reusedExports(root).keys()]
    return [
      ...planted
        .filter((name) => !found.includes(name))
        .map((name) => `blind: did not find the planted ${name}`),
      ...found.filter((name) => !planted.includes(name)).map((name) => `wrong: ${name} is not reused`),
    ]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

const reused = [...reusedExports(process.cwd())].map(([name, files]) => `${name}: ${files.join(', ')}`)
report([...misjudgedPlants(), ...reused], 'names: every exported name of src is declared in one file')
