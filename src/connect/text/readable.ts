import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { place, withoutMark } from './config-text.ts'

/** What an agent's own reader takes beyond plain JSON, as it was seen to. */
export interface Reader {
  readonly comments?: true
  /** A byte order mark at the beginning. */
  readonly mark?: true
  /** All keys that the file may have; any, if omitted. */
  readonly onlyKeys?: readonly string[]
}

/**
 * Why an agent would not read a configuration, or nothing. An agent that cannot read its file goes on without it, and so
 * without any hook in it, most of them without a word.
 */
export function unreadBecause(text: string, path: string, reader: Reader): string | undefined {
  const { mark, text: plain } = withoutMark(text)
  if (mark !== '' && reader.mark !== true) return `${path} begins with a byte order mark`
  const errors: ParseError[] = []
  const root = parseTree(plain, errors, {
    disallowComments: reader.comments !== true,
    allowTrailingComma: false,
    allowEmptyContent: true,
  })
  const [first] = errors
  if (first !== undefined) return `${place(path, plain, first.offset)} has ${wordsOf(first)}`
  const { onlyKeys } = reader
  const stranger = root?.children?.find(
    ({ children }) => onlyKeys !== undefined && !onlyKeys.includes(String(children?.[0]?.value)),
  )
  return stranger === undefined
    ? undefined
    : `${place(path, plain, stranger.offset)} has the key ${String(stranger.children?.[0]?.value)}`
}

const words: Readonly<Record<string, string>> = {
  InvalidCommentToken: 'a comment',
  PropertyNameExpected: 'a comma with nothing behind it',
  ValueExpected: 'a comma with nothing behind it',
}

function wordsOf({ error }: ParseError): string {
  return words[printParseErrorCode(error)] ?? 'something that is no JSON'
}
