import { defineCommand } from 'citty'
import { rotateKeys } from '../app/gateway/encryption-keys.ts'
import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { print, tell } from './output.ts'

const rotate = command({
  name: 'rotate',
  about: 'Encrypt everything that is stored anew, under a fresh key',
  args: { database: { type: 'string', description: 'postgres://… instead of the embedded database' } },
  async run({ database, json }) {
    const renewed = await rotateKeys({
      env: process.env,
      log: (name, fields) => tell(`${name} ${JSON.stringify(fields)}`),
      ...(database === undefined ? {} : { database }),
    })
    print(json ? { renewed } : `${renewed} values are encrypted under the new key`)
    return exitCodes.ok
  },
})

export const secretCommand = defineCommand({
  meta: { name: 'secret', description: 'The key that stored secrets are encrypted with' },
  subCommands: { rotate },
})
