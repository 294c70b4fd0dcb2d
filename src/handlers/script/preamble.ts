/**
 * Runs before the author's source: freezes the event, adds GoClaw's spellings to it, removes globals that a policy does
 * not need, and keeps what the script prints. Names that begin with two underscores are ours and read-only.
 */
export const preamble = `
(function (global) {
  var parse = JSON.parse, stringify = JSON.stringify, freeze = Object.freeze, keys = Object.keys
  var define = Object.defineProperty
  function freezeDeep(value) {
    if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) { freeze(value); keys(value).forEach(function (key) { freezeDeep(value[key]) }) }
    return value
  }
  var event = parse(global.__event)
  // Hidden from keys and JSON, so that a script that prints its event does not print a large input twice.
  function alias(name, value) { define(event, name, { value: value, enumerable: false }) }
  alias('hookEvent', event.event)
  alias('eventId', event.event_id)
  alias('sessionId', event.session_id ?? '')
  alias('tenantId', event.tenant_id ?? '')
  alias('agentId', event.agent_id ?? '')
  alias('toolName', event.tool_name ?? '')
  alias('toolInput', event.tool_input ?? freeze({}))
  alias('rawInput', event.prompt ?? '')
  freezeDeep(event)
  var lines = [], length = 0, handle
  function print() {
    if (length > 4096) return
    var line = Array.prototype.map.call(arguments, function (item) { return typeof item === 'string' ? item : String(stringify(item)) }).join(' ')
    lines.push(line); length += line.length + 1
  }
  function fix(name, value) { define(global, name, { value: value, writable: false, configurable: false, enumerable: false }) }
  delete global.__event
  fix('event', event)
  fix('console', freeze({ log: print, error: print, warn: print, info: print }))
  fix('__setHandle', function (given) { handle = given; return '' })
  fix('__printed', function () { var text = lines.join('\\n'); return text.length > 4096 ? text.slice(0, 4096) + '... truncated' : text })
  fix('__answer', function () {
    if (typeof handle !== 'function') throw new TypeError('the script defines no function handle(event)')
    var answer = stringify(handle(event))
    return answer === undefined ? 'null' : answer
  })
  ;['eval', 'Function', 'Reflect', 'Symbol', 'BigInt', 'Proxy', 'Promise', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'Iterator', 'globalThis'].forEach(function (name) { fix(name, undefined) })
  ;[Array, Object, function () {}, function* () {}, async function () {}].forEach(function (owner) {
    var prototype = typeof owner === 'function' && owner.prototype && (owner === Array || owner === Object) ? owner.prototype : Object.getPrototypeOf(owner)
    define(prototype, 'constructor', { value: undefined, writable: false, configurable: false })
  })
})(this)
''
`
