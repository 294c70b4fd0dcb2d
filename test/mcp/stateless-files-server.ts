/** The server of the packages of 2026 on stdio. With the argument `reject` it serves no older revision. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { statelessFilesServer } from './stateless-server.fixture.ts'

const [, , legacy] = process.argv
serveStdio(() => statelessFilesServer(process.env.FILES_DESCRIPTION), {
  legacy: legacy === 'reject' ? 'reject' : 'serve',
})
