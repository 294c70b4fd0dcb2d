/** `hookhelm/webhooks`: verifies webhook requests, for their receivers. */
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from './safe/secrets/webhook-signature.ts'
