import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder in which tools leave their marks: what counts is whether the file is there. */
export interface Marks {
  write(name: string, text?: string): string
  has(name: string): boolean
  read(name: string): string
}

export function marks(): Marks {
  const folder = mkdtempSync(join(tmpdir(), 'hookhelm-sdk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return {
    write(name, text = 'ran') {
      writeFileSync(join(folder, name), text)
      return `wrote ${name}`
    },
    has: (name) => existsSync(join(folder, name)),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
  }
}
