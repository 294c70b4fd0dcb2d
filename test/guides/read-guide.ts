/** One edit of a file: the lines to find, and the lines that replace them. */
interface Hunk {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** The changes that a guide asks for, and what the reader can run afterwards. */
export interface Guide {
  readonly title: string
  readonly edits: readonly Hunk[]
  /** The code of each file by path: new files of the product, and the program `try.ts`. */
  readonly files: ReadonlyMap<string, string>
  /** The files of the product that change. */
  readonly changes: readonly string[]
  /** Command lines to run. */
  readonly commands: readonly string[]
  /** What the program or the commands print. */
  readonly prints: string
}

interface Block {
  readonly language: string
  readonly code: string
}

/** Reads the section `## <title>` of a page. */
export function readGuide(page: string, title: string): Guide {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${title}\n`))
  if (section === undefined) throw new Error(`the page has no section ${title}`)
  const blocks = fencedBlocks(section)
  const of = (language: string) =>
    blocks.filter((block) => block.language === language).map(({ code }) => code)
  const edits = of('diff').flatMap(readHunks)
  const files = new Map([
    ...[...of('ts'), ...of('tsx')].map((code): [string, string] => [
      /^\/\/ (\S+\.tsx?)\n/.exec(code)?.[1] ?? 'try.ts',
      code,
    ]),
    // The first comment of a pack is its sentence in lists.
    ...of('yaml').map((code): [string, string] => {
      const [, path = '', text = ''] = /^# (\S+\.yaml)\n([\s\S]*)$/.exec(code) ?? []
      return [path, text]
    }),
  ])
  const paths = new Set([...files.keys(), ...edits.map(({ path }) => path)])
  return {
    title,
    edits,
    files,
    changes: [...paths].filter((path) => path !== 'try.ts').sort(),
    commands: of('sh').flatMap((code) => code.trimEnd().split('\n')),
    prints: of('text').join(''),
  }
}

export function fencedBlocks(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
    language,
    code,
  }))
}

/** Each hunk starts with a line that has `#` and the path of its file. */
function readHunks(diff: string): readonly Hunk[] {
  return diff.split(/^# /m).flatMap((part) => {
    const [path, ...lines] = part.trimEnd().split('\n')
    if (path === undefined || path === '') return []
    const side = (sign: string) =>
      lines
        .filter((line) => line[0] === ' ' || line[0] === sign)
        .map((line) => line.slice(1))
        .join('\n')
    return [{ path, before: side('-'), after: side('+') }]
  })
}
