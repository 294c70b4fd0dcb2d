import type { Client } from '../../client/client.ts'
import { command, exitCodes } from '../command.ts'
import { printOutput } from '../output.ts'
import { clientOptions, connectionArgs, withGateway } from '../remote/connection.ts'

const { tenant: _, ...gatewayArgs } = connectionArgs

export const demoCommand = command({
  args: {
    remove: { type: 'boolean', description: 'remove the demo with all its hooks, events and sessions' },
    ...gatewayArgs,
  },
  async run({ remove, json, ...where }) {
    const act: (client: Client) => Promise<DemoReport> = remove === true ? removeDemo : playDemo
    const { answer, text } = await withGateway(clientOptions(where), act)
    printOutput(json ? answer : text)
    return exitCodes.ok
  },
})

interface DemoReport {
  readonly answer: object
  readonly text: string
}

async function playDemo(client: Client): Promise<DemoReport> {
  const answer = await client.call('demo.play', {})
  const { tenant, played } = answer
  const text = [
    played ? `The demo has played, in the tenant ${tenant}.` : `The demo is already in the tenant ${tenant}.`,
    `In the web app, choose "Work for ${tenant}" in the menu at the top right.`,
    `On the command line, add --tenant ${tenant}: hookhelm events list --tenant ${tenant}`,
    'Remove it with: hookhelm demo --remove',
  ]
  return { answer, text: text.join('\n') }
}

async function removeDemo(client: Client): Promise<DemoReport> {
  const answer = await client.call('demo.remove', {})
  return { answer, text: answer.removed ? 'The demo is removed.' : 'There is no demo.' }
}
