import { runCompilerWrapper, runMavenProgram, runRules, runWrittenSources } from '../special/build-tools.ts'
import { runDebugger, runRailsRunner } from '../special/own-code.ts'
import { family, nothing, type Programs } from './program.ts'

const goOptions = '- o: exec: toolexec: C: asmflags: buildmode: gcflags: ldflags: mod: modfile: overlay: p: pkgdir: tags: run: bench: count: timeout: coverprofile: cpuprofile: memprofile: v x n race'

const ruleOptions = 'file=f: makefile=f: justfile=f: taskfile=t: eval: E:'

/** Interpreters, compilers, and the tools that build and check code. */
export const languages: Programs = {
  pypy: 'python',
  python: { inlineCode: /^-[a-zA-Z]*c/ },
  perl: { inlineCode: /^-[a-zA-Z0-9]*[eE]/ },
  'jruby truffleruby mruby': 'ruby',
  ruby: { inlineCode: /^-[a-zA-Z]*e/ },
  nodejs: 'node',
  node: { inlineCode: /^(-[a-z]*[ep]|--eval|--print|-pe)(=|$)/ },
  php: { inlineCode: /^-[rBRE]|^--execute/ },
  rakudo: 'raku',
  raku: { inlineCode: /^-[a-z]*e/ },
  'irb r rscript groovy swift scala gnuplot ghc ghci scilab stap osascript': { inlineCode: /^-e/ },
  luajit: 'lua',
  lua: { inlineCode: /^-e/ },
  'ipython bpython guile sage wolframscript expect': { inlineCode: /^-c/ },
  pry: { inlineCode: /^(-e|--exec)/ },
  octave: { inlineCode: /^--eval/ },
  sbcl: { inlineCode: /^--eval/ },
  racket: { inlineCode: /^-[ef]/ },
  swipl: { inlineCode: /^-[gt]/ },
  erl: { inlineCode: /^-(eval|run|s)$/ },
  clj: 'clojure',
  'iex elixir clojure bb': { inlineCode: /^(-e|--eval)/ },
  julia: { inlineCode: /^(-[eE]|--eval)/ },
  crystal: { inlineCode: /^eval$/ },
  matlab: { inlineCode: /^-(batch|r)$/ },
  lldb: { inlineCode: /^(-o|--one-line|-k|-b)/ },
  bpftrace: { inlineCode: /^-[ec]/ },
  dtrace: { inlineCode: /^-[nc]/ },
  // They get code by their input.
  'jshell tclsh m4': { inlineCode: /^$/ },
  gdb: { special: runDebugger, options: '- ex: eval-command=ex: iex=ex: init-eval-command=ex:' },
  rails: { special: runRailsRunner },

  'make gnumake bmake': { subcommands: {}, runs: 'announced', special: runRules, options: ruleOptions },
  'just task go-task': { special: runRules, options: ruleOptions },
  'mvn mvnw mvnd': { special: runMavenProgram },
  cargo: { subcommands: {}, runs: 'announced', hosts: { always: 'crates.io', on: /^(install|add|update|fetch|publish|search|build|b|test|t|run|r|check|c)$/ }, special: runWrittenSources },
  go: { subcommands: { 'build test install': { options: goOptions, writes: ['-o'] } }, runs: 'announced', hosts: { always: 'proxy.golang.org', modules: true, on: /^(get|install|mod)$/ }, code: ['-exec', '-toolexec'], special: runWrittenSources, options: '- exec: toolexec:' },
  ...family(nothing, {
    'gcc cc clang c++ g++ clang++ gfortran ld': { reads: ['all'], writes: ['-o'], special: runCompilerWrapper, options: 'o: I: L: l: D: c E S g O W f m std: include: isystem: wrapper: x: pthread shared static' },
    objcopy: { reads: ['first'], writes: ['last'] },
    strip: { writes: ['all', '-o'], options: 'output=o: remove-section=R: strip-all=s strip-debug=g keep-symbol=K:' },
    tsc: { reads: ['all'] },
    prettier: { reads: ['all'], writes: ['all if --write'] },
    eslint: { reads: ['all'], writes: ['all if --fix'] },
    'gofmt goimports': { reads: ['all'], writes: ['all if -w'] },
    'black isort rustfmt': { writes: ['all'] },
  }),
}
