import { globSync, readFileSync } from 'node:fs'

interface OnlyHere {
  readonly what: string
  readonly pattern: RegExp
  /** Where it may be used, each with the reason. */
  readonly allowed: Readonly<Record<string, string>>
}

/** What no import shows: globals and single functions that belong to one place. */
const onlyHere: readonly OnlyHere[] = [
  {
    what: 'time and timers',
    pattern:
      /\bDate\.now\(|\bperformance\.now\(|(?<!\.)\bset(?:Timeout|Interval|Immediate)\(|\bnew Date\(|\bAbortSignal\.timeout\(|\bprocess\.hrtime\b/,
    allowed: {
      'src/engine/core/time/clock.ts': 'it is the clock',
      'src/testing/fake-clock.ts': 'it lets the real event loop turn between two moments',
      'src/openclaw/run/hook-call.ts':
        'the door keeps the original’s timers: one per handler, work is not cancelled',
    },
  },
  {
    what: 'ciphers',
    pattern: /\bcreate(?:Cipher|Decipher)iv\(|\bwebcrypto\b|\bcrypto\.subtle\b/,
    allowed: { 'src/safe/secrets/secret.ts': 'it is where secrets are encrypted' },
  },
  {
    what: 'the global fetch',
    pattern: /(?<![.\w])fetch\(/,
    allowed: { 'src/safe/outbound/fetch.ts': 'it checks every address before it dials' },
  },
]

/** Files of src, tests apart, that use what belongs elsewhere. */
export function strays(): string[] {
  const files = globSync('src/**/*.ts').filter((file) => !/\.(test(-d)?|fixture)\.ts$/.test(file))
  return files.flatMap((file) => {
    const lines = withoutComments(readFileSync(file, 'utf8')).split('\n')
    return onlyHere
      .filter((rule) => !(file in rule.allowed))
      .flatMap((rule) =>
        lines.flatMap((line, index) =>
          rule.pattern.test(line)
            ? [`${file}:${index + 1} uses ${rule.what}; only ${Object.keys(rule.allowed).join(', ')} may`]
            : [],
        ),
      )
  })
}

/** Keeps the line numbers. A comment may well speak of setTimeout. */
function withoutComments(source: string): string {
  return source
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/.*$/gm, '$1')
}
