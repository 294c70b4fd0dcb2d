import { describeField, type WordField } from '../expand/shell-text.ts'

/** They change the order in which a text is shown, or show nothing at all. */
const invisible =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/u
/** They look like the hyphen that starts a flag. */
const hyphens = /^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: everything outside of ASCII is what is looked for
const outsideAscii = /[^\u0000-\u007f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: a shell cannot pass them on as they are
const controls = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\ufffd]/

/** Why a person may read another command than the one that runs; undefined if none of its characters is hidden. */
export function findHiddenCharacters(program: string, words: readonly WordField[]): string | undefined {
  if (outsideAscii.test(program)) return 'the name of the program has characters that look like others'
  for (const word of words) {
    const text = describeField(word)
    if (!outsideAscii.test(text)) continue
    if (invisible.test(text)) return 'an argument has invisible characters'
    if (hyphens.test(text)) return 'an argument starts with a character that looks like a hyphen'
  }
  return undefined
}

/** Why a whole line cannot be read as it is; undefined if it can. */
export function findControlCharacters(line: string): string | undefined {
  return controls.test(line) || !line.isWellFormed()
    ? 'the line has control characters or is no valid text'
    : undefined
}
