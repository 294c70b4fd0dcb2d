/** Hookhelm, the library: typed hooks for an agent you write. */
export * from './core.ts'
export { createLibraryHooks as createHooks } from './library-hooks.ts'
