import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { ConfigSyntax } from '../agents/agent-host.ts'
import { locateOffset, splitByteOrderMark } from '../agents/config/read-config.ts'

/**
 * Explains why an agent cannot read a configuration, or returns undefined if it can. Most agents silently ignore a file
 * that they cannot read, and with it every hook.
 */
export function explainUnreadable(text: string, path: string, syntax: ConfigSyntax): string | undefined {
  const { mark, text: plain } = splitByteOrderMark(text)
  if (mark !== '' && syntax.byteOrderMark !== true) return `${path} begins with a byte order mark`
  const errors: ParseError[] = []
  const root = parseTree(plain, errors, {
    disallowComments: syntax.comments !== true,
    allowTrailingComma: false,
    allowEmptyContent: true,
  })
  const [first] = errors
  if (first !== undefined)
    return `${locateOffset(path, plain, first.offset)} has ${describeSyntaxError(first)}`
  const { onlyKeys } = syntax
  const unknownKey = root?.children?.find(
    ({ children }) => onlyKeys !== undefined && !onlyKeys.includes(String(children?.[0]?.value)),
  )
  return unknownKey === undefined
    ? undefined
    : `${locateOffset(path, plain, unknownKey.offset)} has the key ${String(unknownKey.children?.[0]?.value)}`
}

const descriptions: Readonly<Record<string, string>> = {
  InvalidCommentToken: 'a comment',
  PropertyNameExpected: 'a trailing comma',
  ValueExpected: 'a trailing comma',
}

function describeSyntaxError({ error }: ParseError): string {
  return descriptions[printParseErrorCode(error)] ?? 'invalid JSON'
}
