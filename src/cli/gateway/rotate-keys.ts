import { rotateKeys } from '../../app/gateway/storage/encryption-keys.ts'
import { command, exitCodes } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'

export const rotateKeysCommand = command({
  meta: { name: 'rotate', description: 'Encrypts all stored secrets under a new key.' },
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
