/** The syntax tree of a shell line. */

/** What stands for a value, and how it is written. */
interface Expansion {
  readonly quoted: boolean
  readonly source: string
}

/** A piece of a word. `quoted` parts are neither split nor used as patterns. */
export type WordPart =
  | { readonly kind: 'text'; readonly text: string; readonly quoted: boolean }
  | ({ readonly kind: 'parameter'; readonly parameter: Parameter } & Expansion)
  | ({ readonly kind: 'substitution'; readonly script: Script } & Expansion)
  | ({ readonly kind: 'arithmetic'; readonly expression: Word } & Expansion)
  | { readonly kind: 'process'; readonly script: Script; readonly output: boolean; readonly source: string }
  /** `@(a|b)` and its like: the words inside may run substitutions. */
  | { readonly kind: 'group-pattern'; readonly inside: Word; readonly source: string }
  /** A part of code that was unknown when the code was put together. */
  | ({ readonly kind: 'unknown' } & Expansion)

export interface Word {
  readonly parts: readonly WordPart[]
  readonly at: number
}

/** `${name}` with what surrounds the name. */
export interface Parameter {
  readonly name: string
  readonly subscript?: Word
  /** `${!name}` */
  readonly indirect?: true
  /** `${#name}` */
  readonly length?: true
  readonly operator?: string
  readonly operand?: Word
}

export interface Assignment {
  readonly name: string
  readonly append: boolean
  readonly subscript?: Word
  /** A list in parentheses, or one word. */
  readonly value: Word | readonly Word[]
}

export interface Redirect {
  readonly operator: string
  /** The number or `{name}` before the operator. */
  readonly descriptor?: string
  readonly target: Word
  /** The body of a heredoc; the reader fills it in when it reaches the next line. */
  body?: Word
  readonly at: number
}

export interface SimpleCommand {
  readonly kind: 'simple'
  readonly assignments: readonly Assignment[]
  readonly words: readonly Word[]
  readonly redirects: readonly Redirect[]
  readonly at: number
  /** The text after the first word, for aliases, which are replaced as text. */
  readonly rest: string
}

export interface CaseClause {
  readonly patterns: readonly Word[]
  readonly body: Script
}

export type ShellNode =
  | SimpleCommand
  | { readonly kind: 'pipeline'; readonly commands: readonly ShellNode[]; readonly negated: boolean }
  | { readonly kind: 'and' | 'or'; readonly left: ShellNode; readonly right: ShellNode }
  | { readonly kind: 'background'; readonly command: ShellNode }
  | { readonly kind: 'coproc'; readonly command: ShellNode }
  | { readonly kind: 'subshell' | 'group'; readonly body: Script }
  | {
      readonly kind: 'if'
      readonly condition: Script
      readonly then: Script
      readonly otherwise?: ShellNode | Script
    }
  | { readonly kind: 'while'; readonly condition: Script; readonly body: Script; readonly until: boolean }
  | { readonly kind: 'for'; readonly name: string; readonly words?: readonly Word[]; readonly body: Script }
  | { readonly kind: 'arithmetic-for'; readonly expression: Word; readonly body: Script }
  | { readonly kind: 'case'; readonly subject: Word; readonly clauses: readonly CaseClause[] }
  | { readonly kind: 'function'; readonly name: string; readonly body: ShellNode }
  | { readonly kind: 'test'; readonly words: readonly Word[] }
  | { readonly kind: 'arithmetic'; readonly expression: Word }
  | { readonly kind: 'redirected'; readonly command: ShellNode; readonly redirects: readonly Redirect[] }

export interface Script {
  readonly kind: 'script'
  readonly commands: readonly ShellNode[]
}
