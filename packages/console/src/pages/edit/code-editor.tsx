// CodeMirror in a shadow root: there its styles are adopted sheets, which the content policy allows.

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bidiIsolates, bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { unifiedMergeView } from '@codemirror/merge'
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension } from '@codemirror/state'
import { Decoration, drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { jsonFault } from '../../domain/payload/json-fault.ts'
import styles from './edit.module.css'

type Props = {
  /** What it begins with. A later value does not replace what is typed. */
  text: string
  label: string
  onChange?: (text: string) => void
  /** Shows the difference to this, and cannot be written into. */
  original?: string
  onSubmit?: () => void
  /** What is selected at the beginning, so that typing replaces it. */
  select?: { from: number; to: number } | null
  /** It should be JSON: the first fault is marked. */
  marksFaults?: boolean
}

/** Reading more of it at each key would hold up the typing. */
const maxMarkedChars = 256 * 1024
const faultMark = Decoration.mark({ class: 'cm-fault', attributes: { 'data-fault': '' } })

const faultOf = ({ doc }: EditorState) => (doc.length > maxMarkedChars ? null : jsonFault(doc.toString()))

const faultMarks: Extension = [
  EditorView.decorations.compute(['doc'], (state) => {
    const fault = faultOf(state)
    return fault === null || fault.length === 0
      ? Decoration.none
      : Decoration.set(faultMark.range(fault.offset, fault.offset + fault.length))
  }),
  EditorView.contentAttributes.compute(['doc'], (state) => ({ 'aria-invalid': String(faultOf(state) !== null) })),
]

// Custom properties reach into the shadow root, so the editor wears the tokens of the page.
const look = EditorView.theme({
  '&': {
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    fontSize: 'var(--size-mono)',
    minHeight: 'inherit',
    maxHeight: '60vh',
  },
  // The host has it: here the gutter would lie over it.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', fontVariantLigatures: 'none' },
  '.cm-content': { padding: '0.75rem 0', caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--quiet)', border: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-changedLine': { backgroundColor: 'var(--added) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--removed) !important', color: 'var(--text)' },
  '.cm-changedText': { background: 'none', textDecoration: 'underline', textDecorationThickness: '2px' },
  '.cm-deletedText': { background: 'none', textDecoration: 'line-through' },
  '.cm-fault': {
    textDecoration: 'underline wavy var(--dead)',
    textDecorationSkipInk: 'none',
    backgroundColor: 'var(--removed)',
  },
  '.cm-specialChar': { color: 'var(--dead-text)' },
  '.cm-panels': { backgroundColor: 'var(--panel)', color: 'var(--text)' },
})

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.number, color: 'var(--retrying)' },
  { tag: [tags.bool, tags.null], color: 'var(--dead-text)' },
])

export function CodeEditor(props: Props) {
  const { text, label, onChange, original, onSubmit, select = null, marksFaults = false } = props
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef({ onChange, onSubmit })
  useEffect(() => {
    latest.current = { onChange, onSubmit }
  })
  useEffect(() => {
    const element = host.current!
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open', delegatesFocus: true })
    const readOnly: Extension =
      original === undefined
        ? []
        : [
            EditorState.readOnly.of(true),
            unifiedMergeView({ original, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
          ]
    const view = new EditorView({
      doc: text,
      ...(select === null ? {} : { selection: { anchor: select.from, head: select.to } }),
      root,
      parent: root as unknown as Element,
      extensions: [
        keymap.of([
          {
            key: 'Mod-Enter',
            run: () => {
              latest.current.onSubmit?.()
              return true
            },
          },
          // Tab leaves the editor, as everywhere on a page; indentation has its own keys.
          ...historyKeymap,
          ...searchKeymap,
          ...defaultKeymap,
        ]),
        history(),
        lineNumbers(),
        drawSelection(),
        bracketMatching(),
        highlightSelectionMatches(),
        // What turns the text around is marked, and what is read from right to left keeps to its string.
        highlightSpecialChars({ addSpecialChars: /[\u061c\u202a-\u202c\u2068]/ }),
        bidiIsolates(),
        indentUnit.of('  '),
        json(),
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        look,
        marksFaults ? faultMarks : [],
        readOnly,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) latest.current.onChange?.(update.state.doc.toString())
        }),
      ],
    })
    const begin = () => {
      // Somebody who has gone elsewhere meanwhile stays there; a heading has the focus only until there is more.
      const { activeElement } = document
      const isElsewhere = activeElement?.closest('main') != null && !activeElement.matches('h1')
      if (original !== undefined || isElsewhere) return
      view.dispatch({ scrollIntoView: true })
      view.focus()
    }
    begin()
    // A panel of tabs is shown a moment after it was made, and what is hidden takes no focus.
    const frame = requestAnimationFrame(begin)
    // The selection is drawn by the measures of the font that was there; the right one may come later.
    const redraw = () => view.dispatch({ selection: view.state.selection })
    document.fonts.addEventListener('loadingdone', redraw)
    return () => {
      document.fonts.removeEventListener('loadingdone', redraw)
      cancelAnimationFrame(frame)
      view.destroy()
    }
    // Text and selection are those of the beginning: a later one would undo what is typed.
  }, [label, original, marksFaults])
  return <div ref={host} data-editor className={styles.editor} />
}
