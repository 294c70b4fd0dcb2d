// The arrows of ARCHITECTURE.md as data: what each part of src may import. `npm run arrows` checks them.

import manifest from './package.json' with { type: 'json' }

/** Development packages that the build makes part of the product. */
const bundled = [
  '@bufbuild/cel',
  'citty',
  'diff',
  'ipaddr\\.js',
  'js-yaml',
  'jsonc-parser',
  'lru-cache',
  're2js',
  'uuid',
]
const optionalPeers = Object.keys(manifest.peerDependencies)

const engine = ['engine']
const grounds = ['safe', 'engine']

/** The rooms of the gateway, in order: each imports what runs only from those before it, and from the grounds. */
const rooms = [
  'database',
  'methods',
  'access',
  'secrets',
  'deliveries',
  'teams',
  'settings',
  'stored-hooks',
  'history',
  'pipeline',
  'approvals',
  'runs',
  'rules',
  'store',
  'gateway',
]
const before = (room) => rooms.slice(0, rooms.indexOf(room))
/** They also use handlers, hook files and coding agents. */
const beside = {
  secrets: ['handlers', 'hook-files'],
  settings: ['handlers'],
  'stored-hooks': ['handlers', 'hook-files', 'agents'],
  history: ['hook-files', 'agents'],
  pipeline: ['handlers', 'hook-files', 'agents'],
  approvals: ['handlers', 'hook-files', 'agents'],
  runs: ['handlers', 'hook-files', 'agents'],
  rules: ['handlers', 'hook-files', 'agents'],
  gateway: ['handlers', 'hook-files', 'agents', 'client'],
}
const roomArrows = Object.fromEntries(
  rooms.map((room) => [room, [...before(room), ...(beside[room] ?? []), ...grounds]]),
)
const domains = [...rooms, 'agents', 'client', 'hook-files', ...grounds]

/** Part of src → the parts it may import, itself always included. A name covers the folders below it. */
const arrows = {
  engine: [],
  'engine/core': [],
  'engine/match': ['engine/core'],
  'engine/guard': ['engine/core'],
  'engine/events': ['engine/core'],
  'engine/hook-definition': ['engine/guard', 'engine/core'],
  'engine/dispatch': [
    'engine/hook-definition',
    'engine/match',
    'engine/guard',
    'engine/events',
    'engine/core',
  ],
  core: engine,
  index: ['core', 'library-hooks', 'engine'],
  'library-hooks': ['load-shell', 'engine'],
  // It loads the analyser by its path, with its first call.
  'load-shell': ['engine/core'],
  openclaw: ['engine/events/openclaw', 'engine/core'],
  testing: engine,
  webhooks: ['safe', 'engine/core'],
  safe: ['engine/core'],
  shell: ['engine/core'],
  handlers: ['safe', 'engine/core'],
  client: ['safe', 'engine/core'],
  'hook-files': ['handlers', ...grounds],
  ...roomArrows,
  'runs/runner': ['runs', 'sdk', 'client', ...roomArrows.runs],
  'hook-chains': ['rules', 'engine/core'],
  agents: ['hook-files', ...grounds],
  sdk: ['agents', 'client', 'engine'],
  connect: ['agents', 'hook-files', ...grounds],
  mcp: ['agents', 'client', ...grounds],
  app: ['load-shell', 'shell', 'connect', 'mcp', 'handlers', ...domains],
  cli: ['app', 'shell', 'connect', 'mcp', 'handlers', ...domains],
}

/** Part of src → the parts of which it may import types and nothing that runs. */
const typeArrows = {
  // The client takes only types from the gateway's methods and from the catalogue.
  client: ['gateway/methods', 'methods', 'engine/events'],
  // A room names the store, the sum of all rooms, to say which operations it needs.
  ...Object.fromEntries(before('store').map((room) => [room, ['store']])),
  // The statements that a database writes by hand are typed by the rooms that use them.
  database: ['access', 'deliveries', 'history', 'runs', 'stored-hooks', 'store'],
  // The parts that a method may ask for are of all rooms.
  methods: rooms.slice(2),
  teams: ['rules', 'store'],
  settings: ['approvals', 'store'],
  pipeline: ['approvals', 'rules', 'store'],
}

/** Modules with an edge to the world → the only places that may import more than their types. */
const edges = {
  process: { modules: 'child_process|cluster', only: ['safe/process'] },
  // A server listens through these modules too, so its files stand here one by one. Those of `testing` listen on
  // loopback only and call nobody.
  outbound: {
    modules: 'http|https|http2|net|tls|dgram|dns|dns/promises|undici|ws',
    only: [
      'safe/outbound',
      // They listen and call nobody, but for one ping of a socket that may be stale.
      'gateway/doors/http/http-server',
      'gateway/doors/ws/websockets',
      'gateway/doors/socket/socket-server',
      'mcp/http/http-proxy',
      // A ping of our own socket, and a gateway that is broken on purpose.
      'connect/ping-socket',
      'connect/doctor/broken-gateways',
      // They call the gateway that their user names, which may well be at a private address.
      'agents/client/hookhelm-hook',
      'agents/plugin/gateway-connection',
      'client/http',
      'client/line-socket',
      'client/proven-connection',
      'client/subscribe',
      ...['bad-receiver', 'misbehaviours', 'fake-dns', 'fake-model'].map((name) => `testing/${name}`),
    ],
  },
}

/** Tests, and what only they import. */
const tests = '\\.(test(-d)?|fixture)\\.ts$'
/** A part is a folder or one file. */
const part = (name) => `^src/${name}(/|\\.c?[jt]s$|$)`
const anyOf = (names) => names.map(part).join('|')
/** A folder with arrows of its own is not ruled by those of the folder around it. */
const nested = (name) => Object.keys(arrows).filter((other) => other.startsWith(`${name}/`))

const arrowRules = Object.entries(arrows).map(([name, allowed]) => ({
  name: `arrow: ${name}`,
  comment: `${name} imports only ${allowed.join(', ') || 'itself'}`,
  severity: 'error',
  from: { path: part(name), pathNot: [tests, ...nested(name).map(part)] },
  to: { path: '^src/', pathNot: anyOf([name, ...allowed, ...(typeArrows[name] ?? [])]) },
}))

const typeArrowRules = Object.entries(typeArrows).map(([name, allowed]) => ({
  name: `type arrow: ${name}`,
  comment: `${name} imports only types of ${allowed.join(', ')}`,
  severity: 'error',
  from: { path: part(name), pathNot: tests },
  to: { path: anyOf(allowed), dependencyTypesNot: ['type-only'] },
}))

const edgeRules = Object.entries(edges).map(([name, { modules, only }]) => ({
  name: `edge: ${name}`,
  comment: `only ${only.join(', ')} may import ${modules.replaceAll('|', ', ')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: [tests, anyOf(only)] },
  to: {
    path: `^(node:)?(${modules})$|^node_modules/(${modules})/`,
    // A type opens no connection.
    dependencyTypesNot: ['type-only'],
  },
}))

export default {
  forbidden: [
    ...arrowRules,
    ...typeArrowRules,
    ...edgeRules,
    {
      name: 'no cycle',
      comment: 'types of one part may name one another; a cycle that is there at run time may not',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'testing knows the store by type',
      comment: 'the faulty store wraps any store, and brings none along',
      severity: 'error',
      from: { path: part('testing'), pathNot: tests },
      to: { path: part('store'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no test in the product',
      comment: 'src imports no test, bench, script or example',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { path: `${tests}|^(test|bench|scripts|examples)/` },
    },
    {
      name: 'engine packages',
      comment: 'the library door loads re2js and @bufbuild only, and only to match',
      severity: 'error',
      from: { path: anyOf(['engine', 'index', 'openclaw']), pathNot: [tests, part('engine/match')] },
      to: { path: 'node_modules/|^(zod|kysely|pg|hono|ws|ai|undici)(/|$)' },
    },
    {
      name: 'match packages',
      comment: 'match imports re2js and @bufbuild only',
      severity: 'error',
      from: { path: part('engine/match'), pathNot: tests },
      to: { path: 'node_modules/', pathNot: 'node_modules/(re2js|@bufbuild)/' },
    },
    {
      name: 'edge: postgres',
      comment: 'only database/postgres and store/postgres may import pg; others take its types',
      severity: 'error',
      from: { path: '^src/', pathNot: [tests, part('database/postgres'), part('store/postgres')] },
      to: { path: '^(node_modules/)?(@types/)?pg(/|$)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'edge: all tenants',
      comment: 'only where the store is opened is the role of all tenants played',
      severity: 'error',
      from: { path: '^src/', pathNot: part('store/postgres/postgres-store') },
      to: { path: part('store/postgres/system-role') },
    },
    {
      name: 'no development package',
      comment: 'the product imports packages that it depends on, that it bundles, or that are optional peers',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        pathNot: `node_modules/(${[...bundled, ...optionalPeers].join('|')})/`,
      },
    },
    {
      name: 'no unknown import',
      severity: 'error',
      from: { path: '^src/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
}
