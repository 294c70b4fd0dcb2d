import { setFlagsFromString } from 'node:v8'

/** The highest budget that V8 accepts: no wrapper is ever called this often. */
export const AVOID_WASM_CRASH = '--wasm-wrapper-tiering-budget=2147483647'

/**
 * Call before WebAssembly runs in more than one thread. After 1 000 calls from WebAssembly to JavaScript V8 replaces
 * the wrapper between them; when two threads do so at once, V8 13 frees code twice and ends the process
 * ("Check failed: jit_page.has_value()"). Without replacement the calls cost a little more and nothing is freed.
 */
export function avoidWasmCrash(): void {
  setFlagsFromString(AVOID_WASM_CRASH)
}
