import { handlerError } from '../../engine/core/errors/handler-errors.ts'

/** The mail server of the gateway. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  readonly secure: boolean
  readonly from: string
  readonly user?: string
  readonly password?: string
}

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same for every attempt, so that a mail program shows one message. */
  readonly messageId: string
}

const TIMEOUT_MS = 20_000

/** Sends one mail over a connection of its own. Rejects if the server does not accept it. */
export async function sendMail(server: MailServer, { to, subject, text, messageId }: Mail): Promise<void> {
  const { host, port, secure, from, user, password } = server
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    ...{ host, port, secure },
    ...{ connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS },
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
  })
  try {
    await transport.sendMail({ from, to, subject, text, messageId: `<${messageId}@hookhelm>` })
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error'
    throw handlerError('outbound.connection', `the mail server ${host}: ${code}`, { cause: thrown })
  } finally {
    transport.close()
  }
}
