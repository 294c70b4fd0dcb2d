import type { Invocation } from '../evaluate/shell-run.ts'
import { describeField, fieldCertainty, type WordField } from '../expand/shell-text.ts'
import { optionValues, parseOptions, sliceField } from './parse-options.ts'
import { optionsOf } from './program-options.ts'
import { wrapperOperands } from './run-wrapper.ts'

/** How the hosts of a program are found: in its operands, in options, or always the same. */
type HostRule =
  | 'url'
  | 'host'
  | 'copy'
  | 'options'
  | {
      readonly always: string
      readonly subcommands?: RegExp
      /** Operands are modules, whose names start with a host. */
      readonly module?: true
    }

/** The programs that contact other machines. */
const table: Readonly<Record<string, HostRule>> = {
  curl: 'url',
  wget: 'url',
  aria2c: 'url',
  http: 'url',
  https: 'url',
  xh: 'url',
  lynx: 'url',
  w3m: 'url',
  links: 'url',
  axel: 'url',
  'yt-dlp': 'url',
  openssl: 'options',
  psql: 'options',
  pg_dump: 'options',
  pg_restore: 'options',
  mysql: 'options',
  mariadb: 'options',
  mysqldump: 'options',
  mongosh: 'options',
  'redis-cli': 'options',
  kubectl: 'options',
  helm: 'options',
  ldapsearch: 'options',
  swaks: 'options',
  grpcurl: 'url',
  websocat: 'url',
  smbclient: 'url',
  sshfs: 'copy',
  ssh: 'host',
  sftp: 'copy',
  scp: 'copy',
  rsync: 'copy',
  mosh: 'host',
  autossh: 'host',
  telnet: 'host',
  nc: 'host',
  ncat: 'host',
  netcat: 'host',
  ftp: 'host',
  ping: 'host',
  ping6: 'host',
  traceroute: 'host',
  dig: 'host',
  nslookup: 'host',
  host: 'host',
  whois: 'host',
  nmap: 'host',
  npm: {
    always: 'registry.npmjs.org',
    subcommands:
      /^(i|install|ci|add|update|up|publish|view|info|audit|exec|x|login|search|outdated|unpublish|dist-tag|create|init)$/,
  },
  pnpm: {
    always: 'registry.npmjs.org',
    subcommands: /^(i|install|add|update|up|publish|dlx|create|audit|outdated)$/,
  },
  yarn: { always: 'registry.npmjs.org', subcommands: /^(install|add|upgrade|publish|dlx|create|up)$/ },
  bun: { always: 'registry.npmjs.org', subcommands: /^(i|install|add|update|x|create|publish)$/ },
  npx: { always: 'registry.npmjs.org' },
  bunx: { always: 'registry.npmjs.org' },
  pip: { always: 'pypi.org', subcommands: /^(install|download|search|wheel)$/ },
  pip3: { always: 'pypi.org', subcommands: /^(install|download|search|wheel)$/ },
  pipx: { always: 'pypi.org', subcommands: /^(install|run|upgrade|inject)$/ },
  uv: { always: 'pypi.org', subcommands: /^(add|sync|pip|tool|lock|run|publish)$/ },
  uvx: { always: 'pypi.org' },
  poetry: { always: 'pypi.org', subcommands: /^(install|add|update|lock|publish)$/ },
  twine: { always: 'upload.pypi.org', subcommands: /^upload$/ },
  cargo: {
    always: 'crates.io',
    subcommands: /^(install|add|update|fetch|publish|search|build|b|test|t|run|r|check|c)$/,
  },
  go: { always: 'proxy.golang.org', module: true, subcommands: /^(get|install|mod)$/ },
  gem: { always: 'rubygems.org', subcommands: /^(install|update|push|fetch)$/ },
  bundle: { always: 'rubygems.org', subcommands: /^(install|update|add)$/ },
  composer: { always: 'packagist.org', subcommands: /^(install|update|require|create-project)$/ },
  brew: { always: 'formulae.brew.sh', subcommands: /^(install|upgrade|update|tap)$/ },
  apt: {
    always: 'deb.debian.org',
    subcommands: /^(install|update|upgrade|full-upgrade|dist-upgrade|download|source)$/,
  },
  'apt-get': {
    always: 'deb.debian.org',
    subcommands: /^(install|update|upgrade|dist-upgrade|download|source)$/,
  },
  apk: { always: 'dl-cdn.alpinelinux.org', subcommands: /^(add|update|upgrade|fetch)$/ },
  gh: { always: 'api.github.com' },
  aws: { always: 'amazonaws.com' },
  gcloud: { always: 'googleapis.com' },
  az: { always: 'management.azure.com' },
}

/** Options whose value is an address, by the canonical name of the option. */
const addressOptions: Readonly<Record<string, readonly string[]>> = {
  curl: ['url', 'x', 'socks5', 'socks5-hostname', 'doh-url'],
  openssl: ['connect', 'host', 'url'],
  psql: ['h'],
  pg_dump: ['h'],
  pg_restore: ['h'],
  mysql: ['h'],
  mariadb: ['h'],
  mysqldump: ['h'],
  'redis-cli': ['h', 'u'],
  mongosh: ['host'],
  kubectl: ['s'],
  gh: ['hostname'],
  aws: ['endpoint-url'],
  swaks: ['server', 's'],
  ldapsearch: ['H', 'h'],
  npm: ['registry'],
  pip: ['i', 'extra-index-url', 'proxy'],
}
const addressOptionsOf: Readonly<Record<string, string>> = {
  pnpm: 'npm',
  yarn: 'npm',
  bun: 'npm',
  pip3: 'pip',
}

const remoteGit = new Set(['clone', 'push', 'pull', 'fetch', 'ls-remote', 'submodule', 'remote'])

/** Records the hosts that a program contacts. */
export function recordHosts(invocation: Invocation, subcommand: string | undefined): void {
  const { program, args } = invocation
  if (program === 'git') return recordGitHosts(invocation, subcommand)
  if (program === 'docker' || program === 'podman') {
    for (const address of optionValues(parseOptions(args, optionsOf('docker')).options, 'H'))
      addUrl(invocation, address)
    return recordImageHost(invocation, subcommand)
  }
  const rule = Object.hasOwn(table, program) ? table[program] : undefined
  if (rule === undefined) return
  const { operands, options } = parseOptions(args, optionsOf(program))
  const addresses = addressOptions[addressOptionsOf[program] ?? program] ?? ['url']
  for (const { name, value } of options) if (value && addresses.includes(name)) addUrl(invocation, value)
  for (const operand of rule === 'url' ? [] : operands) addAddress(invocation, operand)
  if (typeof rule === 'object') {
    const word = subcommand ?? args.map(describeField).find((text) => !text.startsWith('-'))
    if (rule.subcommands === undefined || rule.subcommands.test(word ?? ''))
      addHost(invocation, rule.always, 'exact')
    if (rule.module && /^(?:get|install|run)$/.test(word ?? ''))
      for (const operand of operands) {
        const host = /^([\w-]+(?:\.[\w-]+)+)\/[^@]/.exec(describeField(operand))?.[1]
        if (host !== undefined) addHost(invocation, host, 'exact')
      }
    return
  }
  if (rule === 'url') for (const field of operands) addUrl(invocation, field)
  if (rule === 'copy') for (const field of operands) addCopyHost(invocation, field)
  // `+short` is an option of dig.
  const [host] = rule === 'host' ? operands.filter((field) => !describeField(field).startsWith('+')) : []
  if (host) addNamedHost(invocation, host)
}

/** Addresses of files, stores and packages, which name no host. */
const hostless = /^(?:s3|gs|az|abfss?|file|data|docker|oci|npm|jsr|hf|about|chrome|jdbc):/i

/** The host of an argument that is an address: `postgres://host/db`, `--endpoint=https://host`. */
export function addAddress(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  const start = /^(?:-{1,2}[\w-]+=|-o|-H)?(?=[a-z][a-z0-9+.-]*:\/\/[^/$\s])/i.exec(text)?.[0]
  if (start === undefined || hostless.test(text.slice(start.length)) || fieldCertainty(field) === 'unknown')
    return
  addUrl(invocation, sliceField(field, start.length))
}

function addHost({ program, frame, at }: Invocation, host: string, certainty: 'exact' | 'unknown'): void {
  frame.run.record.addHost({ host: host.toLowerCase().replace(/\.$/, ''), certainty, by: program, at })
}

/** The host of an address, as a browser reads it. */
function addUrl(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  const host = URL.parse(text.includes('://') ? text : `http://${text}`)?.hostname
  // The start of an address may be known although its end is not.
  const start = typeof field[0]?.value === 'string' ? field[0].value : ''
  const known = /^(?:\w+:\/\/)?([\w.-]+)(?::\d+)?(?=[/?#])/.exec(
    start.includes('://') ? start : start.replace(/^\w+:\/?$/, ''),
  )?.[1]
  if (fieldCertainty(field) !== 'unknown') addHost(invocation, host ?? text, 'exact')
  else addHost(invocation, known ?? text, known === undefined ? 'unknown' : 'exact')
}

function addNamedHost(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  const host = text.includes('://')
    ? (URL.parse(text)?.hostname ?? text)
    : text.slice(text.lastIndexOf('@') + 1)
  addHost(invocation, host, fieldCertainty(field) === 'unknown' ? 'unknown' : 'exact')
}

/** `user@host:path`, or an address. */
function addCopyHost(invocation: Invocation, field: WordField): void {
  const text = describeField(field)
  if (/^\w+:\/\//.test(text)) return addUrl(invocation, field)
  const host = /^(?:[^@/:]+@)?([^/:@]+):/.exec(text)?.[1]
  if (host !== undefined) addHost(invocation, host, fieldCertainty(field) === 'unknown' ? 'unknown' : 'exact')
}

function recordGitHosts(invocation: Invocation, subcommand: string | undefined): void {
  if (subcommand === undefined || !remoteGit.has(subcommand)) return
  const index = invocation.args.findIndex((arg) => describeField(arg) === subcommand)
  const { operands } = parseOptions(invocation.args.slice(index + 1), optionsOf(`git ${subcommand}`))
  const address = operands.find((field) => /^\w+:\/\/|^[^/:]+@?[^/:]*:/.test(describeField(field)))
  if (address) return addCopyHost(invocation, address)
  if (subcommand === 'remote' || subcommand === 'submodule') return
  // A remote has a name in the configuration of the repository.
  addHost(invocation, operands[0] ? describeField(operands[0]) : 'origin', 'unknown')
}

function recordImageHost(invocation: Invocation, subcommand: string | undefined): void {
  if (subcommand === undefined || !/^(pull|push|run|login|create)$/.test(subcommand)) return
  const index = invocation.args.findIndex((arg) => describeField(arg) === subcommand)
  const operands =
    wrapperOperands(invocation.program, invocation.args) ??
    parseOptions(invocation.args.slice(index + 1), optionsOf('')).operands
  // `docker login --username me registry.test`
  const isLogin = subcommand === 'login'
  const named = isLogin ? operands.at(-1) : operands[0]
  const image = named ? describeField(named) : ''
  const [first = ''] = image.split('/')
  addHost(invocation, (isLogin || image.includes('/')) && /[.:]/.test(first) ? first : 'docker.io', 'exact')
}
