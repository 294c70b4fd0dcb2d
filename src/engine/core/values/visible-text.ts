/**
 * Characters that reorder or hide text, that a terminal obeys, or that look like nothing: controls, direction marks,
 * ignorable characters, halves of pairs, and every space but the ordinary one. An emoji may keep its variation mark.
 */
export const unseenCharacters =
  /(?![ \n\t]|(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Text for people, with such characters written out, so that they read what runs. Line ends and tabs stay. */
export function visibleText(text: string): string {
  return text.replace(unseenCharacters, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** The same on one line. */
export function visibleLine(text: string): string {
  return visibleText(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

/** The same value as JSON, with such characters in the escapes of JSON. */
export function visibleJson(value: unknown, space?: number): string {
  const text: string | undefined = JSON.stringify(value, undefined, space)
  return (text ?? 'null').replace(unseenCharacters, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
