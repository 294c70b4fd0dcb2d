import type { ApprovalLink, ApprovalRow } from '../../../approvals/stored/approval-tables.ts'
import { isoTime } from '../../../engine/core/time/clock.ts'
import { visibleText } from '../../../engine/core/values/visible-text.ts'
import { newNonce, pageHeaders } from './ui-files.ts'

/** A page for a person who opened a link. It has no script and loads nothing. */
export interface AnswerPage {
  readonly status: number
  readonly title: string
  /** HTML. */
  readonly body: string
}

/** Text between tags and in attributes. */
function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** Text from an agent. */
function shown(text: string): string {
  return escapeHtml(visibleText(text))
}

/** Shows exactly what an answer is about, and asks for it. */
export function confirmPage(
  approval: ApprovalRow,
  { verdict, recipient }: Pick<ApprovalLink, 'verdict' | 'recipient'>,
  identical: number,
): AnswerPage {
  const { agent, requested_by, folder, tool, event, reason, hook_name, deadline_at } = approval
  const isApproval = verdict === 'approve'
  const message = isApproval
    ? ''
    : `<label>Message to the agent<textarea name="message" maxlength="2000" rows="2"></textarea></label>`
  return {
    status: 200,
    title: isApproval ? 'Approve this call?' : 'Deny this call?',
    body: `
<p><b>${shown(agent ?? requested_by)}</b>${folder === null ? '' : ` in <b>${shown(folder)}</b>`} wants to use
<b>${shown(tool ?? event)}</b> with exactly these arguments:</p>
<pre tabindex="0" aria-label="arguments">${shown(argumentsText(approval))}</pre>
<p>${shown(hook_name ?? 'A hook')} asks: ${shown(reason)}${identical > 1 ? ` ${identical} identical calls wait; this answers one of them.` : ''}</p>
<p class="muted">You answer as ${shown(recipient)}. Without an answer the call is denied at ${isoTime(deadline_at).slice(0, 16).replace('T', ' ')} UTC.</p>
<form method="post">${message}<button class="${verdict}">${isApproval ? 'Approve: let it run' : 'Deny: do not run it'}</button></form>
<p class="muted">${approval.approval_id}</p>`,
  }
}

/** A single text argument reads best as it is; anything else as JSON. */
function argumentsText({ input }: ApprovalRow): string {
  const values = typeof input === 'object' && input !== null ? Object.entries(input) : []
  const [only] = values
  return values.length === 1 && only !== undefined && typeof only[1] === 'string'
    ? `${only[0]}:\n${only[1]}`
    : JSON.stringify(input, undefined, 2)
}

export function answeredPage(approval: ApprovalRow, verdict: ApprovalLink['verdict']): AnswerPage {
  const waits = approval.status === 'pending'
  const text =
    verdict === 'deny'
      ? 'You denied the call. It does not run.'
      : waits
        ? 'Your approval counts. Another person has to approve too.'
        : 'You approved the call. It may run now, exactly as you saw it.'
  return {
    status: 200,
    title: verdict === 'deny' ? 'Denied' : 'Approved',
    body: `<p>${text} You can close this page.</p><p class="muted">${approval.approval_id}</p>`,
  }
}

export function refusedPage(status: number, text: string, code = ''): AnswerPage {
  return {
    status,
    title: 'This link does not answer',
    body: `<p>${shown(text)}</p><p>Questions that still wait are in the web app, under <a href="/ui/approvals">Approvals</a>.</p>
<p class="muted">${escapeHtml(code)}</p>`,
  }
}

/** The cookie of a session is not sent with the first request from another site, so the page asks for a second one. */
export function signInPage(): AnswerPage {
  return {
    status: 401,
    title: 'Sign in to answer',
    body: `<p>This link answers only for a person who is signed in to Hookhelm and has the role approver.</p>
<form method="get"><button class="approve">I am signed in: continue</button></form>
<p>Otherwise <a href="/ui/">sign in</a> first, then open the link again.</p>`,
  }
}

const STYLE = `
:root { color-scheme: light dark; --page: #fff; --text: #16181d; --line: #d6d9de; --muted: #5d6470; --sunken: #f4f5f7; --accent: #3553d1; --block: #b3261e }
@media (prefers-color-scheme: dark) { :root { --page: #16171a; --text: #e8eaee; --line: #33373e; --muted: #9aa1ad; --sunken: #101114; --accent: #8ea5ff; --block: #ff8a80 } }
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 0 auto; padding: 24px 16px }
h1 { font-size: 1.3rem }
pre { padding: 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--sunken); white-space: pre-wrap; overflow-wrap: anywhere; max-height: 50vh; overflow: auto; font-variant-ligatures: none }
.muted { color: var(--muted); overflow-wrap: anywhere }
label { display: grid; gap: 4px; margin-bottom: 12px }
textarea { color: inherit; background: var(--sunken); font: inherit; padding: 8px; border: 1px solid var(--line); border-radius: 6px }
button { font: inherit; font-weight: 600; width: 100%; min-height: 52px; border-radius: 6px; border: 1px solid; cursor: pointer; background: none }
button.approve { color: var(--accent) } button.deny { color: var(--block) }`

/** `same-origin`: without a referrer a browser would send the form with the origin `null`, which the gateway refuses. */
export function answerResponse({ status, title, body }: AnswerPage): Response {
  const nonce = newNonce()
  const html = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${escapeHtml(title)} · Hookhelm</title><style nonce="${nonce}">${STYLE}</style>
<main><h1>${escapeHtml(title)}</h1>${body}</main></html>`
  return new Response(html, {
    status,
    headers: {
      ...pageHeaders(nonce),
      'Content-Security-Policy': [
        "default-src 'none'",
        `style-src 'nonce-${nonce}'`,
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'Referrer-Policy': 'same-origin',
      'Content-Type': 'text/html; charset=utf-8',
    },
  })
}
