import { createServer } from 'node:http'

/** The least a JSON service does: read the body, parse it, answer 45 bytes. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { event } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const answer = JSON.stringify({ decision: { kind: 'allow' }, event })
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(answer),
    })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 })
})
