import { defineCommand } from 'citty'
import { rotateKeys } from '../app/gateway/encryption-keys.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

const rotate = command({
  args: { database: { type: 'string', description: 'postgres://… instead of the embedded database' } },
  async run({ database, json }) {
    const renewed = await rotateKeys({
      env: process.env,
      log: (name, fields) => printMessage(`${name} ${JSON.stringify(fields)}`),
      ...(database === undefined ? {} : { database }),
    })
    printOutput(json ? { renewed } : `${renewed} values are encrypted under the new key`)
    return exitCodes.ok
  },
})

export const secretCommand = defineCommand({
  meta: { name: 'secret', description: 'The key that stored secrets are encrypted with' },
  subCommands: { rotate },
})
