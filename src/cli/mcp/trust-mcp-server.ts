import { handlerError } from '../../engine/core/errors/handler-errors.ts'
import { toolPinsOf } from '../../hook-files/tool-pins.ts'
import { type ExitCode, exitCodes, type Flags } from '../command.ts'
import { printMessage, printOutput } from '../output.ts'

/** Shows how the tools of an MCP server changed since they were accepted, and accepts them. */
export function reviewMcpServer(server: string, { show, revoke }: Flags<never, 'show' | 'revoke'>): ExitCode {
  const stores = toolPinsOf(server)
  if (stores.length === 0)
    throw handlerError('trust.store', `no tools of an MCP server named ${server} are stored`, {
      hint: 'hookhelm mcp-proxy stores them when a client lists the tools.',
    })
  if (revoke) {
    for (const store of stores) store.forget()
    printMessage(`forgotten: the tools of ${server}. The next ones that it sends count as accepted.`)
    return exitCodes.ok
  }
  const changed = stores.flatMap((store) => store.changes().map((change) => ({ store, ...change })))
  for (const { tool, diff } of changed) printOutput(`${tool}\n${diff}`)
  if (changed.length === 0) printMessage(`no tool of ${server} changed since it was accepted`)
  else if (show) return exitCodes.untrusted
  else {
    for (const { store } of changed) store.accept()
    printMessage(`accepted: ${changed.map(({ tool }) => tool).join(', ')} of ${server}`)
  }
  return exitCodes.ok
}
