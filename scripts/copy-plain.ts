import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** JavaScript that the compiler does not process. */
for (const file of globSync('src/**/*.{cjs,js}')) {
  const to = file.replace(/^src/, 'dist')
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(file, to)
}

// The published client is one file: each module that it loads makes it start later.
const client = 'dist/agents/client/hookhelm-hook.cjs'
const link = readFileSync('dist/agents/client/gateway-link.cjs', 'utf8').replace(
  /^'use strict'\n|^module\.exports.*\n/gm,
  '',
)
const text = readFileSync(client, 'utf8')
const joined = text.replace(/^const \{[^}]*\} = require\('\.\/gateway-link\.cjs'\)\n/m, () => link)
if (joined === text) throw new Error(`${client} does not load gateway-link.cjs`)
writeFileSync(client, joined)
