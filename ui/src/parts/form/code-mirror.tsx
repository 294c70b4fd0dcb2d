import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { MergeView, unifiedMergeView } from '@codemirror/merge'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useEffectEvent, useRef } from 'react'
import { unseenCharacters, visibleText } from '../../../../src/engine/core/values/visible-text.ts'

export type CodeLanguage = 'javascript' | 'json' | 'yaml' | 'text'

const languages: Readonly<Record<CodeLanguage, () => Extension>> = {
  javascript: () => [javascript(), lineNumbers()],
  json: () => json(),
  yaml: () => [yaml(), lineNumbers()],
  text: () => [],
}

const LINE_HEIGHT = 20

/** The colours are roles of theme.css, so both schemes share this theme. */
const look = EditorView.theme({
  '&': { fontSize: '12.5px', color: 'var(--text)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: `${LINE_HEIGHT}px` },
  '.cm-content': { caretColor: 'var(--text)', padding: '6px 0' },
  '.cm-line': { padding: '0 10px' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--faint)',
    border: '0',
    borderRight: '1px solid var(--line)',
  },
  '.cm-specialChar': { color: 'var(--block)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--del)' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--del)' },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'var(--add)' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--block) 18%, transparent)',
  },
  '&.cm-merge-b .cm-changedText': { background: 'color-mix(in srgb, var(--allow) 22%, transparent)' },
  '.cm-deletedLine, .cm-deletedChunk del': { textDecoration: 'none' },
})

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--allow)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--rewrite)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
  { tag: tags.invalid, textDecoration: 'underline wavy var(--block)' },
])

/** The content security policy refuses the styles that CodeMirror adds unless they carry the nonce of the page. */
function nonce(): Extension {
  return EditorView.cspNonce.of(document.documentElement.dataset.nonce ?? '')
}

function shared(): Extension {
  return [
    nonce(),
    look,
    // Drawn only: what is edited and saved stays as it is.
    highlightSpecialChars({ specialChars: unseenCharacters, render: drawUnseen }),
    EditorView.lineWrapping,
  ]
}

function drawUnseen(code: number): HTMLElement {
  const drawn = document.createElement('span')
  drawn.className = 'cm-specialChar'
  drawn.textContent = visibleText(String.fromCodePoint(code))
  return drawn
}

/** Read-only text stays reachable by keyboard, so that it can be scrolled and copied. */
function readOnly(): Extension {
  return [
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-readonly': 'true' }),
  ]
}

interface CodeMirrorProps {
  readonly label: string
  readonly language: CodeLanguage
  readonly value: string
  readonly onChange: (text: string) => void
  readonly isReadOnly: boolean
  readonly minLines: number
  /** The element that says what is wrong. */
  readonly problemId: string | undefined
}

export function CodeMirror(props: CodeMirrorProps) {
  const { label, language, value, onChange, isReadOnly, minLines, problemId } = props
  const parent = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorView>(undefined)
  // Texts that were passed on and did not come back as the value yet.
  const underway = useRef(new Set<string>())
  const readValue = useEffectEvent(() => value)
  const onEdit = useEffectEvent((text: string) => {
    if (text === value) return
    underway.current.add(text)
    onChange(text)
  })
  useEffect(() => {
    if (parent.current === null) return
    const view = new EditorView({
      parent: parent.current,
      doc: readValue(),
      extensions: [
        shared(),
        languages[language](),
        syntaxHighlighting(highlighting),
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
        isReadOnly ? readOnly() : editing(),
        EditorView.theme({
          '.cm-content, .cm-gutter': { minHeight: `${minLines * LINE_HEIGHT + 12}px` },
          '.cm-scroller': { maxHeight: '460px' },
        }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) onEdit(state.doc.toString())
        }),
      ],
    })
    editor.current = view
    return () => view.destroy()
  }, [label, language, isReadOnly, minLines])
  useEffect(() => {
    const view = editor.current
    const isOwn = underway.current.delete(value)
    if (view === undefined || isOwn || view.state.doc.toString() === value) return
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const content = editor.current?.contentDOM
    if (problemId === undefined) content?.removeAttribute('aria-errormessage')
    else content?.setAttribute('aria-errormessage', problemId)
    content?.setAttribute('aria-invalid', String(problemId !== undefined))
  }, [problemId])
  return <div ref={parent} />
}

function editing(): Extension {
  return [
    history(),
    bracketMatching(),
    indentOnInput(),
    indentUnit.of('  '),
    // Escape followed by Tab leaves the editor: CodeMirror lets that Tab through.
    keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
    replaceByTyping,
    EditorView.contentAttributes.of({ 'aria-description': 'Press Escape, then Tab, to leave the editor.' }),
  ]
}

/**
 * Text typed over a selection. A browser that replaces the selection itself copies the colours of the old text as inline
 * styles, which the content security policy refuses.
 */
const replaceByTyping = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const range = replacedRange(event)
    if (event.inputType !== 'insertText' || event.data === null || range === undefined || range.collapsed)
      return false
    const from = view.posAtDOM(range.startContainer, range.startOffset)
    const to = view.posAtDOM(range.endContainer, range.endOffset)
    const insert = view.state.toText(event.data)
    view.dispatch({
      changes: { from, to, insert },
      selection: { anchor: from + insert.length },
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    event.preventDefault()
    return true
  },
})

/** What an input replaces. An input method that names no range replaces the selection. */
function replacedRange(event: InputEvent): AbstractRange | undefined {
  const [range] = event.getTargetRanges()
  if (range !== undefined) return range
  const selection = getSelection()
  return selection === null || selection.rangeCount === 0 ? undefined : selection.getRangeAt(0)
}

/** Two texts side by side with their differences marked; one below the other where there is no room. */
export function Merge({
  before,
  after,
  isNarrow,
}: Readonly<{ before: string; after: string; isNarrow: boolean }>) {
  const parent = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (parent.current === null) return
    const view = isNarrow ? unified(before, after, parent.current) : sideBySide(before, after, parent.current)
    return () => view.destroy()
  }, [before, after, isNarrow])
  return <div ref={parent} />
}

/** In one colour: only the differences stand out. */
function mergeSide(label: string): Extension {
  return [shared(), readOnly(), EditorView.contentAttributes.of({ 'aria-label': label })]
}

function sideBySide(before: string, after: string, parent: Element): MergeView {
  return new MergeView({
    a: { doc: before, extensions: mergeSide('before') },
    b: { doc: after, extensions: mergeSide('after') },
    gutter: false,
    parent,
  })
}

function unified(before: string, after: string, parent: Element): EditorView {
  return new EditorView({
    doc: after,
    parent,
    extensions: [
      mergeSide('before and after'),
      unifiedMergeView({ original: before, mergeControls: false, gutter: false }),
    ],
  })
}
