import { copyFileSync, globSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** What runs as it is written: the compiler leaves it where it lies. */
for (const file of globSync('src/**/*.{cjs,js}')) {
  const to = file.replace(/^src/, 'dist')
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(file, to)
}
