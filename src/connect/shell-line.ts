/** A word that every shell takes as it is. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The words of the first command of a shell line, as far as it is made of plain and quoted words. */
export function firstWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === "'" || character === '"') {
      const end = closing(line, at)
      if (end === -1) return words
      word = (word ?? '') + unescaped(line.slice(at + 1, end), character)
      at = end
    } else if (character === '\\') {
      at++
      word = (word ?? '') + line.charAt(at)
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (/[|&;<>(){}$`]/.test(character)) break
    else word = (word ?? '') + character
  }
  return word === undefined ? words : [...words, word]
}

function closing(line: string, open: number): number {
  const quote = line.charAt(open)
  for (let at = open + 1; at < line.length; at++) {
    if (line[at] === quote) return at
    if (quote === '"' && line[at] === '\\') at++
  }
  return -1
}

function unescaped(text: string, quote: string): string {
  return quote === "'" ? text : text.replace(/\\(["\\$`])/g, '$1')
}
