/** Hookhelm for receivers of its webhooks: whether a call is genuine. */
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from './safe/webhook-signature.ts'
