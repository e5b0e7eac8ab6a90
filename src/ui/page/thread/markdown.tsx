import { isValidElement, memo, type ReactElement, useDeferredValue, useEffect, useMemo, useState } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'
import { beginningOf, Rest } from './long-text.tsx'
import { CopyButton } from './message.tsx'
import { useLaterStrings } from '../texts/english-later.ts'

/** Longer texts are parsed block by block. */
const LONG = 4_000
const FIRST_BLOCKS = 20

interface MarkdownProps {
  readonly text: string
  /** More text is coming: closes unclosed Markdown for display. */
  readonly isStreaming?: boolean
}

/** Shows HTML as text and blocks remote images. */
export default function Markdown({ text, isStreaming = false }: MarkdownProps): ReactElement {
  const { beginning: parsed, rest } = beginningOf(text)
  const isGrowing = isStreaming && rest === ''
  const blocks = isGrowing || isLong(parsed) ? blocksOf(parsed) : [parsed]
  // Deferred, so that parsing many blocks does not block the page.
  const count = useDeferredValue(blocks.length, Math.min(blocks.length, FIRST_BLOCKS))
  return (
    <div className="app-markdown">
      {blocks.slice(0, isGrowing ? undefined : count).map((block, index) => (
        // Only the last block changes while streaming; the others are parsed once.
        <Block key={index} text={isGrowing && index === blocks.length - 1 ? remend(block, REMEND) : block} />
      ))}
      <Rest text={rest} />
    </div>
  )
}

/** Keep apparent unclosed tags: HTML is shown as text. */
const REMEND = { htmlTags: false }

interface MarkdownNode {
  type: string
  value?: string
  children?: MarkdownNode[]
  data?: { hProperties: { className: string } }
}
/** Nodes with block children. Elsewhere HTML is inline, and the renderer shows it as text. */
const HAS_BLOCKS = new Set(['root', 'blockquote', 'listItem', 'footnoteDefinition'])

const htmlAsText = () => paragraphs
function paragraphs({ type, children = [] }: MarkdownNode): void {
  for (const child of children) {
    if (child.type === 'html' && HAS_BLOCKS.has(type)) {
      child.type = 'paragraph'
      child.children = [{ type: 'text', value: child.value ?? '' }]
      child.data = { hProperties: { className: 'app-html' } }
    } else paragraphs(child)
  }
}

const PLUGINS = [remarkGfm, htmlAsText]
const COMPONENTS: Components = {
  pre,
  img: ({ alt }) => <span>{alt}</span>,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
}

const Block = memo(function Block({ text }: Pick<MarkdownProps, 'text'>): ReactElement {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  )
})

function pre({ children }: { readonly children?: unknown }): ReactElement {
  const { className = '', children: code = '' } = isValidElement<{ className?: string; children?: unknown }>(children)
    ? children.props
    : {}
  const [, language] = /(?:^| )language-(\S+)/.exec(className) ?? []
  return <CodeBlock code={String(code).replace(/\n$/, '')} language={language} />
}

/** True for a long text without link references, which would not resolve across blocks. */
const isLong = (text: string): boolean => text.length > LONG && !/^ {0,3}\[[^\]\n]{1,100}\]:/m.test(text)

/** Splits at blank lines, but not inside code fences or lists. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = []
  let start = 0
  let isCode = false
  for (const { 0: line, index } of text.matchAll(/[^\n]*(?:\n|$)/g)) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isCode = !isCode
    const next = text.slice(index + line.length, index + line.length + 1)
    if (isCode || line.trim() !== '' || /^[\s\d*+-]?$/.test(next)) continue
    blocks.push(text.slice(start, index + line.length))
    start = index + line.length
  }
  return [...blocks, text.slice(start)]
}

/** Longer code stays plain: highlighting it would block the page. */
const MAX_HIGHLIGHTED = 20_000

type Highlighted = typeof import('./highlight.tsx').highlighted
/** Loaded with the first block that names a language, then shared. */
let loaded: Highlighted | undefined

interface CodeBlockProps {
  readonly code: string
  readonly language: string | undefined
}

export function CodeBlock({ code, language }: CodeBlockProps): ReactElement {
  const words = useLaterStrings().conversation
  const [highlighted, setHighlighted] = useState(() => loaded)
  const canHighlight = language !== undefined && code.length <= MAX_HIGHLIGHTED
  useEffect(() => {
    if (highlighted || !canHighlight) return
    let isCurrent = true
    import('./highlight.tsx').then(
      part => {
        loaded = part.highlighted
        if (isCurrent) setHighlighted(() => part.highlighted)
      },
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [highlighted, canHighlight])
  const shown = useMemo(
    () => (canHighlight && highlighted ? highlighted(code, language) : undefined),
    [canHighlight, highlighted, code, language],
  )
  return (
    <div className="app-code">
      <div className="app-code-head">
        <span>{language ?? words.code}</span>
        <CopyButton text={code} label={words.copyCode} />
      </div>
      <pre tabIndex={0}>
        <code>{shown ?? code}</code>
      </pre>
    </div>
  )
}
