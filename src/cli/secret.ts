import { defineCommand } from 'citty'
import { rotateKeys } from '../app/gateway/rotate.ts'
import { command, exitCodes } from './command.ts'
import { printMessage, printOutput } from './output.ts'

const rotate = command({
  args: { database: { type: 'string', description: 'postgres://… to use instead of the embedded database' } },
  async run({ database, json }) {
    const renewed = await rotateKeys({
      env: process.env,
      log: (name, fields) => printMessage(`${name} ${JSON.stringify(fields)}`),
      ...(database === undefined ? {} : { database }),
    })
    printOutput(json ? { renewed } : `encrypted ${renewed} values with the new key`)
    return exitCodes.ok
  },
})

export const secretCommand = defineCommand({
  subCommands: {
    rotate: {
      ...rotate,
      meta: { name: 'rotate', description: 'Encrypt every stored secret with a new key' },
    },
  },
})
