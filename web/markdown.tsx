import { memo, type ReactElement } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'

interface MarkdownProps {
  readonly text: string
  readonly isGrowing?: boolean
}

/** Markdown without HTML and without images from elsewhere; what is still being written is closed first. */
export default function Markdown({ text, isGrowing = false }: MarkdownProps): ReactElement {
  const blocks = isGrowing ? blocksOf(text) : [text]
  return (
    <div className="app-markdown">
      {blocks.map((block, place) => (
        // Only the last one grows: those before it stay as they are, and are read once.
        <Block key={place} text={isGrowing && place === blocks.length - 1 ? remend(block) : block} />
      ))}
    </div>
  )
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

/** Cut at blank lines, but neither within code nor before what belongs to a list above. */
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
