import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { hookFileIn, trustFile } from '../config/hook-folders.ts'
import { trustStore } from '../config/trust.ts'
import { HookError } from '../engine/core/error.ts'
import { command } from './command.ts'
import { exampleFile } from './example-file.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

export const initCommand = command({
  name: 'init',
  about: 'Write a hook file with three working examples',
  run(args) {
    const folder = join(resolve(args.cwd ?? '.'), '.hookhelm')
    const taken = existsSync(folder) ? hookFileIn(folder) : undefined
    if (taken !== undefined) throw new HookError('config.exists', `${taken} exists already`)
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'hooks.yaml')
    writeFileSync(path, exampleFile, { flag: 'wx', mode: 0o644 })
    // Whoever wrote it here and now need not be asked whether to trust it.
    trustStore(trustFile()).trust(path, exampleFile)
    if (args.json) print({ file: path })
    tell(`written and trusted: ${path}\n\nTry it:\n${tries}`)
    return exitCodes.ok
  },
})

const tries = `  hookhelm list
  hookhelm explain pre_tool_use --tool Bash --input '{"command":"cd / && rm -rf tmp"}'
  hookhelm explain pre_tool_use --tool Write --input '{"file_path":"app/.env","content":"x"}'`
