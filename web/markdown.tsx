import { memo, type ReactElement, useState } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'

/** More is shown as plain text: parsing it would block the page. */
const MAX_PARSED = 30_000

interface MarkdownProps {
  readonly text: string
  /** More text is coming: unclosed Markdown is closed for now. */
  readonly isStreaming?: boolean
  /** The button that shows the rest of a very long text. */
  readonly showRest: (characters: number) => string
}

/** Renders Markdown without HTML and without remote images. */
export default function Markdown({ text, isStreaming = false, showRest }: MarkdownProps): ReactElement {
  const end = text.length > MAX_PARSED ? breakBefore(text, MAX_PARSED) : text.length
  const parsed = text.slice(0, end)
  const isGrowing = isStreaming && end === text.length
  const blocks = isGrowing ? blocksOf(parsed) : [parsed]
  return (
    <div className="app-markdown">
      {blocks.map((block, index) => (
        // Only the last block changes while streaming; the others are parsed once.
        <Block key={index} text={isGrowing && index === blocks.length - 1 ? remend(block) : block} />
      ))}
      {end < text.length && <Rest text={text.slice(end)} showRest={showRest} />}
    </div>
  )
}

function Rest({ text, showRest }: Pick<MarkdownProps, 'text' | 'showRest'>): ReactElement {
  const [isShown, setShown] = useState(false)
  if (isShown) return <pre tabIndex={0}>{text}</pre>
  return (
    <p>
      <button type="button" className="rs-button" onClick={() => setShown(true)}>
        {showRest(text.length)}
      </button>
    </p>
  )
}

/** The last paragraph or line that ends before a place. */
function breakBefore(text: string, place: number): number {
  const [paragraph, line] = ['\n\n', '\n'].map(each => text.lastIndexOf(each, place)) as [number, number]
  const found = paragraph > place / 2 ? paragraph : line
  // Never half a character.
  return found > place / 2 ? found : text.slice(0, place).toWellFormed() === text.slice(0, place) ? place : place - 1
}

const PLUGINS = [remarkGfm]
const COMPONENTS: Components = {
  img: ({ alt }) => <span>{alt}</span>,
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
}

const Block = memo(function Block({ text }: { readonly text: string }): ReactElement {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} skipHtml components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  )
})

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
