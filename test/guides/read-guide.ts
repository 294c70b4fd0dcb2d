/** One edit of a file: these lines are found, those stand there instead. */
interface Hunk {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** What a guide asks its reader to do, and what he sees then. */
export interface Guide {
  readonly title: string
  readonly edits: readonly Hunk[]
  readonly files: ReadonlyMap<string, string>
  readonly prints: string
}

interface Block {
  readonly language: string
  readonly code: string
}

/** Reads the section `## <title>` of a page. */
export function readGuide(page: string, title: string): Guide {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? ''
  const blocks = fencedBlocks(section)
  const of = (language: string) => blocks.filter((block) => block.language === language)
  return {
    title,
    edits: of('diff').flatMap(({ code }) => readHunks(code)),
    files: new Map(of('ts').map(({ code }) => [/^\/\/ (\S+\.ts)\n/.exec(code)?.[1] ?? 'try.ts', code])),
    prints: of('text')
      .map(({ code }) => code)
      .join(''),
  }
}

export function fencedBlocks(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
    language,
    code,
  }))
}

/** Each hunk has the path of its file on a line with `#` in front. */
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
