const secretName = '(?:api[-_]?key|token|secret|password|passwd|pwd|credentials?|private[-_]?key)'

/** Each pattern keeps its first group, if it has one, and masks the rest. */
const secrets: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // token=…, "apiKey": "…", OPENAI_API_KEY: …, x-api-key: …
  new RegExp(`(${secretName}["']?\\s*[:=]\\s*["']?)[^\\s"',;&]+`, 'gi'),
  new RegExp(`(--${secretName}\\s+["']?)[^\\s"']+`, 'gi'),
  /(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi,
  // user:password@host
  /(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g,
  /\bsk-[\w-]{8,}/g,
  /\b(?:gh[pousr]|github_pat|glpat|npm|gsk|hf|hh|whsec|xox[a-z]|xapp|pplx)[_-][\w+/=-]{10,}/g,
  /\bA(?:KIA|SIA)[0-9A-Z]{16}\b/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  // Telegram bots
  /\b\d{6,}:[\w-]{20,}/g,
]

/** More than a log line shows, and short enough that no pattern takes long. */
const MAX_READ = 4096

/** Masks everything that looks like a secret. Longer texts are cut, because a log line never shows the rest. */
export function maskSecrets(text: string, mask: string): string {
  return secrets.reduce(
    (left, pattern) =>
      left.replace(pattern, (_, kept: unknown) => (typeof kept === 'string' ? kept : '') + mask),
    text.slice(0, MAX_READ),
  )
}
